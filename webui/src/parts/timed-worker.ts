/** Work beside the page on texts whose authors are not trusted: some kilobytes may take a parser minutes. */

import { Failure } from '../api/client';

const MISSING = 'A part of this page did not load. Check the connection, then load the page again.';

interface Policy {
  createScriptURL: (address: string) => string;
}

interface TrustedTypes {
  createPolicy: (name: string, rules: Policy) => Policy;
}

// The page's policy lets only this one say which scripts a worker may run: those of the build.
const policy: Policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  'graveler',
  {
    createScriptURL: address => {
      if (!address.startsWith('/assets/')) throw new TypeError(`${address} is no script of ours`);
      return address;
    },
  },
) ?? { createScriptURL: (address: string) => address };

/**
 * Return a way to ask the worker at the address, which answers each message by one, and says `ready` when its module
 * has loaded. It is stopped when an answer takes too long, or fails: the answer is null then.
 */
export function timedWorker<Question, Answer>(
  address: string,
  time_ms: number,
): (question: Question) => Promise<Answer | null> {
  let worker: Promise<Worker> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function ask(question: Question): Promise<Answer | null> {
    worker ??= startWorker(address);
    const running = await worker.catch(error => {
      worker = undefined;
      throw error;
    });
    return new Promise(resolve => {
      const end = (answer: Answer | null) => {
        clearTimeout(timer);
        resolve(answer);
      };
      const stop = () => {
        running.terminate();
        worker = undefined;
        end(null);
      };
      const timer = setTimeout(stop, time_ms);
      running.onmessage = ({ data }) => end(data);
      running.onerror = stop;
      running.postMessage(question);
    });
  }

  return question => {
    // One after the other: an answer belongs to the question that was asked last.
    const answer = last.then(() => ask(question));
    last = answer.catch(() => {});
    return answer;
  };
}

/** Return the worker once its module has loaded, so that the time of an answer is its own. */
export function startWorker(address: string): Promise<Worker> {
  const worker = new Worker(policy.createScriptURL(address), { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = () => resolve(worker);
    worker.onerror = () => reject(new Failure(MISSING, 0));
  });
}
