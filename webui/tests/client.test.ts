import './server'; // before the client is made

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  answer,
  api,
  Failure,
  failureOf,
  failureOfAnswer,
  pause,
  sentence,
  whenLoggedOut,
} from '../src/api/client';
import { hurry, json, serve } from './server';

test('a read meets a busy server three times, with longer and longer pauses', async t => {
  t.after(() => mock.restoreAll());
  for (const status of [429, 502, 503, 504]) {
    const waits = hurry();
    const seen = serve(() => json({ message: 'busy' }, status));
    await assert.rejects(answer(api.GET('/user')), { name: 'Failure', status });
    assert.equal(seen.length, 3);
    assert.equal(waits.length, 2);
    assert.ok((waits[0] ?? 0) < (waits[1] ?? 0));
    mock.restoreAll();
  }
});

test('a read that a busy server takes at last is as any other', async t => {
  t.after(() => mock.restoreAll());
  hurry();
  const replies = [() => json({}, 503), () => Promise.reject(new TypeError('lost'))];
  const seen = serve(() => (replies.shift() ?? (() => json({ user: { id: 'ann' } })))());
  assert.deepEqual(await answer(api.GET('/user')), { user: { id: 'ann' } });
  assert.equal(seen.length, 3);
});

test('a read whose connection is lost each time tells what to do', async t => {
  t.after(() => mock.restoreAll());
  hurry();
  serve(() => Promise.reject(new TypeError('lost')));
  await assert.rejects(answer(api.GET('/user')), { status: 0, message: /Check the connection/ });
});

test('an answer without content arrives, although chromium gives it an empty body', async () => {
  const empty = new Response(null, { status: 204 });
  Object.defineProperty(empty, 'body', { value: new Blob().stream() });
  serve(() => empty);
  assert.equal(await answer(api.DELETE('/user/sessions')), undefined);
});

/** An answer whose connection is lost after its head. */
const lost = () =>
  new Response(new ReadableStream({ pull: stream => stream.error(new TypeError('lost')) }));

test('a read that loses its connection within the answer is repeated', async t => {
  t.after(() => mock.restoreAll());
  hurry();
  const replies = [lost, () => json({ user: { id: 'ann' } })];
  serve(() => (replies.shift() ?? lost)());
  assert.deepEqual(await answer(api.GET('/user')), { user: { id: 'ann' } });
  await assert.rejects(answer(api.GET('/user')), { status: 0, message: /Check the connection/ });
});

test('a change that loses its connection within the answer may have been made', async () => {
  serve(lost);
  const body = { access_key_id: 'a', secret_access_key: 'b' };
  const request = answer(api.POST('/auth/login', { body }));
  await assert.rejects(request, { status: 0, message: /unknown whether this was done/ });
});

test('an answer without content is as it is', async () => {
  serve(() => new Response(null, { status: 204 }));
  const params = { path: { repository: 'r', branch: 'b' } };
  assert.equal(
    await answer(api.DELETE('/repositories/{repository}/branches/{branch}', { params })),
    undefined,
  );
});

test('a change is never repeated, since it may have been made', async () => {
  const body = { access_key_id: 'a', secret_access_key: 'b' };
  for (const reply of [
    () => json({ message: 'busy' }, 503),
    () => Promise.reject(new TypeError('lost')),
  ]) {
    const seen = serve(reply);
    await assert.rejects(answer(api.POST('/auth/login', { body })), { name: 'Failure' });
    assert.equal(seen.length, 1);
  }
});

test('a refusal is not repeated', async () => {
  for (const status of [400, 401, 403, 404, 409, 412, 500]) {
    const seen = serve(() => json({ message: 'no' }, status));
    await assert.rejects(answer(api.GET('/user')), { status });
    assert.equal(seen.length, 1);
  }
});

test('an abort ends the patience', async () => {
  const abort = new AbortController();
  const seen = serve(() => {
    setTimeout(() => abort.abort(), 5);
    return json({}, 503);
  });
  await assert.rejects(answer(api.GET('/user', { signal: abort.signal })), { name: 'AbortError' });
  assert.equal(seen.length, 1);
});

test('a read that is aborted on its way is not repeated', async () => {
  const abort = new AbortController();
  const seen = serve(() => {
    abort.abort();
    return Promise.reject(abort.signal.reason);
  });
  await assert.rejects(answer(api.GET('/user', { signal: abort.signal })), { name: 'AbortError' });
  assert.equal(seen.length, 1);
});

test('an abort ends a pause, with its reason', async () => {
  const abort = new AbortController();
  const paused = pause(60_000, abort.signal);
  abort.abort(new Error('enough'));
  await assert.rejects(paused, /enough/);
});

