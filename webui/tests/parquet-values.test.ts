import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SchemaElement, SchemaTree } from 'hyparquet';
import { factsOf } from '../src/parts/parquet/statistics';
import { type Type, textOf, typeOf } from '../src/parts/parquet/types';
import { type Raw, timestampText } from '../src/parts/parquet/values';

const ALL = { characters: 4_000, bytes: 8 };

function tree(element: Partial<SchemaElement>, children: SchemaTree[] = []): SchemaTree {
  return { element: { name: 'a', ...element }, children, count: 1, path: [] };
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], pair => Number.parseInt(pair, 16));
}

const fixed = (type_length: number, logical_type?: SchemaElement['logical_type']) =>
  ({ type: 'FIXED_LEN_BYTE_ARRAY', type_length, logical_type }) as const;
const decimal = (precision: number, scale: number) =>
  ({ type: 'DECIMAL', precision, scale }) as const;
const unit = (type: 'TIME' | 'TIMESTAMP', each: 'MILLIS' | 'MICROS' | 'NANOS', isUTC = false) =>
  ({ type, unit: each, isAdjustedToUTC: isUTC }) as const;

/** What is stored, what the head of the column says, and what the cell shows. */
const VALUES: [Partial<SchemaElement>, string, [Raw, string][]][] = [
  [
    { type: 'INT64', logical_type: decimal(18, 2) },
    'decimal(18,2)',
    [
      [12_345_678_999n, '123456789.99'],
      [150n, '1.50'],
      [-5n, '-0.05'],
      [0n, '0.00'],
    ],
  ],
  [{ type: 'INT32', converted_type: 'DECIMAL', precision: 9 }, 'decimal(9,0)', [[-7, '-7']]],
  [
    fixed(16, decimal(38, 18)),
    'decimal(38,18)',
    [
      [bytes('0000000000000000112210f47de98115'), '1.234567890123456789'],
      [bytes('ffffffffffffffffffffffffffffffff'), '-0.000000000000000001'],
    ],
  ],
  [
    { type: 'BYTE_ARRAY', logical_type: decimal(9, 9_999) },
    'decimal(9,9999)',
    [[bytes('80'), '-128E-9999']],
  ],
  [
    { type: 'INT64', logical_type: unit('TIMESTAMP', 'NANOS', true) },
    'timestamp[ns, UTC]',
    [
      [1n, '1970-01-01T00:00:00.000000001Z'],
      [-1n, '1969-12-31T23:59:59.999999999Z'],
    ],
  ],
  [
    { type: 'INT64', logical_type: unit('TIMESTAMP', 'MICROS') },
    'timestamp[us]',
    [
      [1_769_862_896_123_456n, '2026-01-31T12:34:56.123456'],
      [2n ** 63n - 1n, '+294247-01-10T04:00:54.775807'],
      [-(2n ** 63n), '-290308-12-21T19:59:05.224192'],
    ],
  ],
  [
    { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
    'timestamp[ms, UTC]',
    [[0n, '1970-01-01T00:00:00Z']],
  ],
  [{ type: 'INT96' }, 'timestamp[ns]', [[1n, '1970-01-01T00:00:00.000000001']]],
  [
    { type: 'INT32', converted_type: 'DATE' },
    'date',
    [
      [20_484, '2026-01-31'],
      [-135_081, '1600-02-29'],
      [-719_528, '0000-01-01'],
    ],
  ],
  [
    { type: 'INT64', logical_type: unit('TIME', 'MICROS') },
    'time[us]',
    [
      [3_723_000_000n, '01:02:03'],
      [1n, '00:00:00.000001'],
    ],
  ],
  [{ type: 'INT32', converted_type: 'TIME_MILLIS' }, 'time[ms]', [[3_723_004, '01:02:03.004']]],
  [{ type: 'INT64', converted_type: 'UINT_64' }, 'uint64', [[-1n, '18446744073709551615']]],
  [{ type: 'INT32', converted_type: 'UINT_32' }, 'uint32', [[-1, '4294967295']]],
  [{ type: 'INT64' }, 'int64', [[-(2n ** 63n), '-9223372036854775808']]],
  [
    fixed(2, { type: 'FLOAT16' }),
    'float16',
    [
      [bytes('0038'), '0.5'],
      [bytes('00fc'), '-Infinity'],
      [bytes('0100'), '5.960464477539063e-8'],
    ],
  ],
  [
    { type: 'FLOAT' },
    'float',
    [
      [Math.fround(0.1), '0.1'],
      [-0, '-0'],
      [Math.fround(16_777_217), '16777216'],
    ],
  ],
  [
    { type: 'DOUBLE' },
    'double',
    [
      [0.1 + 0.2, '0.30000000000000004'],
      [Number.NaN, 'NaN'],
    ],
  ],
  [{ type: 'BOOLEAN' }, 'boolean', [[false, 'false']]],
  [
    { type: 'BYTE_ARRAY' },
    'binary',
    [
      [bytes('00ff'), '00ff'],
      [bytes('61'.repeat(1_000)), '6161616161616161… (1,000 bytes)'],
    ],
  ],
  [fixed(2), 'binary(2)', [[bytes('00ff'), '00ff']]],
  [
    fixed(16, { type: 'UUID' }),
    'uuid',
    [[bytes('00112233445566778899aabbccddeeff'), '00112233-4455-6677-8899-aabbccddeeff']],
  ],
  [
    { ...fixed(12), converted_type: 'INTERVAL' },
    'interval',
    [[bytes('01000000020000000a000000'), 'P1M2DT0.010S']],
  ],
  [
    { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    'string',
    [
      ['é', 'é'],
      [bytes('c3a9'), 'é'],
    ],
  ],
  // A logical type on what cannot hold it.
  [{ type: 'INT32', logical_type: { type: 'UUID' } }, 'int32', [[1, '1']]],
  [fixed(4, { type: 'FLOAT16' }), 'binary(4)', [[bytes('00000000'), '00000000']]],
];

test('a value reads by its logical type, with all its digits', () => {
  for (const [element, name, values] of VALUES) {
    const type = typeOf(tree(element));
    assert.equal(type.name, name);
    for (const [raw, text] of values) assert.equal(textOf(type, raw, ALL), text, name);
    assert.equal(textOf(type, null, ALL), undefined);
  }
});

test('days are those of the calendar', () => {
  for (let day = -800_000; day < 800_000; day += 997) {
    const text = new Date(day * 86_400_000).toISOString();
    if (/^\d/.test(text))
      assert.equal(
        `${timestampText(BigInt(day) * 86_400_000n, 'MILLIS', true)}`,
        text.replace('.000', ''),
      );
  }
});

const price = tree({ name: 'price', type: 'INT64', logical_type: decimal(18, 2) });
const day = tree({ name: 'day', type: 'INT32', converted_type: 'DATE' });
const repeated = (...children: SchemaTree[]) => tree({ repetition_type: 'REPEATED' }, children);

/** What is read, as the reader gives the fields of a struct: by position. */
const NESTED: [SchemaTree, string, unknown, string][] = [
  [
    tree({ converted_type: 'LIST' }, [repeated(price)]),
    'list<decimal(18,2)>',
    [150n, null],
    '[1.50,null]',
  ],
  [
    tree({}, [price, day]),
    'struct<price: decimal(18,2), day: date>',
    [150n, 0],
    '{"price":1.50,"day":"1970-01-01"}',
  ],
  [
    tree({ converted_type: 'MAP' }, [repeated(day, price)]),
    'map<date, decimal(18,2)>',
    [
      [
        [1, 150n],
        [0, null],
      ],
    ],
    '{"1970-01-02":1.50,"1970-01-01":null}',
  ],
  [tree({ type: 'INT32', repetition_type: 'REPEATED' }), 'list<int32>', [1, 2], '[1,2]'],
];

test('a nested value has the same texts, as JSON', () => {
  for (const [schema, name, value, text] of NESTED) {
    const type = typeOf(schema);
    assert.equal(type.name, name);
    assert.equal(textOf(type, value, ALL), text);
    assert.equal(textOf(type, undefined, ALL), undefined);
  }
  const [schema] = NESTED[0] ?? [];
  const long = textOf(typeOf(schema as SchemaTree), new Array(9_999).fill(150n), ALL);
  assert.equal(long?.length, ALL.characters + 1);
});

function endsOf(type: Type, ...groups: [Raw, Raw][]) {
  const statistics = groups.map(([min, max]) => ({ isEmpty: false, nulls: 1n, min, max }));
  const { min, max, nulls } = factsOf({ type, statistics }, ALL);
  return [min, max, nulls];
}

test('the least and the greatest are those of the values, not of their texts or bytes', () => {
  const amount = typeOf(tree(fixed(1, decimal(2, 1))));
  assert.deepEqual(endsOf(amount, [bytes('05'), bytes('10')], [bytes('ff'), bytes('06')]), [
    '-0.1',
    '1.6',
    2,
  ]);
  const unsigned = typeOf(tree({ type: 'INT64', converted_type: 'UINT_64' }));
  assert.deepEqual(endsOf(unsigned, [9n, -1n], [10n, 11n]), ['9', '18446744073709551615', 2]);
  const text = typeOf(tree({ type: 'BYTE_ARRAY', converted_type: 'UTF8' }));
  assert.deepEqual(endsOf(text, [bytes('62'), bytes('c3a9')], [bytes('61'), bytes('7a')]), [
    'a',
    'é',
    2,
  ]);
});

test('a row group of nulls has no least value, and one that does not tell it leaves it open', () => {
  const type = typeOf(day);
  const told = { isEmpty: false, nulls: 0n, min: 0, max: 1 };
  const facts = (isEmpty: boolean) =>
    factsOf({ type, statistics: [told, { isEmpty, nulls: 3n }] }, ALL);
  assert.deepEqual([facts(true).min, facts(true).nulls], ['1970-01-01', 3]);
  assert.equal(facts(false).min, undefined);
});
