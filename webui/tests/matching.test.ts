import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matcher, matchingPaths } from '../src/parts/matching';

test('all words are found, in any order and case', () => {
  const isMatch = matcher(' Lake  objects ');
  assert.ok(isMatch('Objects: page of LAKE'));
  assert.ok(!isMatch('Objects'));
  assert.ok(matcher('')('anything'));
});

test('paths whose names match come before those whose folders do', () => {
  const paths = ['orders/a.csv', 'a/orders.csv', 'b/orders/c', 'z'];
  assert.deepEqual(matchingPaths(paths, 'orders'), ['a/orders.csv', 'orders/a.csv', 'b/orders/c']);
});
