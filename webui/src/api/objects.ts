/** Reading and deleting objects: whole directories, ranges of content, texts. */

import {
  API,
  answer,
  api,
  Failure,
  failureOfAnswer,
  GONE,
  patientFetch,
  type Schemas,
} from './client';

export type ObjectStats = Schemas['ObjectStats'];

/** An object, or a folder with all below it. The type tells which: an object's path may end in a slash as well. */
export type Entry = Pick<ObjectStats, 'path' | 'path_type'> & { size_bytes?: number };

export function isFolder({ path_type }: Entry): boolean {
  return path_type === 'common_prefix';
}

/** Where an object is. */
export interface Place {
  repository: string;
  ref: string;
  path: string;
}

export const PAGE = 1000;
// The server gives content up to 4.45 MiB itself; more is a redirect to the bucket, another origin.
const PIECE_BYTES = 4 * 1024 ** 2;

/** Return the address of the object's content; it needs the session, so it may be shared safely. */
export function contentAddress({ repository, ref, path }: Place, presign = false): string {
  const query = new URLSearchParams({ path, ...(presign ? { presign: 'true' } : {}) });
  return `${API}/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(ref)}/objects?${query}`;
}

/** Return the object's address for the command line and other clients. */
export function lakeAddress({ repository, ref, path }: Place): string {
  return `lakefs://${repository}/${ref}/${path}`;
}

export function stat({ repository, ref, path }: Place, signal?: AbortSignal): Promise<ObjectStats> {
  const params = { path: { repository, ref }, query: { path, user_metadata: true } };
  return answer(api.GET('/repositories/{repository}/refs/{ref}/objects/stat', { params, signal }));
}

/** Return the object at the path, if there is one; the first one that begins with it would be that. */
export async function find(
  { repository, ref, path }: Place,
  signal?: AbortSignal,
): Promise<ObjectStats | undefined> {
  const params = { path: { repository, ref }, query: { prefix: path, amount: 1 } };
  const { results } = await answer(
    api.GET('/repositories/{repository}/refs/{ref}/objects/ls', { params, signal }),
  );
  return results[0]?.path === path ? results[0] : undefined;
}

export async function exists(place: Place, signal: AbortSignal): Promise<boolean> {
  return Boolean(await find(place, signal));
}

/** Return whether the object's data exist; if nobody knows, reading them shows why. */
export function hasData({ repository, ref, path }: Place, signal?: AbortSignal): Promise<boolean> {
  const params = { path: { repository, ref }, query: { path } };
  return answer(
    api.GET('/repositories/{repository}/refs/{ref}/objects/underlyingProperties', {
      params,
      signal,
    }),
  ).then(
    () => true,
    failure => failure.status !== GONE,
  );
}

/** Return the bytes from `start` to `end`, exclusive, in as many requests as the server needs. */
export async function fetchRange(
  place: Place,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Math.max(0, end - start));
  for (let from = start; from < end; from += PIECE_BYTES) {
    const to = Math.min(end, from + PIECE_BYTES);
    bytes.set(await fetchPiece(place, from, to, signal), from - start);
  }
  return bytes;
}

async function fetchPiece(place: Place, start: number, end: number, signal?: AbortSignal) {
  const headers = { Range: `bytes=${start}-${end - 1}` };
  const response = await patientFetch(new Request(contentAddress(place), { headers, signal }));
  if (!response.ok)
    throw failureOfAnswer(response.status, await response.json().catch(() => undefined));
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length > end - start)
    throw new Failure('The server ignored the asked range. Download the object instead.', 200);
  return bytes;
}

/** Return the first bytes of the object as text; a character that is cut at the end is left out. */
export async function readText(
  place: Place,
  size_bytes: number,
  max_bytes: number,
  signal?: AbortSignal,
): Promise<string> {
  const end = Math.min(size_bytes, max_bytes);
  const bytes = await fetchRange(place, 0, end, signal);
  return new TextDecoder().decode(bytes, { stream: end < size_bytes });
}

