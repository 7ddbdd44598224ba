import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  comparedColumns,
  compareRows,
  distinct,
  keysOf,
  type Match,
  type Row,
  type Table,
} from '../src/parts/diff/rows';

/** A table of the columns in the head, each with a type if it names one: `id:int32`. */
const table = (head: string, ...rows: (string | Row)[]): Table => ({
  columns: head.split(' ').map(column => {
    const [name = '', type] = column.split(':');
    return { name, type };
  }),
  rows: rows.map(row => (typeof row === 'string' ? row.split(' ') : row)),
});
const none: Table = { columns: [], rows: [] };
const byID: Match = { by: 'column', name: 'id' };

function changes(left: Table, right: Table, match = byID) {
  return compareRows(left, right, comparedColumns(left, right), match).changes;
}

/** What each column became: `b:added`, those without a change are left out. */
function schemaChanges(left: Table, right: Table) {
  const changed = comparedColumns(left, right).filter(({ change }) => change);
  return changed.map(({ name, change, type, typeBefore }) =>
    change === 'retyped' ? `${name}:${typeBefore}>${type}` : `${name}:${change}`,
  );
}

test('columns are added, removed or of another type; another order is no change', () => {
  const left = table('id:int32 n:int32 old:string');
  const right = table('new:string n:int64 id:int32');
  assert.deepEqual(schemaChanges(left, right), ['new:added', 'n:int32>int64', 'old:removed']);
  assert.deepEqual(schemaChanges(table('a b'), table('b a')), []);
  assert.deepEqual(schemaChanges(none, table('a')), []);
  assert.deepEqual(schemaChanges(table('a'), none), []);
});

test('the changed rows come first, in the order of the right table', () => {
  const left = table('id n', '1 a', '2 b', '3 c', '4 d');
  const right = table('id n', '5 e', '4 x', '3 c', '2 y');
  assert.deepEqual(changes(left, right), [
    { type: 'changed', left: 3, right: 1 },
    { type: 'changed', left: 1, right: 3 },
    { type: 'added', right: 0 },
    { type: 'removed', left: 0 },
  ]);
});

test('a new, a removed or a moved column changes no row', () => {
  const left = table('id n old', '1 a x', '2 b x');
  const right = table('new n id', 'z a 1', 'z c 2');
  const columns = comparedColumns(left, right);
  for (const match of [byID, { by: 'position' }] as Match[])
    assert.deepEqual(compareRows(left, right, columns, match), {
      changes: [{ type: 'changed', left: 1, right: 1 }],
      cells: [0, 1, 0, 0],
    });
  assert.deepEqual(changes(left, right, { by: 'row' }), [
    { type: 'added', right: 1 },
    { type: 'removed', left: 1 },
  ]);
});

test('rows are matched by their position', () => {
  const [left, right] = [table('n', 'a', 'b', 'c'), table('n', 'a', 'x')];
  assert.deepEqual(changes(left, right, { by: 'position' }), [
    { type: 'changed', left: 1, right: 1 },
    { type: 'removed', left: 2 },
  ]);
  assert.deepEqual(changes(right, left, { by: 'position' })[1], { type: 'added', right: 2 });
});

test('whole rows are compared as often as they are there', () => {
  const [left, right] = [table('n', 'a', 'a', 'b'), table('n', 'a', 'c')];
  assert.deepEqual(changes(left, right, { by: 'row' }), [
    { type: 'added', right: 1 },
    { type: 'removed', left: 1 },
    { type: 'removed', left: 2 },
  ]);
});

test('of rows that share a key, equal ones are the same row, and the others follow in their order', () => {
  const left = table('id n', '1 a', '1 b', '1 c', '2 d');
  const right = table('id n', '1 c', '1 x', '2 d');
  assert.deepEqual(changes(left, right), [
    { type: 'changed', left: 0, right: 1 },
    { type: 'removed', left: 1 },
  ]);
});

