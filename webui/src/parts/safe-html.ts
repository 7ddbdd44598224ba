/** HTML whose author is not trusted, as a part of the page: without scripts, styles, forms or frames. */

import DOMPurify from 'dompurify';
import { LIMITS } from './limits';

/** Returns where an image or a link of a relative address leads. */
export type Resolve = (address: string, isImage: boolean) => string;

const ABSOLUTE = /^([a-z][a-z0-9+.-]*:|\/\/|[#\\])/i;
const INLINE_IMAGE = /^data:image\//i;
// Only `img` may load something: many other elements would fetch any address of ours, such as the log-out.
const TAGS =
  'a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li ol p pre s ' +
  'samp span strong sub summary sup table tbody td tfoot th thead tr ul var';
const ATTRIBUTES = 'align alt colspan height href open rowspan src start title width';
const OPTIONS = {
  ALLOWED_TAGS: ['#text', ...TAGS.split(' ')],
  ALLOWED_ATTR: ATTRIBUTES.split(' '),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/** Return the HTML as a part of the page; nothing if it would be too large a part. */
export function safeHTML(html: string, resolve?: Resolve): DocumentFragment | undefined {
  const content = DOMPurify.sanitize(withoutStyles(html), OPTIONS);
  if (content.querySelectorAll('*').length > LIMITS.html_elements) return undefined;
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
  return content;
}

/** Return the HTML with its styles under other names, which go as well: the policy reports each style that is parsed. */
function withoutStyles(html: string): string {
  return html
    .replace(/<(\/?)style\b/gi, '<$1noembed')
    .replace(/(<[^<>]*\s)style(?=\s*=)/gi, '$1data-style');
}
