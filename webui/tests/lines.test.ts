import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLines } from '../src/pages/objects/previews/lines';

test('any line may bring a new column; its cell is missing in the others', () => {
  assert.deepEqual(readLines('{"a": 1, "b": null}\n{"b": 2, "c": [3]}\n'), {
    keys: ['a', 'b', 'c'],
    rows: [
      [1, null, undefined],
      [undefined, 2, [3]],
    ],
    wrong: 0,
  });
});

test('values that are no objects are in a column of their own', () => {
  assert.deepEqual(readLines('1\n[2]\nnull\n"x"'), {
    keys: ['value'],
    rows: [[1], [[2]], [null], ['x']],
    wrong: 0,
  });
});

test('empty lines are passed over; those that are not JSON are counted', () => {
  assert.deepEqual(readLines('\n  \r\n{"a": 1}\r\n{"a":\nb\n'), {
    keys: ['a'],
    rows: [[1]],
    wrong: 2,
  });
  assert.deepEqual(readLines(''), { keys: [], rows: [], wrong: 0 });
});

test('a key that objects inherit is a key as any other', () => {
  assert.deepEqual(readLines('{"constructor": 1}').rows, [[1]]);
});
