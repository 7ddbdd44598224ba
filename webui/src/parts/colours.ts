/** Code as HTML whose classes are its colours. */

import address from './colours-worker?worker&url';
import { LIMITS } from './limits';
import { timedWorker } from './timed-worker';

export interface Coloured {
  text: string;
  language: string;
}

const ask = timedWorker<Coloured, string>(address, LIMITS.coloured_time_ms);

/** Return the HTML; null for a language that is not known, and a text that is too large or too intricate. */
export async function coloured(text: string, language: string): Promise<string | null> {
  if (text.length > LIMITS.coloured_characters) return null;
  const html = await ask({ text, language });
  return html && html.split('<span').length > LIMITS.coloured_words ? null : html;
}
