/** Markdown as a page shows it: without scripts, styles or frames, whoever wrote it. */

import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useResource } from '../api/resource';
import { beginning, LIMITS } from './limits';
import styles from './markdown.module.css';
import { htmlOf } from './markdown-html';
import { type Resolve, safeHTML } from './safe-html';
import { Problem, Skeleton } from './state';
import { type MathNode, mathOf } from './tex';

interface MarkdownProps {
  text: string;
  /** Without it, what is at relative addresses stays empty. */
  resolve?: Resolve;
}

export function Markdown({ text, resolve }: MarkdownProps) {
  const { data: html, failure, reload } = useResource(['markdown', text], () => htmlOf(text));
  const content = useMemo(() => (html ? formatted(html, resolve) : undefined), [html, resolve]);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (content) box.current?.replaceChildren(content);
  }, [content]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (html === undefined) return <Skeleton lines={2} />;
  if (content || html === '') return <div class={styles.prose} ref={box} />;
  return (
    <div class="stack tight">
      <p class="small quiet">This text is too large or too intricate to be formatted.</p>
      <pre class="wrap-anywhere">{beginning(text, LIMITS.lines, LIMITS.markdown_bytes)}</pre>
    </div>
  );
}

/** Return what the HTML is as a part of the page; nothing if it would be too large a part. */
function formatted(html: string, resolve?: Resolve): DocumentFragment | undefined {
  const content = safeHTML(html, resolve);
  if (!content) return undefined;
  drawMaths(content);
  for (const heading of content.querySelectorAll('h1, h2, h3, h4, h5')) lower(heading);
  return content.querySelectorAll('*').length > LIMITS.html_elements ? undefined : content;
}

/** Put the heading one level lower: the page itself has the first one. */
function lower(heading: Element): void {
  const lowered = document.createElement(`h${Number(heading.tagName[1]) + 1}`);
  lowered.append(...heading.childNodes);
  heading.replaceWith(lowered);
}

const MATHML = 'http://www.w3.org/1998/Math/MathML';

function elementOf({ tag, text, children = [] }: MathNode): Element {
  const element = document.createElementNS(MATHML, tag);
  element.append(...(text === undefined ? children.map(elementOf) : [text]));
  return element;
}

/** Replace TeX by what browsers draw of it. What is nested too deep stays TeX. */
function drawMaths(content: DocumentFragment): void {
  for (const tex of content.querySelectorAll('var[title=TeX]')) {
    const tree = mathOf(tex.textContent);
    if (!tree) continue;
    const maths = elementOf({ tag: 'math', children: [tree] });
    if (tex.parentElement?.tagName === 'DIV') {
      maths.setAttribute('display', 'block');
      maths.setAttribute('tabindex', '0'); // a long line scrolls, with the keyboard too
    }
    tex.replaceWith(maths);
  }
}