/** Give every object below the prefix, a page at a time. */
export async function* eachPage(
  repository: string,
  ref: string,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<ObjectStats[]> {
  let after = '';
  for (let hasMore = true; hasMore; ) {
    const query = { prefix, after, amount: PAGE };
    const params = { path: { repository, ref }, query };
    const { results, pagination } = await answer(
      api.GET('/repositories/{repository}/refs/{ref}/objects/ls', { params, signal }),
    );
    yield results;
    after = pagination.next_offset;
    hasMore = pagination.has_more;
  }
}

/** How many objects there are, and their bytes together. */
export type Total = Pick<Schemas['PrefixTotal'], 'objects' | 'size_bytes'>;

/** Return the total of a prefix; a large one arrives in parts, whose sum so far is told. */
export async function totalOf(
  repository: string,
  ref: string,
  prefix: string,
  signal: AbortSignal,
  onPart?: (total: Total) => void,
): Promise<Total> {
  let total = { objects: 0, size_bytes: 0 };
  let after = '';
  for (let hasMore = true; hasMore; ) {
    const params = { path: { repository, ref }, query: { prefix, after } };
    const part = await answer(
      api.GET('/repositories/{repository}/refs/{ref}/objects/total', { params, signal }),
    );
    total = {
      objects: total.objects + part.objects,
      size_bytes: total.size_bytes + part.size_bytes,
    };
    onPart?.(total);
    after = part.next_offset;
    hasMore = part.has_more;
  }
  return total;
}

/** Delete the objects, at most 1,000. Fails with the first one that the server refused. */
export async function deletePaths(
  repository: string,
  branch: string,
  paths: string[],
  signal?: AbortSignal,
): Promise<void> {
  const { errors } = await answer(
    api.POST('/repositories/{repository}/branches/{branch}/objects/delete', {
      params: { path: { repository, branch } },
      body: { paths },
      signal,
    }),
  );
  const first = errors[0];
  if (!first) return;
  const others = errors.length > 1 ? ` ${errors.length - 1} more were not deleted.` : '';
  throw new Failure(`${first.path} was not deleted: ${first.message}.${others}`, first.status_code);
}

/**
 * Copy an object to a path of a branch, sharing its data; return the copy.
 *
 * Fails with status 412 unless the path has what was `seen` there: an object of this checksum, or none.
 */
export function copyObject(
  { repository, ref, path }: Place,
  branch: string,
  target: string,
  seen: { checksum: string } | undefined | 'anything',
): Promise<ObjectStats> {
  let header = {};
  if (!seen) header = { 'If-None-Match': '*' };
  else if (seen !== 'anything') header = { 'If-Match': `"${seen.checksum}"` };
  return answer(
    api.POST('/repositories/{repository}/branches/{branch}/objects/copy', {
      params: { path: { repository, branch }, query: { dest_path: target }, header },
      body: {
        src_path: path,
        src_ref: ref,
        shallow: true,
        force: false,
        content_type: null,
        user_metadata: null,
        headers: null,
        encryption: {},
        src_physical_address: '',
        src_repository: '',
      },
    }),
  );
}

/** Undo uncommitted changes of a branch: of an object, of all below a path, or all. */
export async function resetBranch(
  repository: string,
  branch: string,
  type: 'object' | 'common_prefix' | 'reset',
  path: string,
): Promise<void> {
  const params = { path: { repository, branch } };
  const body = { type, path, force: false };
  await answer(api.PUT('/repositories/{repository}/branches/{branch}', { params, body }));
}

/** Return the commit that the ref names now, for addresses that never change. */
export async function commitOf(
  repository: string,
  ref: string,
  signal?: AbortSignal,
): Promise<string> {
  const params = { path: { repository, ref }, query: { amount: 1 } };
  const { results } = await answer(
    api.GET('/repositories/{repository}/refs/{ref}/commits', { params, signal: signal ?? null }),
  );
  const id = results[0]?.id;
  if (!id) throw new Failure(`${ref} has no commit yet. Commit first.`, 404);
  return id;
}

/** Start the browser's download of the object. The address in the history stays the page's. */
export function download(place: Place, isPresigned: boolean): void {
  const link = document.createElement('a');
  link.href = contentAddress(place, isPresigned);
  link.download = place.path.split('/').at(-1) || 'object';
  link.rel = 'noreferrer';
  link.click();
}
