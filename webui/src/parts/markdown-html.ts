/** The HTML of Markdown, from a worker that is stopped when a text takes it too long. */

import { Failure } from '../api/client';
import { LIMITS } from './limits';

const MISSING = 'A part of this page did not load. Check the connection, then load the page again.';

let worker: Promise<Worker> | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Return the HTML as its author made it, which is unsafe; null if the text is too large or too intricate. */
export function htmlOf(text: string): Promise<string | null> {
  if (text.length > LIMITS.markdown_bytes) return Promise.resolve(null);
  // One after the other: an answer belongs to the text that was sent last.
  const html = last.then(() => parsed(text));
  last = html.catch(() => {});
  return html;
}

async function parsed(text: string): Promise<string | null> {
  worker ??= started();
  const running = await worker.catch(error => {
    worker = undefined;
    throw error;
  });
  return new Promise(resolve => {
    const end = (html: string | null) => {
      clearTimeout(timer);
      resolve(html);
    };
    const stop = () => {
      running.terminate();
      worker = undefined;
      end(null);
    };
    const timer = setTimeout(stop, LIMITS.markdown_time_ms);
    running.onmessage = ({ data }) => end(data);
    running.onerror = stop;
    running.postMessage(text);
  });
}

/** Return a worker whose module has loaded, so that the time of a text is its own. */
function started(): Promise<Worker> {
  const starting = new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' });
  return new Promise((resolve, reject) => {
    starting.onmessage = () => resolve(starting);
    starting.onerror = () => reject(new Failure(MISSING, 0));
  });
}