test('values of a retyped column are compared by value', () => {
  const retyped = (before: string, after: string, type: string, typeAfter: string) =>
    changes(table(`id n:${type}`, ['1', before]), table(`id n:${typeAfter}`, ['1', after])).length;
  const decimals = ['decimal(9,2)', 'decimal(9,3)'] as const;
  assert.equal(retyped('7', '7', 'int32', 'int64'), 0);
  assert.equal(retyped('7', '7', 'int32', 'string'), 0);
  assert.equal(retyped('1.50', '1.500', ...decimals), 0);
  assert.equal(retyped('100', '100.000', 'decimal(9,0)', 'decimal(9,3)'), 0);
  assert.equal(retyped('1.50', '1.501', ...decimals), 1);
  assert.equal(retyped('0.1', String(Math.fround(0.1)), 'float', 'double'), 0);
  assert.equal(retyped('0.1', '0.1', 'float', 'double'), 1);
  assert.equal(retyped('10.0.0.10', '10.0.0.1', 'enum', 'string'), 1);
  const times = ['timestamp[us]', 'timestamp[ns]'] as const;
  assert.equal(retyped('2026-01-01T00:00:00.100000', '2026-01-01T00:00:00.100000000', ...times), 0);
  assert.equal(retyped('2026-01-01T00:00:00.100000', '2026-01-01T00:00:00.100000001', ...times), 1);
});

test('a retyped number is one value, however it is written', () => {
  const retyped = (before: string, after: string) =>
    changes(table('id n:double', ['1', before]), table('id n:decimal(38,9)', ['1', after])).length;
  for (const [before, after] of [
    ['1e+21', '1000000000000000000000'],
    ['1.25e+21', '1250000000000000000000.000000000'],
    ['1.5e-7', '0.000000150'],
    ['-1e-7', '-0.0000001'],
    ['-0', '0'],
    ['-0.0', '0.000000000'],
  ] as const)
    assert.equal(retyped(before, after), 0, before);
  assert.equal(retyped('1e+21', '1000000000000000000001'), 1);
  assert.equal(retyped('1e-7', '0.000001'), 1);
  assert.equal(retyped('-1', '1'), 1);
});

test('values of the same type are compared as they are stored', () => {
  const cells = (before: string | undefined, after: string | undefined) =>
    changes(table('id n:double', ['1', before]), table('id n:double', ['1', after])).length;
  assert.equal(cells('NaN', 'NaN'), 0);
  assert.equal(cells('0', '-0'), 1);
  assert.equal(cells('1.5', '1.50'), 1);
  assert.equal(cells(undefined, undefined), 0);
  assert.equal(cells(undefined, ''), 1);
  assert.equal(cells('null', undefined), 1);
});

test('the best key is unique on both sides, and most of its values are kept', () => {
  const left = table('run id kind', 'a 1 x', 'b 2 x');
  const right = table('run id kind', 'c 1 x', 'd 2 x');
  assert.deepEqual(keysOf(left, right, comparedColumns(left, right)), [
    { name: 'id', isUnique: true },
    { name: 'run', isUnique: true },
    { name: 'kind', isUnique: false },
  ]);
  // A column that only one side has names no rows.
  const other = table('id other', '1 a');
  const keys = keysOf(left, other, comparedColumns(left, other));
  assert.deepEqual(keys, [{ name: 'id', isUnique: true }]);
});

test('columns of one name are each a column of their own', () => {
  const names = ['a', 'b', 'a', 'a', 'a (2)'];
  assert.deepEqual(distinct(names), ['a', 'b', 'a (2)', 'a (3)', 'a (2) (2)']);
  assert.deepEqual(distinct(['__proto__', 'constructor']), ['__proto__', 'constructor']);
});

test('many equal rows are compared in a moment', { timeout: 5000 }, () => {
  const rows = (count: number) => ({ ...table('id'), rows: Array<Row>(count).fill(['a']) });
  for (const match of [byID, { by: 'row' }] as Match[])
    assert.equal(changes(rows(200_000), rows(200_001), match).length, 1);
});
