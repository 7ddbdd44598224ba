/** Turns Markdown into HTML beside the page: a text of some kilobytes may take the parser minutes. */

import { Marked } from 'marked';

addEventListener('message', ({ data }: MessageEvent<string>) => {
  postMessage(htmlOf(data));
});
// Told once the module has loaded.
postMessage('ready');

/** Return the HTML; null if the text is nested deeper than the stack allows. */
function htmlOf(text: string): string | null {
  try {
    return new Marked().parse(text, { async: false });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
