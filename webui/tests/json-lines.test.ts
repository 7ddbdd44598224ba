import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellOf, parseExactly, readLines } from '../src/parts/json-lines';

test('any line may bring a new column; its cell is missing in the others', () => {
  const { keys, rows, wrong } = readLines('{"a": 1, "b": null}\n{"b": 2, "c": [3]}\n');
  assert.deepEqual(keys, ['a', 'b', 'c']);
  assert.deepEqual(
    rows.map(row => keys.map(key => cellOf(row, key))),
    [
      [1, null, undefined],
      [undefined, 2, [3]],
    ],
  );
  assert.equal(wrong, 0);
});

test('values that are no objects are in a column of their own', () => {
  assert.deepEqual(readLines('1\n[2]\nnull\n"x"'), {
    keys: ['value'],
    rows: [{ value: 1 }, { value: [2] }, { value: null }, { value: 'x' }],
    wrong: 0,
  });
});

test('empty lines are passed over; those that are not JSON are counted', () => {
  assert.deepEqual(readLines('\n  \r\n{"a": 1}\r\n{"a":\nb\n'), {
    keys: ['a'],
    rows: [{ a: 1 }],
    wrong: 2,
  });
  assert.deepEqual(readLines(''), { keys: [], rows: [], wrong: 0 });
});

test('integers that a number would round keep their digits, nested ones as text', () => {
  const line =
    '{"id": -9007199254740993, "\\"12345678901234567": "12345678901234567", "n": 1234567890123456, "f": 1.5000000000000000, "o": {"k": [18446744073709551615, 1]}}';
  assert.deepEqual(readLines(`${line}\n9007199254740993\n01234567890123456789`), {
    keys: ['id', '"12345678901234567', 'n', 'f', 'o', 'value'],
    rows: [
      {
        id: -9007199254740993n,
        '"12345678901234567': '12345678901234567',
        n: 1234567890123456,
        f: 1.5,
        o: '{"k":[18446744073709551615,1]}',
      },
      { value: 9007199254740993n },
    ],
    wrong: 1,
  });
});

test('a key that objects inherit is a key as any other', () => {
  const { keys, rows } = readLines('{"constructor": 1, "__proto__": {"x": 2}}\n{}');
  assert.deepEqual(keys, ['constructor', '__proto__']);
  assert.deepEqual(
    rows.map(row => keys.map(key => cellOf(row, key))),
    [
      [1, { x: 2 }],
      [undefined, undefined],
    ],
  );
});

test('integers keep their digits wherever they are in JSON', () => {
  assert.deepEqual(
    parseExactly(
      '{"a": [9007199254740993, -1152921504606846977], "b": {"c": 1}, "d": "9007199254740993"}',
    ),
    { a: [9007199254740993n, -1152921504606846977n], b: { c: 1 }, d: '9007199254740993' },
  );
  assert.equal(parseExactly('1152921504606846977'), 1152921504606846977n);
  assert.throws(() => parseExactly('[9007199254740993'), SyntaxError);
});
