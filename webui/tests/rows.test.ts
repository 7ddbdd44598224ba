import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allColumns, distinct, rowChanges, uniqueColumns } from '../src/parts/diff/rows';

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
    { type: 'added', after: ['4', 'd'] },
    { type: 'changed', before: ['2', 'b'], after: ['2', 'x'] },
    { type: 'removed', before: ['1', 'a'] },
  ]);
});

test('without a key, whole rows are compared, each as often as it is there', () => {
  const left = table('n', 'a', 'a', 'b');
  assert.deepEqual(rowChanges(left, table('n', 'a', 'c'), undefined), [
    { type: 'added', after: ['c'] },
    { type: 'removed', before: ['a'] },
    { type: 'removed', before: ['b'] },
  ]);
});

test('a new column changes every row; columns in another order change none', () => {
  const left = table('id n', '1 a');
  const right = table('id m n', '1 z a');
  assert.deepEqual(allColumns(left, right), ['id', 'm', 'n']);
  assert.deepEqual(rowChanges(left, right, 'id'), [
    { type: 'changed', before: ['1', undefined, 'a'], after: ['1', 'z', 'a'] },
  ]);
  assert.deepEqual(rowChanges(left, table('n id', 'a 1'), 'id'), []);
});

test('a removed column changes every row', () => {
  assert.deepEqual(rowChanges(table('id n', '1 a'), table('id', '1'), 'id'), [
    { type: 'changed', before: ['1', 'a'], after: ['1', undefined] },
  ]);
});

test('columns of one name are each a column of their own', () => {
  assert.deepEqual(distinct(['a', 'b', 'a', 'a', 'a (2)']), [
    'a',
    'b',
    'a (2)',
    'a (3)',
    'a (2) (2)',
  ]);
  assert.deepEqual(distinct(['__proto__', 'constructor']), ['__proto__', 'constructor']);
});

test('many equal rows are compared in a moment', { timeout: 5000 }, () => {
  const rows = (count: number) => ({
    columns: ['n'],
    rows: Array.from({ length: count }, () => ['a']),
  });
  assert.equal(rowChanges(rows(200_000), rows(200_001), undefined).length, 1);
});

test('a cell without a value is not one with the empty text', () => {
  const left = {
    columns: ['id', 'n'],
    rows: [
      ['1', undefined],
      ['2', ''],
    ],
  };
  const right = {
    columns: ['id', 'n'],
    rows: [
      ['1', ''],
      ['2', ''],
    ],
  };
  assert.deepEqual(rowChanges(left, right, 'id'), [
    { type: 'changed', before: ['1', undefined], after: ['1', ''] },
  ]);
  assert.deepEqual(rowChanges(left, left, 'n'), []);
  assert.deepEqual(uniqueColumns(left, left), ['id', 'n']);
});
