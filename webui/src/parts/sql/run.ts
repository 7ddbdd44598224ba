/** Asks a worker to run a query, which can be stopped at any time. */

import { Failure } from '../../api/client';
import { LIMITS } from '../limits';
import { startWorker } from '../timed-worker';
import type { Result } from './engine';
import type { Span } from './mistakes';
import address from './sql-worker?worker&url';
import type { Progress } from './tables';

export interface Question {
  repository: string;
  ref: string;
  query: string;
}

/** A result, what was read for it, and the commit of each ref that was read. */
export type Answered = Result & { read: Progress; pins: [string, string][] };

/** What the worker says: how far it is, or how it ended. */
export interface Answer {
  progress?: Progress;
  result?: Answered;
  failure?: { message: string; status: number };
  at?: Span;
}

/** Return the result. The details of a failure are the characters that it is about. */
export async function ask(
  question: Question,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Answered> {
  const worker = await startWorker(address);
  try {
    return await new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      const fail = (message: string) => reject(new Failure(message, -1));
      setTimeout(() => fail(TOO_LONG), LIMITS.query_time_ms);
      worker.onerror = () => fail(NO_MEMORY);
      worker.onmessage = ({ data }: MessageEvent<Answer>) => {
        const { progress, result, failure, at } = data;
        if (progress) onProgress(progress);
        if (result) resolve(result);
        if (failure) reject(new Failure(failure.message, failure.status, at));
      };
      worker.postMessage(question);
    });
  } finally {
    worker.terminate();
  }
}

const TOO_LONG = `The query is stopped after ${LIMITS.query_time_ms / 60_000} minutes. Read fewer columns, or a smaller part of the table.`;
const NO_MEMORY =
  'The query has ended by an error of the page: its memory may not be enough. Read fewer columns, or a smaller part of the table.';
