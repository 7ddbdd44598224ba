/** Stands in for the browser's fetch: answers from a function, and notes each request. */

import { mock } from 'node:test';

export interface Seen {
  method: string;
  /** The path below the API, and the query. */
  target: string;
}

type Reply = (request: Seen & { body: () => Promise<unknown> }) => Response | Promise<Response>;

// In a browser, the page's address completes that of a request.
class PageRequest extends Request {
  constructor(input: RequestInfo | URL, init?: RequestInit) {
    super(typeof input === 'string' ? new URL(input, 'http://lake.test') : input, init);
  }
}
globalThis.Request = PageRequest;

/** Answer all requests from now on by the function; return the list that notes them. */
export function serve(reply: Reply): Seen[] {
  const seen: Seen[] = [];
  globalThis.fetch = async input => {
    const request = input as Request;
    const url = new URL(request.url);
    const target = `${url.pathname.replace('/api/v1', '')}${url.search}`;
    seen.push({ method: request.method, target });
    return reply({ method: request.method, target, body: () => request.json() });
  };
  return seen;
}

export function json(body: unknown, status = 200): Response {
  return Response.json(body, { status });
}

/** Let waits end at once; return how long they were. */
export function hurry(): number[] {
  const waits: number[] = [];
  mock.method(globalThis, 'setTimeout', (act: () => void, time_ms: number) => {
    waits.push(time_ms);
    queueMicrotask(act);
    return 0;
  });
  return waits;
}