test('a pause that is over leaves nothing at the signal', async () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  mock.method(signal, 'addEventListener', (_: string, act: unknown) => listeners.add(act));
  mock.method(signal, 'removeEventListener', (_: string, act: unknown) => listeners.delete(act));
  await pause(1, signal);
  assert.equal(listeners.size, 0);
});

test('only an answer without a session logs out, and not that of a log-in', async () => {
  let times = 0;
  whenLoggedOut(() => {
    times += 1;
  });
  const ended = { message: 'error authenticating request' };
  const ask = async (body: unknown, status: number) => {
    serve(() => json(body, status));
    await assert.rejects(answer(api.GET('/config')));
  };
  await ask({ message: 'insufficient permissions' }, 401);
  await ask(ended, 403);
  assert.equal(times, 0);
  const login = { access_key_id: 'a', secret_access_key: 'b' };
  serve(() => json(ended, 401));
  await assert.rejects(answer(api.POST('/auth/login', { body: login })));
  assert.equal(times, 0);
  await ask(ended, 401);
  assert.equal(times, 1);
});

test('an error is told so that a person can act on it', () => {
  const known = new Failure('Known.', 404);
  assert.equal(failureOf(known), known);
  const abort = new DOMException('', 'AbortError');
  assert.equal(failureOf(abort), abort);
  // Only a request can fail for want of a server; any other TypeError is a mistake of ours.
  assert.match(failureOf(new TypeError('odd')).message, /in this page: TypeError: odd/);
  assert.match(failureOf(new RangeError('odd')).message, /in this page: RangeError: odd/);
});

test("a refusal is told in the server's words, with advice", () => {
  const told = (status: number, body?: unknown) => failureOfAnswer(status, body).message;
  assert.equal(told(404, { message: 'branch "x" not found' }), 'Branch "x" not found.');
  assert.equal(told(400, { message: 'bad.', details: 'use ASCII' }), 'Bad. Use ASCII.');
  assert.match(told(503, { message: 'slow' }), /^Slow\. The server is busy\./);
  assert.match(told(429), /^Too many requests/);
  assert.match(told(401, { message: 'denied' }), /^Denied\. Ask an administrator/);
  assert.match(told(401, { message: 'error authenticating request' }), /^Your session has ended/);
  assert.match(told(500), /status 500/);
  assert.match(told(500, 'a proxy says no'), /status 500/);
  assert.deepEqual(failureOfAnswer(409, { message: 'm', details: [1] }).details, [1]);
});

test('what a user may not do is told by what it is, with the right that is missing', () => {
  const told = (details: string) =>
    failureOfAnswer(401, { message: 'insufficient permissions: not allowed to x', details })
      .message;
  const way = 'ask an administrator for a policy that allows it';
  const arn = 'arn:lakefs:fs:::repository/lake';
  assert.equal(
    told(`fs:ReadObject on ${arn}/object/a b/README.md: ${way}`),
    'You may not read a b/README.md. Ask an administrator for fs:ReadObject on repository/lake/object/a b/README.md.',
  );
  assert.equal(
    told(`fs:CreateCommit on ${arn}/branch/main: ${way}`),
    'You may not do this. Ask an administrator for fs:CreateCommit on repository/lake/branch/main.',
  );
  assert.equal(
    told(`fs:ListRepositories: ${way}`),
    'You may not do this. Ask an administrator for fs:ListRepositories.',
  );
  assert.match(
    told(`fs:ReadObject on ${arn}/object/a and fs:WriteObject on ${arn}/object/b: ${way}`),
    /^You may not read a\. .*and fs:WriteObject/,
  );
  assert.equal(
    told(`a policy denies fs:DeleteObject on ${arn}/object/a`),
    'You may not delete a. A policy denies fs:DeleteObject on repository/lake/object/a.',
  );
});

test("lakeFS's words that say little are told in plain ones", () => {
  const told = (message: string, details?: string) =>
    failureOfAnswer(400, { message, details }).message;
  assert.equal(told('commit: no changes', 'it is so'), 'There is nothing to commit. It is so.');
  assert.equal(
    told('update branch main: no changes', "'dev' changed nothing"),
    "There is nothing to change. 'dev' changed nothing.",
  );
  assert.equal(
    told('update branch main: get commit by ref zz: not found', "no branch, tag or commit 'zz'"),
    "Not found. No branch, tag or commit 'zz'.",
  );
  assert.equal(
    told('name contains delimiter /: validation error', "'a/b'"),
    "A name cannot have a slash: 'a/b'.",
  );
});

test('a sentence begins with a capital and ends', () => {
  assert.equal(sentence('  what now?'), 'What now?');
  assert.equal(sentence('done'), 'Done.');
  assert.equal(sentence('  '), '');
});
