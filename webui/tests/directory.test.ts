import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectStats } from '../src/api/objects';
import { foldersFirst } from '../src/pages/objects/order';

const item = (path: string) =>
  ({ path, path_type: path.endsWith('/') ? 'common_prefix' : 'object' }) as ObjectStats;
const order = (paths: string[], hasMore: boolean) =>
  foldersFirst(paths.map(item), hasMore).map(({ path }) => path);

test('folders come first, and each kind keeps its order', () => {
  assert.deepEqual(order(['a', 'b/', 'c', 'd/'], false), ['b/', 'd/', 'a', 'c']);
});

test('rows of a list that is not whole stay where they are', () => {
  const paths = ['a', 'b/', 'c'];
  assert.deepEqual(order(paths, true), paths);
  const many = [...Array(1000).keys()].map(number => `a${number}`);
  assert.deepEqual(order([...many, 'b/'], false).at(-1), 'b/');
});
