import './server'; // before the client is made

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchRange, totalOf } from '../src/api/objects';
import { versionsOf } from '../src/parts/diff/content';
import { json, serve } from './server';

const PLACE = { repository: 'lake', ref: 'main', path: 'a b' };
const bytes = (count: number) => new Response(new Uint8Array(count).fill(7));

test('a range of an object has the patience of any other read', async () => {
  const replies = [() => Promise.reject(new TypeError('lost')), () => bytes(2)];
  const seen = serve(() => (replies.shift() ?? (() => json({}, 500)))());
  assert.deepEqual([...(await fetchRange(PLACE, 3, 5))], [7, 7]);
  assert.equal(seen.length, 2);
  assert.equal(seen[0]?.target, '/repositories/lake/refs/main/objects?path=a+b');
});

test('a large range is read in pieces', async () => {
  const piece = 4 * 1024 ** 2;
  const sizes = [piece, 10];
  const seen = serve(() => bytes(sizes.shift() ?? 0));
  assert.equal((await fetchRange(PLACE, 0, piece + 10)).length, piece + 10);
  assert.equal(seen.length, 2);
});

test('a refused range, and one that the server ignores, say so', async () => {
  serve(() => json({ message: 'gone' }, 410));
  await assert.rejects(fetchRange(PLACE, 0, 5), { status: 410, message: 'Gone.' });
  serve(() => bytes(50));
  await assert.rejects(fetchRange(PLACE, 0, 5), { message: /ignored the asked range/ });
});

test('the parts of a total are added up', async () => {
  const parts = [
    { objects: 2, size_bytes: 10, has_more: true, next_offset: 'a/2' },
    { objects: 1, size_bytes: 5, has_more: false, next_offset: '' },
  ];
  const seen = serve(() => json(parts[seen.length - 1]));
  const sums: number[] = [];
  const { signal } = new AbortController();
  const total = await totalOf('lake', 'main', 'a/', signal, ({ objects }) => sums.push(objects));
  assert.deepEqual(total, { objects: 3, size_bytes: 15 });
  assert.deepEqual(sums, [2, 3]);
  assert.match(seen[1]?.target ?? '', /after=a%2F2$/);
});

test('a version that does not exist is found missing, and no request fails for it', async () => {
  const stats = { path: 'a', path_type: 'object', checksum: 'c' };
  const seen = serve(({ target }) =>
    json({
      results: [target.includes('/new/') ? stats : { ...stats, path: 'ab' }],
      pagination: {},
    }),
  );
  const { signal } = new AbortController();
  const { left, right } = await versionsOf('lake', { left: 'old', right: 'new' }, 'a', signal);
  assert.deepEqual([left, right], [{ ref: 'old' }, { ref: 'new', stats }]);
  assert.ok(seen.every(({ target }) => target.includes('/objects/ls?')));
});
