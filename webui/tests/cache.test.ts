import './server'; // before the client is made

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { answerOf, apiRead, dropAnswers, knownAnswer } from '../src/api/cache';
import { answer, api } from '../src/api/client';
import { json, serve } from './server';

const COMMIT = 'c0'.repeat(32);
const PATH = '/repositories/{repository}/refs/{ref}/commits';
const logOf = (ref: string, repository = 'lake') => apiRead(PATH, { path: { repository, ref } });
const change = () => answer(api.DELETE('/user/sessions'));

/** Serve answers that the test lets go, each with its number. */
function serveHeld() {
  const held: (() => void)[] = [];
  const seen = serve(
    ({ method }) =>
      new Promise(resolve => {
        const number = seen.length;
        const go = () => resolve(json({ results: [number], number }));
        if (method === 'GET') held.push(go);
        else resolve(new Response(null, { status: 204 }));
      }),
  );
  return { seen, held };
}

/** Serve answers at once, each with its number. */
function serveNumbers() {
  const seen = serve(({ method }) =>
    method === 'GET' ? json({ number: seen.length }) : new Response(null, { status: 204 }),
  );
  return seen;
}

const numberOf = async (...given: Parameters<typeof answerOf>) =>
  ((await answerOf(...given)) as { number: number }).number;
const known = (ref: string) => (knownAnswer(logOf(ref)) as { number: number } | undefined)?.number;

beforeEach(dropAnswers);

test('equal reads that are under way are one request; other parameters are another', async () => {
  const { seen, held } = serveHeld();
  const asked = [logOf('main'), logOf('main'), logOf('dev'), logOf('main', 'sea')].map(each =>
    numberOf(each),
  );
  await Promise.resolve();
  assert.equal(seen.length, 3);
  for (const go of held) go();
  assert.deepEqual(await Promise.all(asked), [1, 1, 2, 3]);
});

test('an answer is known until it is asked for again, and then the new one is', async () => {
  const seen = serveNumbers();
  assert.equal(known('main'), undefined);
  await answerOf(logOf('main'));
  assert.equal(known('main'), 1);
  assert.equal(await numberOf(logOf('main')), 2);
  assert.equal(known('main'), 2);
  assert.equal(seen.length, 2);
});

test('what commit IDs name is asked for once, also after a change', async () => {
  const seen = serveNumbers();
  const diff = '/repositories/{repository}/refs/{leftRef}/diff/{rightRef}';
  const of = (rightRef: string) =>
    apiRead(diff, { path: { repository: 'lake', leftRef: COMMIT, rightRef } });
  for (const read of [logOf(COMMIT), of(COMMIT)]) {
    const before = await numberOf(read);
    await change();
    assert.equal(await numberOf(read), before);
  }
  assert.equal(seen.filter(({ method }) => method === 'GET').length, 2);
  for (const read of [logOf(COMMIT.slice(1)), logOf(`${COMMIT}~1`), of('main')])
    assert.equal(read.isLasting, false, read.name);
  const branch = apiRead('/repositories/{repository}/branches/{branch}', {
    path: { repository: 'lake', branch: COMMIT },
  });
  assert.equal(branch.isLasting, false);
});

test('a change drops what can change, even if it fails', async () => {
  serveNumbers();
  await answerOf(logOf('main'));
  await change();
  assert.equal(known('main'), undefined);
  await answerOf(logOf('main'));
  serve(() => Promise.reject(new TypeError('lost')));
  await assert.rejects(change(), /unknown whether this was done/);
  assert.equal(known('main'), undefined);
});

test('a read that began before a change is not shared after it, and not kept', async () => {
  const { seen, held } = serveHeld();
  const before = numberOf(logOf('main'));
  await Promise.resolve();
  await change();
  const after = numberOf(logOf('main'));
  await Promise.resolve();
  held[1]?.();
  assert.equal(await after, 3);
  held[0]?.();
  assert.equal(await before, 1);
  assert.equal(known('main'), 3);
  assert.equal(seen.length, 3);
});

test('who leaves does not end the request of others; the last one does', async () => {
  let isAborted = false;
  const read = {
    name: 'held',
    isLasting: false,
    load: (signal: AbortSignal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          isAborted = true;
          reject(signal.reason);
        });
      }),
  };
  const [one, other] = [new AbortController(), new AbortController()];
  const asked = [answerOf(read, one.signal), answerOf(read, other.signal)];
  one.abort();
  assert.equal(isAborted, false);
  other.abort();
  assert.equal(isAborted, true);
  for (const each of asked) await assert.rejects(each, { name: 'AbortError' });
  await assert.rejects(answerOf(read, one.signal), { name: 'AbortError' });
  serveNumbers();
  assert.equal(await numberOf(logOf('main')), 1);
});

test('a failure is not kept, and takes the known answer with it', async () => {
  serveNumbers();
  await answerOf(logOf('main'));
  serve(() => json({ message: 'gone' }, 404));
  await assert.rejects(answerOf(logOf('main')), { status: 404 });
  assert.equal(known('main'), undefined);
});

test('a session that ends leaves nothing, not even of commits', async () => {
  serveNumbers();
  await answerOf(logOf(COMMIT));
  dropAnswers();
  assert.equal(known(COMMIT), undefined);
});

test('of very many rows, the oldest answers go', async () => {
  serve(() => json({ results: Array(4000).fill(0) }));
  for (const ref of ['1', '2', '3', '4', '5', '6']) await answerOf(logOf(ref));
  const left = ['1', '2', '3', '4', '5', '6'].filter(ref => knownAnswer(logOf(ref)));
  assert.deepEqual(left, ['2', '3', '4', '5', '6']);
});
