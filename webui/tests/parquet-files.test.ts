import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openParquet, readRows } from '../src/parts/parquet/columns';
import { factsOf } from '../src/parts/parquet/statistics';
import { textOf } from '../src/parts/parquet/types';

const MOST = { characters: 4_000, bytes: 100 };

function file(name: string): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = readFileSync(`tests/files/${name}.parquet`);
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}

/** The columns that the files have: their names, their types, their three cells. */
const COLUMNS: [name: string, type: string, cells: string[]][] = [
  ['amount', 'decimal(18,2)', ['123456789.99', '1.50', 'null']],
  ['wide', 'decimal(38,18)', ['1.234567890123456789', '-0.050000000000000000', 'null']],
  ['local', 'timestamp[us]', ['2026-01-31T12:34:56.123456', '0001-01-01T00:00:00', 'null']],
  [
    'instant',
    'timestamp[ns, UTC]',
    ['1970-01-01T00:00:00.000000001Z', '1969-12-31T23:59:59.999999999Z', 'null'],
  ],
  ['day', 'date', ['2026-01-31', '1600-02-29', 'null']],
  ['clock', 'time[ns]', ['01:02:03', '00:00:00.000000001', 'null']],
  ['raw', 'binary', ['00ff', '61', 'null']],
  ['large', 'uint64', ['18446744073709551615', '9007199254740993', 'null']],
  ['half', 'float16', ['0.5', '-2', 'null']],
  ['single', 'float', ['0.1', '-1.5', 'null']],
  ['text', 'string', ['é', '', 'null']],
  ['prices', 'list<decimal(18,2)>', ['[1.50,null]', '[]', 'null']],
  [
    'event',
    'struct<at: timestamp[us], id: int64>',
    [
      '{"at":"2026-01-31T12:34:56.123456","id":1152921504606846977}',
      '{"at":null,"id":null}',
      'null',
    ],
  ],
  [
    'id',
    'uuid',
    ['00000000-0000-0000-0000-000000000001', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'null'],
  ],
  ['rates', 'map<date, decimal(9,2)>', ['{"2026-01-31":0.10}', '{}', 'null']],
  ['old', 'timestamp[ns]', ['2026-01-31T12:34:56.123456000', '1969-12-31T00:00:00', 'null']],
];

/** How each file was written; the first of its columns, and how many. */
const FILES: [name: string, from: number, count: number][] = [
  ['polars', 0, 13], // by Polars, with zstd
  ['arrow', 0, 15], // by Arrow, with snappy and small decimals as integers
  ['plain', 0, 15], // by Arrow, without dictionaries, in pages of version 2, a row group for each row
  ['int96', 15, 1], // by Arrow as Spark and Impala did, with times of 96 bits
];

for (const [name, from, count] of FILES)
  test(`no digit of ${name}.parquet is lost, and no time zone is made up`, async () => {
    const content = file(name);
    const opened = await openParquet(content);
    const rows = await readRows(content, opened, {});
    const shown = opened.columns.map(({ name, type }, at) => {
      const cells = rows.map(row => textOf(type, row[at], MOST) ?? 'null');
      return [name, type.name, cells];
    });
    assert.deepEqual(shown, COLUMNS.slice(from, from + count));
  });

const ENDS: [column: string, least: string, greatest: string][] = [
  ['amount', '1.50', '123456789.99'],
  ['wide', '-0.050000000000000000', '1.234567890123456789'],
  ['instant', '1969-12-31T23:59:59.999999999Z', '1970-01-01T00:00:00.000000001Z'],
  ['day', '1600-02-29', '2026-01-31'],
  ['large', '9007199254740993', '18446744073709551615'],
];

for (const name of ['polars', 'plain'])
  test(`the ends of the columns of ${name}.parquet are exact`, async () => {
    const { columns } = await openParquet(file(name));
    for (const [column, least, greatest] of ENDS) {
      const found = columns.find(each => each.name === column);
      assert.ok(found);
      const { nulls, min, max } = factsOf(found, MOST);
      assert.deepEqual([nulls, min, max], [1, least, greatest], column);
    }
  });
