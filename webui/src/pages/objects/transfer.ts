/** Sends one file to a branch: small ones in one request, large ones in parts that a reload keeps. */

import { API, answer, api, Failure, failureOfAnswer } from '../../api/client';

export interface Transfer {
  repository: string;
  branch: string;
  path: string;
  file: File;
  signal: AbortSignal;
  /** Told how many bytes have arrived. */
  onSent: (sent_bytes: number) => void;
}

const SINGLE_BYTES_MAX = 8 * 1024 ** 2;
// The API takes about 4.5 MB in one request.
const API_BYTES_MAX = 4 * 1024 ** 2;
const PART_BYTES_MIN = 8 * 1024 ** 2;
const PARTS_MAX = 10_000;

/** What a bucket must allow, so that browsers may send to it. */
export function corsRule(): string {
  const rule = {
    AllowedOrigins: [location.origin],
    AllowedMethods: ['GET', 'HEAD', 'PUT'],
    AllowedHeaders: ['*'],
    ExposeHeaders: ['ETag', 'Content-Range', 'Content-Length'],
  };
  return JSON.stringify([rule], null, 2);
}

/** The bucket does not let this page send to it. */
export class BucketRefuses extends Failure {
  constructor() {
    super(
      'The bucket does not answer this page. It needs the CORS rule below, or the connection is lost.',
      0,
    );
  }
}

/** Upload the file; the object exists when this returns. */
export async function send(transfer: Transfer): Promise<void> {
  const { size } = transfer.file;
  if (size > SINGLE_BYTES_MAX) return sendParts(transfer);
  try {
    await sendPresigned(transfer);
  } catch (error) {
    if (!(error instanceof BucketRefuses) || size > API_BYTES_MAX) throw error;
    await sendToApi(transfer);
  }
}

async function sendPresigned({ repository, branch, path, file, signal, onSent }: Transfer) {
  const at = { path: { repository, branch }, query: { path } };
  const staging = await answer(
    api.GET('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: { ...at, query: { path, presign: true } },
      signal,
    }),
  );
  if (!staging.presigned_url) throw new BucketRefuses();
  const checksum = await put(staging.presigned_url, file, signal, onSent);
  await answer(
    api.PUT('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: at,
      body: {
        staging: { physical_address: staging.physical_address },
        checksum,
        size_bytes: file.size,
        content_type: file.type,
        user_metadata: {},
        force: false,
        mtime: null,
      },
      signal,
    }),
  );
}

async function sendToApi({ repository, branch, path, file, signal, onSent }: Transfer) {
  const at = `${API}/repositories/${encodeURIComponent(repository)}/branches/${encodeURIComponent(branch)}`;
  const response = await fetch(`${at}/objects?${new URLSearchParams({ path })}`, {
    method: 'POST',
    headers: { 'Content-Type': file.type || 'application/octet-stream' },
    body: file,
    signal,
  });
  if (!response.ok)
    throw failureOfAnswer(response.status, await response.json().catch(() => undefined));
  onSent(file.size);
}

/** Send the content to a presigned URL; return its ETag. */
function put(url: string, content: Blob, signal: AbortSignal, onSent: (sent: number) => void) {
  return new Promise<string>((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    signal.addEventListener('abort', stop, { once: true });
    request.upload.onprogress = event => onSent(event.loaded);
    request.onerror = () => reject(new BucketRefuses());
    request.onabort = () => reject(signal.reason);
    request.onload = () => {
      const etag = request.getResponseHeader('ETag')?.replaceAll('"', '');
      if (request.status >= 300)
        reject(
          new Failure(
            `The bucket refused with status ${request.status}. Try again.`,
            request.status,
          ),
        );
      else if (etag) resolve(etag);
      else reject(new BucketRefuses());
    };
    request.onloadend = () => signal.removeEventListener('abort', stop);
    request.open('PUT', url);
    // An empty type keeps the browser from adding one that the signature does not know.
    request.send(content.slice(0, content.size, ''));
  });
}

