import './server'; // before the client is made

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../src/api/cache';
import { readDistance, timesOf } from '../src/pages/refs/commits';
import { distanceOf } from '../src/parts/distance';
import { json, serve } from './server';

const idOf = (target: string) => target.split('/').at(-1) ?? '';
const commitId = (number: number) => number.toString(16).padStart(64, '0');

test('times are asked for a few at once, each once in the session', async () => {
  let open = 0;
  let most = 0;
  const seen = serve(async ({ target }) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise(resolve => setTimeout(resolve, 1));
    open -= 1;
    return json({ creation_date: Number.parseInt(idOf(target), 16) });
  });
  const ids = Array.from({ length: 40 }, (_, number) => commitId(number));
  const times = await timesOf('times', [...ids, ...ids]);
  assert.deepEqual([...times].sort(), ids.map((id, number) => [id, number] as const).sort());
  assert.ok(most > 1 && most <= 8, `${most} at once`);
  await timesOf('times', ids);
  assert.equal(seen.length, 40);
});

/** Serve two refs, whose commits since the base `o` are given. */
function serveLogs(logs: Record<string, string[]>, hasMore: string[] = []) {
  return serve(({ target }) => {
    if (target.includes('/merge/')) return json({ base_commit_id: 'o' });
    assert.match(target, /stop_at=o/);
    const ref = target.split('/')[4] ?? '';
    const results = (logs[ref] ?? []).map(id => ({ id }));
    return json({ results, pagination: { has_more: hasMore.includes(ref) } });
  });
}

test('a distance counts what only one side has, without the base', async () => {
  const logs = { mine: ['c', 'b', 'both', 'o'], theirs: ['x', 'both'] };
  serveLogs(logs);
  const distance = { base: 'o', ahead: 2, behind: 1, isPart: false };
  assert.deepEqual(await distanceOf('near', 'mine', 'theirs'), distance);
  const turned = { base: 'o', ahead: 1, behind: 2, isPart: false };
  assert.deepEqual(await distanceOf('near', 'theirs', 'mine'), turned);
});

test('a distance with more commits than were counted says so', async () => {
  for (const ref of ['mine', 'theirs']) {
    serveLogs({ mine: ['c'], theirs: [] }, [ref]);
    assert.equal((await distanceOf(`far ${ref}`, 'mine', 'theirs')).isPart, true);
  }
});

test('the distance of two commits is counted once; of one from itself, without a request', async () => {
  const seen = serveLogs({ c: ['c', 'o'], x: ['x', 'o'] });
  const distance = { base: 'o', ahead: 1, behind: 1, isPart: false };
  assert.deepEqual(await answerOf(readDistance('twice', 'c', 'x')), distance);
  assert.deepEqual(await answerOf(readDistance('twice', 'c', 'x')), distance);
  assert.equal(seen.length, 3);
  const none = { base: 'c', ahead: 0, behind: 0, isPart: false };
  assert.deepEqual(await answerOf(readDistance('twice', 'c', 'c')), none);
  assert.equal(seen.length, 3);
});
