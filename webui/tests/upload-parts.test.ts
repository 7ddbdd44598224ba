import './server'; // before the client is made

import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { abandon, sendParts } from '../src/pages/objects/upload-parts';
import { hurry, json, serve } from './server';

const PART_BYTES = 8 * 1024 ** 2;
const SIZE = 4.5 * PART_BYTES;

/** The bucket, and the server's knowledge of the one upload. */
const bucket = {
  parts: new Map<number, string>(),
  /** How often each part was sent. */
  tries: [] as number[],
  /** The statuses of the next tries of a part; 0 is a lost connection. */
  failures: new Map<number, number[]>(),
  uploads: 0,
  open: '',
  completed: undefined as unknown,
  inFlight: 0,
  mostInFlight: 0,
  /** No request ends before so many are on their way at once. */
  awaited: 0,
};

/** A browser's request to the bucket. */
class BucketRequest {
  upload: { onprogress?: (event: { loaded: number }) => void } = {};
  status = 0;
  onload = () => {};
  onerror = () => {};
  onabort = () => {};
  onloadend = () => {};
  private url = '';
  private isAborted = false;

  open(_: string, url: string) {
    this.url = url;
  }

  getResponseHeader = () => `"${bucket.parts.get(this.number)}"`;

  private get number() {
    return Number(this.url.split('/').at(-1));
  }

  async send(content: Blob) {
    bucket.tries[this.number] = (bucket.tries[this.number] ?? 0) + 1;
    bucket.inFlight += 1;
    bucket.mostInFlight = Math.max(bucket.mostInFlight, bucket.inFlight);
    const text = await content.text();
    this.upload.onprogress?.({ loaded: content.size });
    do await new Promise(setImmediate);
    while (bucket.mostInFlight < bucket.awaited);
    bucket.inFlight -= 1;
    if (this.isAborted) return;
    this.status = bucket.failures.get(this.number)?.shift() ?? 200;
    if (this.status === 200) bucket.parts.set(this.number, text);
    if (this.status) this.onload();
    else this.onerror();
    this.onloadend();
  }

  abort() {
    this.isAborted = true;
    this.onabort();
    this.onloadend();
  }
}

beforeEach(() => {
  Object.assign(bucket, { parts: new Map(), tries: [], failures: new Map(), uploads: 0, open: '' });
  Object.assign(bucket, {
    completed: undefined,
    inFlight: 0,
    mostInFlight: 0,
    awaited: 0,
    isListed: false,
  });
  const kept = new Map<string, string>();
  Object.assign(globalThis, {
    XMLHttpRequest: BucketRequest,
    localStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => kept.set(key, text),
      removeItem: (key: string) => kept.delete(key),
    },
  });
  serve(async ({ method, target, body }) => {
    const [, uploadId = '', part] = target.match(/\/uploads\/([^/?]+)(?:\/parts\/(\d+))?/) ?? [];
    if (uploadId && uploadId !== bucket.open) return json({ message: 'no such upload' }, 404);
    if (part) return json({ presigned_url: `http://bucket.test/${part}` });
    if (method === 'POST') {
      bucket.uploads += 1;
      bucket.open = `upload${bucket.uploads}`;
      bucket.parts.clear();
      return json({ upload_id: bucket.open });
    }
    if (method === 'GET') {
      const results = [...bucket.parts].map(([part_number, etag]) => ({ part_number, etag }));
      return json({ results, pagination: { has_more: false, next_offset: '' } });
    }
    bucket.open = '';
    if (method === 'PUT') bucket.completed = await body();
    return new Response(null, { status: 204 });
  });
});

/** A file of five parts, with a letter in place of each part's bytes. */
function fileOf(letters: string): File {
  const slice = (start: number) => new Blob([letters[start / PART_BYTES] ?? '']);
  const file = new File([], 'large.bin', { lastModified: 1 });
  return Object.defineProperties(file, {
    size: { value: SIZE },
    slice: { value: slice, writable: true },
  });
}