/** The name under which the browser remembers the upload of this very file to this target. */
function keyOf({ repository, branch, path, file }: Transfer): string {
  return `upload ${JSON.stringify([repository, branch, path, file.name, file.size, file.lastModified])}`;
}

async function sendParts(transfer: Transfer): Promise<void> {
  const { repository, branch, path, file, signal, onSent } = transfer;
  const key = keyOf(transfer);
  const { uploadId, sent } = await begin(transfer, key);
  const at = { path: { repository, branch, uploadId }, query: { path } };
  const part_bytes = Math.max(PART_BYTES_MIN, Math.ceil(file.size / PARTS_MAX / 1024) * 1024);
  const count = Math.ceil(file.size / part_bytes);
  const parts: { part_number: number; etag: string }[] = [];
  for (let number = 1; number <= count; number += 1) {
    const from = (number - 1) * part_bytes;
    const content = file.slice(from, Math.min(file.size, from + part_bytes));
    const known = sent.get(number);
    const etag =
      known?.size_bytes === content.size
        ? known.etag
        : await sendPart(at, number, content, signal, bytes => onSent(from + bytes));
    parts.push({ part_number: number, etag });
    onSent(from + content.size);
  }
  await answer(
    api.PUT('/repositories/{repository}/branches/{branch}/uploads/{uploadId}', {
      params: at,
      body: { parts },
      signal,
    }),
  );
  localStorage.removeItem(key);
}

interface PartsAt {
  path: { repository: string; branch: string; uploadId: string };
  query: { path: string };
}

async function sendPart(
  at: PartsAt,
  number: number,
  content: Blob,
  signal: AbortSignal,
  onSent: (sent_bytes: number) => void,
): Promise<string> {
  const { presigned_url } = await answer(
    api.PUT('/repositories/{repository}/branches/{branch}/uploads/{uploadId}/parts/{partNumber}', {
      params: { ...at, path: { ...at.path, partNumber: String(number) } },
      signal,
    }),
  );
  return put(presigned_url, content, signal, onSent);
}

type Sent = Map<number, { etag: string; size_bytes: number }>;

/** Continue the upload that was begun before a reload, else begin one. */
async function begin(transfer: Transfer, key: string): Promise<{ uploadId: string; sent: Sent }> {
  const { repository, branch, path, file, signal } = transfer;
  const known = localStorage.getItem(key);
  if (known) {
    try {
      return { uploadId: known, sent: await partsOf(transfer, known) };
    } catch (error) {
      if (!(error instanceof Failure && error.status === 404)) throw error;
      localStorage.removeItem(key); // it has expired, or was ended elsewhere
    }
  }
  const { upload_id = '' } = await answer(
    api.POST('/repositories/{repository}/branches/{branch}/uploads', {
      params: { path: { repository, branch }, query: { path } },
      body: { content_type: file.type, user_metadata: {} },
      signal,
    }),
  );
  localStorage.setItem(key, upload_id);
  return { uploadId: upload_id, sent: new Map() };
}

async function partsOf({ repository, branch, path, signal }: Transfer, uploadId: string) {
  const sent: Sent = new Map();
  let after = '';
  for (let hasMore = true; hasMore; ) {
    const { results, pagination } = await answer(
      api.GET('/repositories/{repository}/branches/{branch}/uploads/{uploadId}/parts', {
        params: {
          path: { repository, branch, uploadId },
          query: { path, amount: 1000, ...(after ? { after } : {}) },
        },
        signal,
      }),
    );
    for (const part of results) sent.set(part.part_number, part);
    after = pagination.next_offset;
    hasMore = pagination.has_more;
  }
  return sent;
}

/** Give up the upload of a large file; its parts are deleted. */
export async function abandon(transfer: Omit<Transfer, 'signal' | 'onSent'>): Promise<void> {
  const key = keyOf(transfer as Transfer);
  const uploadId = localStorage.getItem(key);
  if (!uploadId) return;
  localStorage.removeItem(key);
  const { repository, branch, path } = transfer;
  await answer(
    api.DELETE('/repositories/{repository}/branches/{branch}/uploads/{uploadId}', {
      params: { path: { repository, branch, uploadId }, query: { path } },
    }),
  );
}
