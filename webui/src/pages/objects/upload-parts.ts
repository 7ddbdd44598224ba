/** Sends a large file in parts, four at a time, under an upload that a reload keeps. */

import { answer, api, Failure, PAUSES_MS, pause } from '../../api/client';
import { remember, remembered } from '../../parts/storage';
import { PARALLEL, put, readContent, slots } from './bucket';
import { digestOf, type Remembered } from './remembered';

const PART_BYTES_MIN = 8 * 1024 ** 2;
const PARTS_MAX = 10_000;

/** One file on its way to a branch. */
export interface Transfer {
  repository: string;
  branch: string;
  path: string;
  file: File;
  signal: AbortSignal;
  /** Told how many bytes have arrived. */
  onSent: (sent_bytes: number) => void;
}

/** The name under which the browser remembers the upload of this very file to this target. */
function keyOf({ repository, branch, path, file }: Transfer): string {
  return `upload ${JSON.stringify([repository, branch, path, file.name, file.size, file.lastModified])}`;
}

/** Upload the file in parts; those that an earlier try has sent are not sent again. */
export async function sendParts(transfer: Transfer): Promise<void> {
  const { file, signal, onSent } = transfer;
  const key = keyOf(transfer);
  const { upload, sent } = await begin(transfer, key);
  const { repository, branch } = transfer;
  const at = {
    path: { repository, branch, uploadId: upload.uploadId },
    query: { path: transfer.path },
  };
  const part_bytes = Math.max(PART_BYTES_MIN, Math.ceil(file.size / PARTS_MAX / 1024) * 1024);
  const etags = new Array<string>(Math.ceil(file.size / part_bytes));
  const sent_bytes = new Array<number>(etags.length).fill(0);
  const report = (index: number, bytes: number) => {
    sent_bytes[index] = bytes;
    onSent(sent_bytes.reduce((sum, each) => sum + each, 0));
  };
  await inParallel(etags.length, signal, async (index, stop) => {
    const number = index + 1;
    const content = await readContent(file.slice(index * part_bytes, number * part_bytes));
    const digest = await digestOf(content);
    const known = digest && upload.digests[number] === digest ? sent.get(number) : undefined;
    const onPart = (bytes: number) => report(index, bytes);
    etags[index] = known?.etag ?? (await sendPart(at, number, new Blob([content]), stop, onPart));
    if (digest && !known) {
      upload.digests[number] = digest;
      remember(key, upload);
    }
    report(index, content.byteLength);
  });
  const parts = etags.map((etag, index) => ({ part_number: index + 1, etag }));
  await answer(
    api.PUT('/repositories/{repository}/branches/{branch}/uploads/{uploadId}', {
      params: at,
      body: { parts, size_bytes: file.size },
      signal,
    }),
  );
  remember(key, undefined);
}

/** Act for each index, a few at a time. The first failure stops the others, and is thrown. */
async function inParallel(
  count: number,
  signal: AbortSignal,
  act: (index: number, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  let next = 0;
  const work = async () => {
    while (next < count && !stop.aborted) {
      const index = next;
      next += 1;
      await act(index, stop);
    }
  };
  const workers = Array.from({ length: PARALLEL }, () =>
    work().catch(error => {
      if (!stop.aborted) failed.abort(error);
    }),
  );
  await Promise.all(workers);
  stop.throwIfAborted();
}

interface PartsAt {
  path: { repository: string; branch: string; uploadId: string };
  query: { path: string };
}

const REPEATED = new Set([0, 429, 500, 502, 503, 504]);
const EXPIRED = 403;

/** Send one part; again after a lost connection or a busy bucket, and once with a fresh URL. */
async function sendPart(
  at: PartsAt,
  number: number,
  content: Blob,
  signal: AbortSignal,
  onSent: (sent_bytes: number) => void,
): Promise<string> {
  const pauses_ms = [...PAUSES_MS];
  let hasFreshUrl = false;
  for (;;) {
    try {
      return await slots.run(signal, async () =>
        put(await urlOfPart(at, number, signal), content, signal, onSent),
      );
    } catch (error) {
      if (signal.aborted || !(error instanceof Failure)) throw error;
      if (error.status === EXPIRED && !hasFreshUrl) hasFreshUrl = true;
      else if (REPEATED.has(error.status) && pauses_ms.length)
        await pause(pauses_ms.shift() ?? 0, signal);
      else throw error;
    }
  }
}

async function urlOfPart(at: PartsAt, number: number, signal: AbortSignal): Promise<string> {
  const { presigned_url } = await answer(
    api.PUT('/repositories/{repository}/branches/{branch}/uploads/{uploadId}/parts/{partNumber}', {
      params: { ...at, path: { ...at.path, partNumber: String(number) } },
      signal,
    }),
  );
  return presigned_url;
}

type Sent = Map<number, { etag: string }>;

/** Continue the upload that was begun before a reload, else begin one. */
async function begin(transfer: Transfer, key: string): Promise<{ upload: Remembered; sent: Sent }> {
  const { repository, branch, path, file, signal } = transfer;
  const known = remembered<Remembered>(key);
  if (known) {
    try {
      return { upload: known, sent: await partsOf(transfer, known.uploadId) };
    } catch (error) {
      if (!(error instanceof Failure && error.status === 404)) throw error;
      remember(key, undefined); // it has expired, or was ended elsewhere
    }
  }
  const { upload_id = '' } = await answer(
    api.POST('/repositories/{repository}/branches/{branch}/uploads', {
      params: { path: { repository, branch }, query: { path } },
      body: { content_type: file.type, user_metadata: {}, headers: {}, encryption: {} },
      signal,
    }),
  );
  const upload = { uploadId: upload_id, digests: {} };
  remember(key, upload);
  return { upload, sent: new Map() };
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
  const { uploadId } = remembered<Remembered>(key) ?? {};
  if (!uploadId) return;
  remember(key, undefined);
  const { repository, branch, path } = transfer;
  await answer(
    api.DELETE('/repositories/{repository}/branches/{branch}/uploads/{uploadId}', {
      params: { path: { repository, branch, uploadId }, query: { path } },
    }),
  );
}
