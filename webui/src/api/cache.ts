/**
 * What the server has answered since the page was loaded, for components that ask the same again.
 *
 * - Equal reads share one request, which ends early only when all that asked have gone.
 * - What commit IDs name never changes: it is asked for once.
 * - Any other answer is shown at once when it is asked for again, until the new one is there.
 * - A change by this page, whatever it changed, drops all answers that can change. Which ones it
 *   touched would be a list to keep true, and changes are few.
 * - A session that ends drops everything.
 */

import { signal } from '@preact/signals';
import type { ClientPathsWithMethod, MethodResponse } from 'openapi-fetch';
import { answer, api, whenChanged } from './client';
import type { paths } from './schema';

type Path = ClientPathsWithMethod<typeof api, 'get'>;
type Parameters<Of extends Path> = paths[Of]['get']['parameters'];

/** Something that can be asked of the server. */
export interface Read<Data> {
  /** Equal names have equal answers. */
  name: string;
  load: (signal: AbortSignal) => Promise<Data>;
  /** Whether the answer never changes. */
  isLasting: boolean;
}

// Of these, every parameter but the repository is a ref.
const OF_REFS = /^\/repositories\/{repository}\/(refs|commits)\//;
const COMMIT_ID = /^[0-9a-f]{64}$/;

/** Return the read of an operation with these parameters. */
export function apiRead<Of extends Path>(
  path: Of,
  params: Parameters<Of>,
): Read<MethodResponse<typeof api, 'get', Of>> {
  const { repository: _, ...refs } = (params as { path?: Record<string, string> }).path ?? {};
  return {
    name: JSON.stringify([path, params]),
    load: signal => answer(api.GET(path, { params, signal } as never)) as never,
    isLasting: OF_REFS.test(path) && Object.values(refs).every(ref => COMMIT_ID.test(ref)),
  };
}

interface Kept {
  data: unknown;
  isLasting: boolean;
  rows: number;
}

interface Request {
  answer: Promise<unknown>;
  abort: AbortController;
  /** How many wait for it. */
  waiting: number;
}

/** The most rows of lists that are kept; the oldest answers go first. */
const ROWS_MAX = 20_000;

const kept = new Map<string, Kept>();
const running = new Map<string, Request>();
let rows = 0;

/** Return the last answer, if it is kept; unless it is lasting, it may have changed since. */
export function knownAnswer<Data>({ name }: Read<Data>): Data | undefined {
  return kept.get(name)?.data as Data | undefined;
}

/** Return the answer: the lasting one that is kept, that of the request under way, or a new one. */
export async function answerOf<Data>(read: Read<Data>, signal?: AbortSignal): Promise<Data> {
  signal?.throwIfAborted();
  const before = kept.get(read.name);
  if (before?.isLasting) return before.data as Data;
  const request = running.get(read.name) ?? begin(read);
  request.waiting += 1;
  const leave = () => {
    request.waiting -= 1;
    if (request.waiting) return;
    if (running.get(read.name) === request) running.delete(read.name);
    request.abort.abort();
  };
  signal?.addEventListener('abort', leave);
  try {
    return (await request.answer) as Data;
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

function begin<Data>(read: Read<Data>): Request {
  const abort = new AbortController();
  const request: Request = { answer: read.load(abort.signal), abort, waiting: 0 };
  running.set(read.name, request);
  // A request that was dropped meanwhile may be older than a change: its answer is not kept.
  const end = (keep?: (data: unknown) => void) => (data: unknown) => {
    if (running.get(read.name) !== request) return;
    dropAnswer(read.name);
    keep?.(data);
  };
  request.answer.then(
    end(data => put(read, data)),
    end(),
  );
  return request;
}

function put<Data>({ name, isLasting }: Read<Data>, data: unknown): void {
  const answer = { data, isLasting, rows: rowsOf(data) };
  kept.set(name, answer);
  rows += answer.rows;
  for (const oldest of kept.keys()) {
    if (rows <= ROWS_MAX) return;
    dropAnswer(oldest);
  }
}

function rowsOf(data: unknown): number {
  return (data as { results?: unknown[] } | undefined)?.results?.length || 1;
}

/** Forget one answer, so that it is asked for anew. */
export function dropAnswer(name: string): void {
  rows -= kept.get(name)?.rows ?? 0;
  kept.delete(name);
  running.delete(name);
}

/** Forget all answers: those of a session that has ended. */
export function dropAnswers(): void {
  kept.clear();
  running.clear();
  rows = 0;
}

/** How many changes this page has asked for, for what counts anew after each. */
export const changes = signal(0);

whenChanged(() => {
  changes.value += 1;
  running.clear();
  for (const [name, { isLasting }] of kept) if (!isLasting) dropAnswer(name);
});
