/** The HTML of Markdown. */

import { LIMITS } from './limits';
import address from './markdown-worker?worker&url';
import { timedWorker } from './timed-worker';

const ask = timedWorker<string, string>(address, LIMITS.markdown_time_ms);

/** Return the HTML as its author made it, which is unsafe; null if the text is too large or too intricate. */
export async function htmlOf(text: string): Promise<string | null> {
  return text.length > LIMITS.markdown_bytes ? null : ask(text);
}
