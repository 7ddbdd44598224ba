/**
 * The way to the server: typed requests, one kind of error, patience with a busy server.
 *
 * `api` knows every operation of `/openapi.json`. `answer` turns its result into the answer's data or
 * throws a `Failure`, whose text a person can act on. A read that meets a busy server (429, 503) or a
 * lost connection is repeated twice; a change never is, since it may have been made.
 */

import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];

export const API = '/api/v1';

/** What went wrong, for a person. `status` is 0 where no answer arrived. */
export class Failure extends Error {
  readonly status: number;
  readonly details: unknown;

  constructor(message: string, status: number, details?: unknown) {
    super(message);
    this.name = 'Failure';
    this.status = status;
    this.details = details;
  }
}

/** How long to wait before each further try. */
export const PAUSES_MS = [400, 1600];
const REPEATED = new Set([429, 502, 503, 504]);
// Chromium gives these answers an empty body, but takes none for a new one.
const BODILESS = new Set([204, 205, 304]);
const UNREACHABLE = 'The server cannot be reached. Check the connection, then try again.';
const UNKNOWN =
  'The server cannot be reached, so it is unknown whether this was done. Check the connection and look; if it was not done, do it again.';

let onChanged = () => {};

/** Call this after each request that may have changed something, even if it failed. */
export function whenChanged(act: () => void): void {
  onChanged = act;
}

/** Fetch; repeat a read that found nobody, or a busy server. */
export async function patientFetch(request: Request): Promise<Response> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  for (const pause_ms of isRead ? PAUSES_MS : []) {
    try {
      const response = await fetchWhole(request.clone());
      if (!REPEATED.has(response.status)) return response;
    } catch (error) {
      if (request.signal.aborted) throw error;
    }
    await pause(pause_ms, request.signal);
  }
  try {
    return await fetchWhole(request);
  } catch (error) {
    // The connection may have been lost after the server had taken the change.
    if (error instanceof TypeError) throw new Failure(isRead ? UNREACHABLE : UNKNOWN, 0);
    throw error;
  } finally {
    if (!isRead) onChanged();
  }
}

/** Fetch with all of the body, on whose way the connection may still be lost: by a `TypeError`, as `fetch` tells it. */
async function fetchWhole(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (!response.body || BODILESS.has(response.status)) return response;
  return new Response(await response.arrayBuffer(), response);
}

/** Wait; an abort of the signal ends the wait by throwing its reason. */
export function pause(time_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, time_ms);
    signal?.addEventListener('abort', stop);
  });
}

let onLoggedOut = () => {};

/** Call this when an answer says that the session has ended. */
export function whenLoggedOut(act: () => void): void {
  onLoggedOut = act;
}

// With status 401, the server refuses a session that has ended, and also what a user may not do.
const NO_SESSION = 'error authenticating request';

const sessions: Middleware = {
  async onResponse({ response, schemaPath }) {
    if (response.status !== 401 || schemaPath === '/auth/login') return undefined;
    const answered = await response
      .clone()
      .json()
      .catch(() => undefined);
    if (answered?.message === NO_SESSION) onLoggedOut();
    return undefined;
  },
};

export const api = createClient<paths>({ baseUrl: API, fetch: patientFetch });
api.use(sessions);

export interface Result<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** Return the data of a request of `api`; throw a `Failure` if it failed. */
export async function answer<Data>(request: Promise<Result<Data>>): Promise<Data> {
  let result: Result<Data>;
  try {
    result = await request;
  } catch (error) {
    throw failureOf(error);
  }
  if (!result.response.ok) throw failureOfAnswer(result.response.status, result.error);
  return result.data as Data;
}

/** Load a module of the page; fail as a person is answered if it does not come. */
export async function part<Module>(module: Promise<Module>): Promise<Module> {
  try {
    return await module;
  } catch {
    throw new Failure(
      'A part of this page did not load. Check the connection, then load the page again.',
      0,
    );
  }
}

/** Return what a person is answered of an error that is not an answer of the server. */
export function failureOf(error: unknown): Failure | DOMException {
  if (error instanceof Failure) return error;
  if (error instanceof DOMException && error.name === 'AbortError') return error;
  return new Failure(`Unexpected error in this page: ${String(error)}`, -1);
}

/** The status of reads of an object whose data are deleted. */
export const GONE = 410;
export const NO_DATA =
  'The data of this object are missing: garbage collection or their owner has deleted them, or they were never stored.';

const ADVICE: Record<number, string> = {
  429: 'Too many requests at once. Wait a moment, then try again.',
  503: 'The server is busy. Wait a moment, then try again.',
};

const PROTECTED = 'Write to another branch and commit there. Then merge that branch into this one.';
const RULE_FIRST = 'Remove the rule that protects it first.';

// lakeFS's words, which its clients know, and what they mean.
const CLEARER: [RegExp, string][] = [
  // The details name it.
  [/^(?:.*: )?get commit by ref .+: not found$/, 'not found.'],
  [/^name contains delimiter \/: validation error$/, 'a name cannot have a slash:'],
  [/^commit: no changes$/, 'there is nothing to commit.'],
  [/^update branch(?: .+)?: no changes$/, 'there is nothing to change.'],
];

const OBJECT =
  /^(?:a policy denies )?fs:(Read|Write|Delete)Object on repository\/[^/]+\/object\/(.+?)(?=: ask an admin| and \w+:\w+ on |$)/;

/** Return what the user may not do, and which right would allow it. */
function refusalText(details: string): string {
  const needs = details.replaceAll('arn:lakefs:fs:::', '');
  const [, verb = '', path = ''] = OBJECT.exec(needs) ?? [];
  const what = path && !path.endsWith('*') ? `${verb.toLowerCase()} ${path}` : 'do this';
  const way = needs.replace(
    /^(.*): ask an administrator for a policy that allows it$/,
    'Ask an administrator for $1',
  );
  return `You may not ${what}. ${sentence(way)}`;
}

/** Return what a person is answered of an answer that refuses; `body` is the parsed answer, if any. */
export function failureOfAnswer(status: number, body: unknown): Failure {
  const answered = body as { message?: unknown; details?: unknown } | undefined;
  const said = typeof answered?.message === 'string' ? answered.message : '';
  const message = CLEARER.reduce((text, [words, clearer]) => text.replace(words, clearer), said);
  const details = typeof answered?.details === 'string' ? answered.details : '';
  if (status === GONE && message === 'No data') return new Failure(NO_DATA, status);
  if (message === NO_SESSION) return new Failure('Your session has ended. Log in again.', status);
  if (details && message.startsWith('insufficient permissions'))
    return new Failure(refusalText(details), status, details);
  // Some details are only the name of what the message speaks of.
  const parts = (
    details.startsWith("'") && !message.endsWith('.')
      ? [sentence(`${message} ${details}`), ADVICE[status]]
      : [sentence(message), ADVICE[status], sentence(details)]
  ).filter(Boolean);
  if (/protected branch$/.test(message))
    parts.push(/delete/.test(message) ? RULE_FIRST : PROTECTED);
  if (status === 401 && !details) parts.push('Ask an administrator for the right to do it.');
  const fallback = `The server answered with status ${status}. Try again; if it stays, tell your administrator.`;
  return new Failure(parts.join(' ') || fallback, status, answered?.details);
}

/** Return the text as a sentence: a capital first, a full stop last. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed) return '';
  const ended = /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
  // The name of an action, `fs:ReadObject`, stays as it is.
  return /^\w+:\w/.test(ended) ? ended : ended[0]?.toUpperCase() + ended.slice(1);
}
