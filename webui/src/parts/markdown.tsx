/** Markdown as a page shows it: without scripts, styles or frames, whoever wrote it. */

import './markdown.css';
import DOMPurify from 'dompurify';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useResource } from '../api/resource';
import { beginning, LIMITS } from './limits';
import { htmlOf } from './markdown-html';
import { Problem, Skeleton } from './state';

/** Returns where an image or a link of a relative address leads. */
type Resolve = (address: string, isImage: boolean) => string;

interface MarkdownProps {
  text: string;
  /** Without it, what is at relative addresses stays empty. */
  resolve?: Resolve;
}

const ABSOLUTE = /^([a-z][a-z0-9+.-]*:|\/\/|[#\\])/i;
const INLINE_IMAGE = /^data:image\//i;
// Only `img` may load something: many other elements would fetch any address of ours, such as the log-out.
const TAGS =
  'a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li ol p pre s ' +
  'samp span strong sub summary sup table tbody td tfoot th thead tr ul';
const ATTRIBUTES = 'align alt colspan height href open rowspan src start title width';
const OPTIONS = {
  ALLOWED_TAGS: ['#text', ...TAGS.split(' ')],
  ALLOWED_ATTR: ATTRIBUTES.split(' '),
  RETURN_DOM_FRAGMENT: true as const,
};

export function Markdown({ text, resolve }: MarkdownProps) {
  const { data: html, failure, reload } = useResource(['markdown', text], () => htmlOf(text));
  const content = useMemo(() => (html ? formatted(html, resolve) : undefined), [html, resolve]);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (content) box.current?.replaceChildren(content);
  }, [content]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (html === undefined) return <Skeleton lines={2} />;
  if (content || html === '') return <div class="prose" ref={box} />;
  return (
    <div class="stack tight">
      <p class="small quiet">This text is too large or too intricate to be formatted.</p>
      <pre class="wrap-anywhere">{beginning(text, LIMITS.lines, LIMITS.markdown_bytes)}</pre>
    </div>
  );
}

/** Return what the HTML is as a part of the page; nothing if it would be too large a part. */
function formatted(html: string, resolve?: Resolve): DocumentFragment | undefined {
  const content = DOMPurify.sanitize(html, OPTIONS);
  if (content.querySelectorAll('*').length > LIMITS.markdown_elements) return undefined;
  for (const image of content.querySelectorAll('img')) {
    const source = image.getAttribute('src') ?? '';
    if (!INLINE_IMAGE.test(source))
      image.src = ABSOLUTE.test(source) ? '' : (resolve?.(source, true) ?? '');
    image.loading = 'lazy';
  }
  for (const link of content.querySelectorAll('a')) {
    const target = link.getAttribute('href') ?? '';
    if (!ABSOLUTE.test(target)) link.href = resolve?.(target, false) ?? '';
    else if (!target.startsWith('#')) link.rel = 'noreferrer noopener nofollow';
  }
  for (const heading of content.querySelectorAll('h1, h2, h3, h4, h5')) lower(heading);
  return content;
}

/** Put the heading one level lower: the page itself has the first one. */
function lower(heading: Element): void {
  const lowered = document.createElement(`h${Number(heading.tagName[1]) + 1}`);
  lowered.append(...heading.childNodes);
  heading.replaceWith(lowered);
}
