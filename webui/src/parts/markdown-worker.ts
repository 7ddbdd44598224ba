/** Turns Markdown into HTML beside the page: a text of some kilobytes may take the parser minutes. */

import { Marked, type TokenizerAndRendererExtension } from 'marked';

// As notebooks and GitHub write it. A dollar of prices has a space or a digit on the other side.
const BLOCK = /^ {0,3}\$\$(.+?)\$\$[ \t]*(?:\n+|$)/s;
const ENVIRONMENT = /^ {0,3}(\\begin\{(\w+\*?)\}.*?\\end\{\2\})[ \t]*(?:\n+|$)/s;
const INLINE = /^\$\$([^$]+)\$\$|^\$(?!\s)((?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d)/;

/** Return an extension that keeps TeX as it is, for the page to draw. */
function maths(level: 'block' | 'inline'): TokenizerAndRendererExtension {
  const isBlock = level === 'block';
  return {
    name: `${level}Maths`,
    level,
    start: isBlock ? src => src.match(/^ {0,3}(\$\$|\\begin\{)/m)?.index : src => src.indexOf('$'),
    tokenizer(src) {
      const found = isBlock ? (BLOCK.exec(src) ?? ENVIRONMENT.exec(src)) : INLINE.exec(src);
      if (!found) return undefined;
      return { type: `${level}Maths`, raw: found[0], text: found[1] ?? found[2] ?? '' };
    },
    renderer({ text }) {
      const tex = text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
      const element = `<var title="TeX">${tex}</var>`;
      return isBlock ? `<div>${element}</div>` : element;
    },
  };
}

const marked = new Marked({ extensions: [maths('block'), maths('inline')] });

addEventListener('message', ({ data }: MessageEvent<string>) => {
  postMessage(htmlOf(data));
});
// Told once the module has loaded.
postMessage('ready');

/** Return the HTML; null if the text is nested deeper than the stack allows. */
function htmlOf(text: string): string | null {
  try {
    return marked.parse(text, { async: false });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
