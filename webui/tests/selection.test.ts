import assert from 'node:assert/strict';
import { test } from 'node:test';
import { between, toggled } from '../src/parts/selection';

const ALL = ['a', 'b', 'c', 'd'];

test('a range has both of its ends, whichever was pressed first', () => {
  assert.deepEqual(between(ALL, 'b', 'd'), ['b', 'c', 'd']);
  assert.deepEqual(between(ALL, 'd', 'b'), ['b', 'c', 'd']);
  assert.deepEqual(between(ALL, 'b', 'b'), ['b']);
});

test('a range from a row that is no longer listed is the pressed row alone', () => {
  assert.deepEqual(between(ALL, 'gone', 'c'), ['c']);
});

test('all rows of a range become what the pressed one becomes', () => {
  assert.deepEqual([...toggled(new Set(['b']), 'd', ['b', 'c', 'd'])], ['b', 'c', 'd']);
  assert.deepEqual([...toggled(new Set(['a', 'b', 'd']), 'd', ['b', 'c', 'd'])], ['a']);
});
