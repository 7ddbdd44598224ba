/** The uploads of this tab; they go on while the user moves from page to page. */

import { computed, signal } from '@preact/signals';
import { type Failure, failureOf } from '../../api/client';
import { abandon, send } from './transfer';

export interface Upload {
  id: number;
  repository: string;
  branch: string;
  path: string;
  file: File;
  state: 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled';
  sent_bytes: number;
  failure?: Failure;
}

const PARALLEL = 4;

export const uploads = signal<readonly Upload[]>([]);

const running = new Map<number, AbortController>();
let count = 0;

export function isActive({ state }: Upload): boolean {
  return state === 'waiting' || state === 'sending';
}

/** Whether files are being sent, whatever page is shown. */
export const isUploading = computed(() => uploads.value.some(isActive));

function change(id: number, to: Partial<Upload>): void {
  uploads.value = uploads.value.map(each => (each.id === id ? { ...each, ...to } : each));
}

/** Queue the files; at most four are sent at a time. */
export function startUploads(
  given: Pick<Upload, 'repository' | 'branch' | 'path' | 'file'>[],
): void {
  const added = given.map(each => {
    count += 1;
    return { ...each, id: count, state: 'waiting' as const, sent_bytes: 0 };
  });
  uploads.value = [...uploads.value, ...added];
  sendNext();
}

function sendNext(): void {
  const isAny = uploads.value.some(isActive);
  removeEventListener('beforeunload', warn);
  if (isAny) addEventListener('beforeunload', warn);
  for (const upload of uploads.value) {
    if (running.size >= PARALLEL) return;
    if (upload.state === 'waiting' && !running.has(upload.id)) sendOne(upload);
  }
}

async function sendOne(upload: Upload): Promise<void> {
  const abort = new AbortController();
  running.set(upload.id, abort);
  change(upload.id, { state: 'sending', failure: undefined });
  try {
    const onSent = (sent_bytes: number) => change(upload.id, { sent_bytes });
    await send({ ...upload, signal: abort.signal, onSent });
    change(upload.id, { state: 'done', sent_bytes: upload.file.size });
  } catch (error) {
    if (abort.signal.aborted) change(upload.id, { state: 'cancelled' });
    else change(upload.id, { state: 'failed', failure: failureOf(error) as Failure });
  } finally {
    running.delete(upload.id);
    sendNext();
  }
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Stop the upload; the parts that a large file has sent are deleted. */
export function cancelUpload(upload: Upload): void {
  change(upload.id, { state: 'cancelled' });
  running.get(upload.id)?.abort();
  abandon(upload).catch(() => {}); // what stays behind expires after seven days
}

export function cancelAll(): void {
  for (const upload of uploads.value.filter(isActive)) cancelUpload(upload);
}

/** Send again what failed. */
export function retryFailed(): void {
  uploads.value = uploads.value.map(each =>
    each.state === 'failed' ? { ...each, state: 'waiting', sent_bytes: 0 } : each,
  );
  sendNext();
}

/** Forget the uploads that have ended. */
export function clearEnded(): void {
  uploads.value = uploads.value.filter(isActive);
}
