/**
 * The uploads of this tab; they go on while the user moves from page to page.
 *
 * Each upload has signals of its own, and the counts are kept beside them: what one of thousands
 * does costs the same as what one of few does.
 */

import { batch, computed, type Signal, signal } from '@preact/signals';
import { type Failure, failureOf } from '../../api/client';
import { PARALLEL } from './bucket';
import { isLarge, send } from './transfer';
import { abandon } from './upload-parts';

export type State = 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled';

interface Status {
  state: State;
  failure?: Failure;
}

export interface Upload {
  id: number;
  repository: string;
  branch: string;
  path: string;
  file: File;
  status: Signal<Status>;
  sent_bytes: Signal<number>;
}

const NONE: Record<State, number> = { waiting: 0, sending: 0, done: 0, failed: 0, cancelled: 0 };

export const uploads = signal<readonly Upload[]>([]);

/** How many of the uploads are in each state. */
export const counts = signal(NONE);

/** Whether files are being sent, whatever page is shown. */
export const isUploading = computed(() => counts.value.waiting + counts.value.sending > 0);

/** How many small files have an address, or wait for one, or for their link. */
const IN_HAND = 64;
/** Their bytes are sent before their addresses expire. */
const IN_HAND_BYTES = 64 * 1024 ** 2;

const queue: Upload[] = [];
const running = new Map<Upload, AbortController>();
let count = 0;

export function isActive({ status }: Upload): boolean {
  return status.value.state === 'waiting' || status.value.state === 'sending';
}

function change(upload: Upload, to: Status): void {
  const { state } = upload.status.peek();
  const old = counts.peek();
  batch(() => {
    upload.status.value = to;
    if (state === to.state) return;
    counts.value = { ...old, [state]: old[state] - 1, [to.state]: old[to.state] + 1 };
  });
}

/** Queue the files; the content of four is sent at a time. */
export function startUploads(
  given: Pick<Upload, 'repository' | 'branch' | 'path' | 'file'>[],
): void {
  const added = given.map(each => {
    count += 1;
    const status = signal<Status>({ state: 'waiting' });
    return { ...each, id: count, status, sent_bytes: signal(0) };
  });
  batch(() => {
    uploads.value = [...uploads.value, ...added];
    counts.value = { ...counts.value, waiting: counts.value.waiting + added.length };
  });
  queue.push(...added);
  sendNext();
}

function sendNext(): void {
  removeEventListener('beforeunload', warn);
  if (isUploading.value) addEventListener('beforeunload', warn);
  for (let next = queue[0]; next && mayBegin(next); next = queue[0]) {
    queue.shift();
    if (next.status.value.state === 'waiting') sendOne(next);
  }
}

function mayBegin(next: Upload): boolean {
  const { file } = next;
  const others = [...running.keys()];
  // Of several files for one path, the one that was chosen last stays there.
  if (others.some(other => isOfSamePath(other, next))) return false;
  if (others.length < PARALLEL) return true;
  const bytes = others.reduce((sum, each) => sum + each.file.size, file.size);
  return !isLarge(file) && others.length < IN_HAND && bytes <= IN_HAND_BYTES;
}

function isOfSamePath(one: Upload, other: Upload): boolean {
  return (
    one.path === other.path && one.branch === other.branch && one.repository === other.repository
  );
}

async function sendOne(upload: Upload): Promise<void> {
  const abort = new AbortController();
  running.set(upload, abort);
  change(upload, { state: 'sending' });
  try {
    const onSent = (sent_bytes: number) => {
      upload.sent_bytes.value = sent_bytes;
    };
    await send({ ...upload, signal: abort.signal, onSent });
    change(upload, { state: 'done' });
  } catch (error) {
    if (abort.signal.aborted) change(upload, { state: 'cancelled' });
    else change(upload, { state: 'failed', failure: failureOf(error) as Failure });
  } finally {
    running.delete(upload);
    sendNext();
  }
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Stop the upload; the parts that a large file has sent are deleted. */
export function cancelUpload(upload: Upload): void {
  change(upload, { state: 'cancelled' });
  running.get(upload)?.abort();
  abandon(upload).catch(() => {}); // what stays behind expires after seven days
}

export function cancelAll(): void {
  for (const upload of uploads.value.filter(isActive)) cancelUpload(upload);
}

/** Send again what failed. */
export function retryFailed(): void {
  const failed = uploads.value.filter(({ status }) => status.value.state === 'failed');
  for (const upload of failed) {
    upload.sent_bytes.value = 0;
    change(upload, { state: 'waiting' });
  }
  queue.push(...failed);
  sendNext();
}

/** Forget the uploads that have ended. */
export function clearEnded(): void {
  batch(() => {
    uploads.value = uploads.value.filter(isActive);
    const { waiting, sending } = counts.value;
    counts.value = { ...NONE, waiting, sending };
  });
}