function transferOf(file = fileOf('abcde')) {
  const sent: number[] = [];
  const { signal } = new AbortController();
  const onSent = (sent_bytes: number) => sent.push(sent_bytes);
  return { repository: 'lake', branch: 'main', path: 'a', file, signal, onSent, sent };
}

const completedWith = (letters: string) => ({
  parts: [...letters].map((etag, at) => ({ part_number: at + 1, etag })),
  size_bytes: SIZE,
});

test('a large file goes in parts, four at a time, and the object is made of all of them', async () => {
  const transfer = transferOf();
  bucket.awaited = 4;
  await sendParts(transfer);
  assert.deepEqual(bucket.completed, completedWith('abcde'));
  assert.equal(bucket.mostInFlight, 4);
  assert.equal(transfer.sent.at(-1), 5);
  assert.equal(Math.max(...transfer.sent), 5);
});

test('parts that fail for a moment are sent again', async t => {
  t.after(() => mock.restoreAll());
  hurry();
  bucket.failures = new Map([
    [2, [503]],
    [3, [0, 0]],
    [4, [403]],
  ]);
  await sendParts(transferOf());
  assert.deepEqual(bucket.tries.slice(1), [1, 2, 3, 2, 1]);
  assert.deepEqual(bucket.completed, completedWith('abcde'));
});

test('a part that is refused stops the others, and a retry sends only what is missing', async t => {
  t.after(() => mock.restoreAll());
  hurry();
  bucket.failures = new Map([[5, [503, 503, 503]]]);
  await assert.rejects(sendParts(transferOf()), { status: 503 });
  assert.equal(bucket.tries[5], 3);
  assert.equal(bucket.completed, undefined);
  const missing = [1, 2, 3, 4, 5].filter(number => !bucket.parts.has(number));
  bucket.tries = [];
  await sendParts(transferOf());
  assert.deepEqual(Object.keys(bucket.tries), missing.map(String));
  assert.equal(bucket.uploads, 1);
  assert.deepEqual(bucket.completed, completedWith('abcde'));
});

test('a refusal is not repeated', async () => {
  bucket.failures = new Map([[1, [400]]]);
  await assert.rejects(sendParts(transferOf()), { status: 400 });
  assert.equal(bucket.tries[1], 1);
  bucket.failures = new Map([[1, [403, 403]]]);
  bucket.tries = [];
  await assert.rejects(sendParts(transferOf()), { status: 403 });
  assert.equal(bucket.tries[1], 2);
});

test('a file of the same name, size and time is not mixed with the one before', async () => {
  bucket.failures = new Map([[5, [400]]]);
  await assert.rejects(sendParts(transferOf()));
  await sendParts(transferOf(fileOf('abXde')));
  assert.deepEqual(bucket.completed, completedWith('abXde'));
});

test('an upload that has expired begins anew', async () => {
  bucket.failures = new Map([[5, [400]]]);
  await assert.rejects(sendParts(transferOf()));
  bucket.open = '';
  await sendParts(transferOf());
  assert.equal(bucket.uploads, 2);
  assert.deepEqual(bucket.completed, completedWith('abcde'));
});

test('an upload that is given up is deleted, and forgotten', async () => {
  bucket.failures = new Map([[5, [400]]]);
  const transfer = transferOf();
  await assert.rejects(sendParts(transfer));
  await abandon(transfer);
  assert.equal(bucket.open, '');
  await sendParts(transfer);
  assert.equal(bucket.uploads, 2);
});

test('an upload that is given up while its parts are compared stays forgotten', async () => {
  bucket.failures = new Map([[5, [400]]]);
  await assert.rejects(sendParts(transferOf()));
  const stop = new AbortController();
  const transfer = { ...transferOf(), signal: stop.signal };
  const { slice } = transfer.file;
  transfer.file.slice = (...range) => {
    if (!stop.signal.aborted) abandon(transfer);
    stop.abort();
    return slice(...range);
  };
  await assert.rejects(sendParts(transfer), { name: 'AbortError' });
  assert.equal(localStorage.getItem('upload ["lake","main","a","large.bin",37748736,1]'), null);
});
