/** Markdown as a page shows it: without scripts, styles or frames, whoever wrote it. */

import './markdown.css';
import DOMPurify from 'dompurify';
import { marked } from 'marked';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface MarkdownProps {
  text: string;
  /** Returns where an image or a link of a relative address leads; without it, they stay empty. */
  resolve?: (address: string, isImage: boolean) => string;
}

const ABSOLUTE = /^([a-z][a-z0-9+.-]*:|\/\/|[#\\])/i;
const INLINE_IMAGE = /^data:image\//i;
const OPTIONS = {
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'iframe', 'svg', 'math'],
  FORBID_ATTR: ['style', 'id', 'name', 'class', 'target'],
  RETURN_DOM_FRAGMENT: true as const,
};

export function Markdown({ text, resolve }: MarkdownProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const content = DOMPurify.sanitize(marked.parse(text, { async: false }), OPTIONS);
    for (const image of content.querySelectorAll('img')) {
      const source = image.getAttribute('src') ?? '';
      // Another address could be one of ours that acts, such as the log-out.
      if (!INLINE_IMAGE.test(source))
        image.src = ABSOLUTE.test(source) ? '' : (resolve?.(source, true) ?? '');
      image.removeAttribute('srcset');
      image.loading = 'lazy';
    }
    for (const link of content.querySelectorAll('a')) {
      const target = link.getAttribute('href') ?? '';
      if (!ABSOLUTE.test(target)) link.href = resolve?.(target, false) ?? '';
      else if (!target.startsWith('#')) link.rel = 'noreferrer noopener nofollow';
    }
    for (const heading of content.querySelectorAll('h1, h2, h3, h4, h5')) lower(heading);
    box.current?.replaceChildren(content);
  }, [text, resolve]);
  return <div class="prose" ref={box} />;
}

/** Put the heading one level lower: the page itself has the first one. */
function lower(heading: Element): void {
  const lowered = document.createElement(`h${Number(heading.tagName[1]) + 1}`);
  lowered.append(...heading.childNodes);
  heading.replaceWith(lowered);
}
