import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowChanges, uniqueColumns } from '../src/parts/diff/rows';

const table = (head: string, ...rows: string[]) => ({
  columns: head.split(' '),
  rows: rows.map(row => row.split(' ')),
});

test('a key is a column without repeated values on both sides', () => {
  const left = table('id kind code', '1 a x', '2 a y');
  assert.deepEqual(uniqueColumns(left, table('id kind code', '1 a x', '2 b x')), ['id']);
  assert.deepEqual(uniqueColumns(left, table('code id', 'x 1')), ['code', 'id']);
  // A column that only one side has tells no rows apart.
  assert.deepEqual(uniqueColumns(left, table('id other', '1 a')), ['id']);
});

test('a side without columns does not restrict the keys', () => {
  const none = { columns: [], rows: [] };
  assert.deepEqual(uniqueColumns(none, table('id', '1')), ['id']);
  assert.deepEqual(uniqueColumns(table('id', '1'), none), ['id']);
});

test('rows with the same key are compared, in the order of the right side', () => {
  const left = table('id n', '1 a', '2 b', '3 c');
  const right = table('id n', '3 c', '4 d', '2 x');
  assert.deepEqual(rowChanges(left, right, 'id'), [
    { type: 'added', after: { id: '4', n: 'd' } },
    { type: 'changed', before: { id: '2', n: 'b' }, after: { id: '2', n: 'x' } },
    { type: 'removed', before: { id: '1', n: 'a' } },
  ]);
});

test('without a key, whole rows are compared, each as often as it is there', () => {
  const left = table('n', 'a', 'a', 'b');
  assert.deepEqual(rowChanges(left, table('n', 'a', 'c'), undefined), [
    { type: 'added', after: { n: 'c' } },
    { type: 'removed', before: { n: 'a' } },
    { type: 'removed', before: { n: 'b' } },
  ]);
});

test('a new column changes every row; columns in another order change none', () => {
  const left = table('id n', '1 a');
  assert.deepEqual(rowChanges(left, table('id n m', '1 a z'), 'id'), [
    { type: 'changed', before: { id: '1', n: 'a' }, after: { id: '1', n: 'a', m: 'z' } },
  ]);
  assert.deepEqual(rowChanges(left, table('n id', 'a 1'), 'id'), []);
});
