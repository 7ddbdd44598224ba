import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Arrangement,
  areNumbers,
  arrange,
  compareNumbers,
  mistakeOf,
} from '../src/parts/table-model';

type Row = readonly unknown[];
const read = (row: Row, at: number) => row[at];
const COLUMNS = [{ name: 'amount', isNumber: true }, { name: 'city' }];
const ROWS: Row[] = [
  ['10', 'Ghent'],
  [null, 'Oslo'],
  ['9.5', ''],
  ['-3', 'Bergen > 5'],
];
const places = (arrangement: Arrangement) => arrange(COLUMNS, ROWS, arrangement, read);

test('numbers sort by value, texts by their characters, and missing values are last', () => {
  assert.deepEqual(places({}), [0, 1, 2, 3]);
  assert.deepEqual(places({ sort: 'amount' }), [3, 2, 0, 1]);
  assert.deepEqual(places({ sort: 'amount', isDescending: true }), [0, 2, 3, 1]);
  assert.deepEqual(places({ sort: 'city' }), [3, 0, 1, 2]);
  assert.deepEqual(places({ sort: 'no such column' }), [0, 1, 2, 3]);
});

test('equal rows keep their order', () => {
  const rows = [
    ['1', 'b'],
    ['1', 'a'],
    ['0', 'c'],
  ];
  assert.deepEqual(arrange(COLUMNS, rows, { sort: 'amount', isDescending: true }, read), [0, 1, 2]);
});

test('a filter is a text of any column, or a condition on one', () => {
  const passing: [string, number[]][] = [
    ['', [0, 1, 2, 3]],
    ['OSLO', [1]],
    ['amount > 9', [0, 2]],
    ['amount>=10', [0]],
    ['amount = 9.50', [2]],
    ['amount != 10', [2, 3]],
    ['amount = null', [1]],
    ['city != null', [0, 1, 3]],
    ['city < Ghent', [3]],
    ['city = oslo', []],
    ['amount >', [0, 2, 3]],
    ['amount > -5 and city = Ghent', []],
    ['amount < ten', []],
    ['amount != ten', [0, 2, 3]],
    // No column has this name, so it is a text.
    ['Bergen > 5', [3]],
    ['null', []],
  ];
  for (const [filter, expected] of passing) assert.deepEqual(places({ filter }), expected, filter);
});

test('a filter that is no condition says why', () => {
  assert.match(mistakeOf(COLUMNS, 'amout > 5') ?? '', /no column amout/);
  assert.match(mistakeOf(COLUMNS, 'amount < ten') ?? '', /amount has numbers, and ten is none/);
  for (const filter of ['Oslo', 'amount > 5', 'city < Ghent', 'amount != ten', 'amount >'])
    assert.equal(mistakeOf(COLUMNS, filter), undefined);
});

test('a row of several versions passes with one of them, and sorts by the first', () => {
  const rows = [
    { old: ['1', 'x'], now: ['5', 'y'] },
    { old: ['9', 'y'], now: ['2', 'y'] },
  ];
  const arranged = (arrangement: Arrangement) =>
    arrange(
      COLUMNS,
      rows,
      arrangement,
      (row, at) => row.now[at],
      (row, at) => row.old[at],
    );
  assert.deepEqual(arranged({ filter: 'x' }), [0]);
  assert.deepEqual(arranged({ filter: 'amount > 4', sort: 'amount' }), [1, 0]);
});

test('numbers are compared by all of their digits', () => {
  const order = [
    '-Infinity',
    '-9007199254740993',
    '-9007199254740992',
    '-0.05',
    '0',
    '1e3',
    '9007199254740993',
    '1e300',
    'Infinity',
    'NaN',
  ];
  for (const [at, left] of order.entries())
    for (const [place, right] of order.entries())
      assert.equal(compareNumbers(left, right), Math.sign(at - place), `${left} ${right}`);
  assert.equal(compareNumbers('1.10', '1.1'), 0);
  assert.ok(compareNumbers('123456789012345678.10', '123456789012345678.2') < 0);
});

test('a column is of numbers if all that it holds are', () => {
  for (const numbers of [
    [1, 2.5, 2n ** 63n],
    ['1', '-2e3', ' .5 ', ''],
    [null, 0],
  ])
    assert.ok(areNumbers(numbers), String(numbers));
  for (const others of [[], [null], ['1', 'x'], [true], ['0x10'], [[1]], ['2026-01-31'], ['NaN']])
    assert.ok(!areNumbers(others), JSON.stringify(others));
});
