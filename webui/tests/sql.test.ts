import './server'; // before the client is made

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../src/api/client';
import { runQuery, type Tables } from '../src/parts/sql/engine';
import { csvOf, hasFormulas, jsonOf } from '../src/parts/sql/export';
import {
  type File,
  inOrder,
  isOut,
  linesFiles,
  rowsOf,
  rulesOut,
  textFiles,
} from '../src/parts/sql/files';
import { dateTrunc, median, stddev } from '../src/parts/sql/functions';
import { pointed, type Span } from '../src/parts/sql/mistakes';
import { apart, beginOf, formatOf, hiveOf, isPart, placeOf, quoted } from '../src/parts/sql/names';
import type { Reading } from '../src/parts/sql/program';
import { Lake, placesOf } from '../src/parts/sql/tables';
import {
  columnOf,
  decimalOf,
  type Holds,
  holdsOfTexts,
  integerOf,
  type SqlValue,
} from '../src/parts/sql/values';
import { json, serve } from './server';

const TRIPS: SqlValue[][] = Array.from({ length: 50_000 }, (_, id) => [
  id,
  id % 7 ? id % 4 : null,
  id / 2,
  `2026-01-0${1 + (id % 9)}`,
]);
const TABLES: Record<
  string,
  { columns: [name: string, holds: Holds, type?: string][]; rows: SqlValue[][] }
> = {
  'trips.parquet': {
    columns: [
      ['id', 'integers'],
      ['zone', 'integers'],
      ['fare', 'fractions'],
      ['day', 'others'],
    ],
    rows: TRIPS,
  },
  'empty.csv': { columns: [], rows: [] },
  'sqlite_a.csv': { columns: [['id', 'integers']], rows: [[1]] },
  "it's.csv": { columns: [['id', 'integers']], rows: [[1]] },
  'typed.parquet': {
    columns: [
      ['n', 'integers'],
      ['f', 'fractions'],
      ['flag', 'booleans'],
      ['zip', 'others'],
      ['at', 'others', 'timestamp[us]'],
      ['day', 'others', 'date'],
      ['price', 'decimals', 'decimal(18,2)'],
      ['hash', 'integers', 'uint64'],
    ],
    rows: [
      [10, 1.5, 1, '00501', '2026-01-01 00:00:00', '2026-01-01', 10.5, 5],
      [
        9,
        Number.NaN,
        0,
        '10001',
        '2026-01-01 12:00:00',
        '2026-01-02',
        '1234567890123456.78',
        '18446744073709551615',
      ],
    ],
  },
  'zones.csv': {
    columns: [
      ['id', 'integers'],
      ['name', 'others'],
    ],
    rows: [
      [1, 'Airport'],
      [2, 'avenue'],
      [3, null],
    ],
  },
};

/** Answer with the tables above, and keep what was asked of them. */
function lake() {
  const readings: Record<string, Reading> = {};
  const progress = { bytes: 0, rows: 0 };
  const tables: Tables = {
    progress,
    open: async name => {
      const table = TABLES[name];
      if (!table) throw new Failure(`no table ${name}`, 404);
      const columns = table.columns.map(([name, holds, type]) => {
        const column = columnOf(name, holds);
        return { ...column, type: type ?? column.type };
      });
      const cell = (row: number, column: number) => table.rows[row]?.[column] ?? null;
      const part = { rows: table.rows.length, ends: () => undefined, read: async () => cell };
      return {
        columns,
        rows: reading => {
          readings[name] = reading;
          const places = columns.map((_, at) => at);
          return rowsOf({ columns, parts: [part] }, reading, places, [], rows => {
            progress.rows += rows;
          });
        },
      };
    },
  };
  return { tables, readings, progress };
}

async function rows(query: string) {
  return (await runQuery(query, lake().tables)).rows;
}

/** Each of these is in the table of docs/web.md. */
const ANSWERS: [query: string, rows: (string | null)[][]][] = [
  ["SELECT name FROM 'zones.csv' WHERE name LIKE 'A%'", [['Airport']]],
  ["SELECT id FROM 'zones.csv' WHERE NOT (name = 'Airport')", [['2']]],
  [
    "SELECT z.name, count(*) FROM 'trips.parquet' t JOIN 'zones.csv' z ON t.zone = z.id WHERE t.id < 8 GROUP BY 1 ORDER BY 2 DESC, 1",
    [
      ['Airport', '2'],
      ['avenue', '2'],
      [null, '1'],
    ],
  ],
  ["SELECT count(*) AS n FROM 'trips.parquet'", [['50000']]],
  ["SELECT 1 + count(*) FROM 'zones.csv'", [['4']]],
  ["SELECT count(*) FROM 'zones.csv' a, 'zones.csv' b", [['9']]],
  ["SELECT count(*) FROM 'zones.csv' a FULL JOIN 'zones.csv' b ON a.id = b.id + 1", [['4']]],
  [
    "SELECT id, rank() OVER (ORDER BY zone DESC NULLS LAST) FROM 'trips.parquet' WHERE id < 4 ORDER BY id",
    [
      ['0', '4'],
      ['1', '3'],
      ['2', '2'],
      ['3', '1'],
    ],
  ],
  [
    "SELECT id, sum(fare) OVER (ORDER BY id ROWS 1 PRECEDING) FROM 'trips.parquet' WHERE id < 3",
    [
      ['0', '0'],
      ['1', '0.5'],
      ['2', '1.5'],
    ],
  ],
  [
    "WITH big AS (SELECT * FROM 'trips.parquet' WHERE fare > 24999) SELECT min(id), max(id) FROM big",
    [['49999', '49999']],
  ],
  [
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 4) SELECT sum(i) FROM n',
    [['10']],
  ],
  ["SELECT id FROM 'zones.csv' EXCEPT SELECT zone FROM 'trips.parquet' WHERE id < 3", [['3']]],
  [
    "SELECT name FROM 'zones.csv' z WHERE EXISTS (SELECT 1 FROM 'trips.parquet' t WHERE t.zone = z.id AND t.id < 2)",
    [['Airport']],
  ],
  [
    "SELECT DISTINCT CASE WHEN fare > 1 THEN 'high' ELSE 'low' END FROM 'trips.parquet' WHERE id < 5 ORDER BY 1",
    [['high'], ['low']],
  ],
  [
    "SELECT sum(fare) FILTER (WHERE id > 1), count(DISTINCT zone) FROM 'trips.parquet' WHERE id < 4",
    [['2.5', '3']],
  ],
  [
    "SELECT CAST('12' AS INTEGER) + 1, coalesce(NULL, 'x'), 1 IN (2, NULL), 3 BETWEEN 1 AND 5",
    [['13', 'x', null, '1']],
  ],
  [
    "SELECT strftime('%Y', day), date(day, '+1 month'), date_trunc('month', day) FROM 'trips.parquet' LIMIT 1",
    [['2026', '2026-02-01', '2026-01-01']],
  ],
  ['SELECT 7 / 2, 7 / 2.0, 9007199254740993 + 1', [['3', '3.5', '9007199254740994']]],
  [`SELECT json_extract('{"a":[1,2]}', '$.a[1]'), '{"b":"x"}' ->> 'b'`, [['2', 'x']]],
  [
    "SELECT median(id), round(stddev(id), 3), 'abc' REGEXP '^a' FROM 'zones.csv'",
    [['2', '1', '1']],
  ],
  ["SELECT count(*) FROM 'trips.parquet' WHERE id >= CAST(2.7 AS INTEGER)", [['49998']]],
  ["SELECT count(*) FROM (SELECT 1 FROM 'trips.parquet' LIMIT -1)", [['50000']]],
  ["SELECT id FROM 'trips.parquet' LIMIT -1 OFFSET 49999", [['49999']]],
  [
    "SELECT id FROM 'trips.parquet' WHERE id IN (1, 45000) UNION ALL SELECT -1 LIMIT 2",
    [['1'], ['45000']],
  ],
  ["SELECT rowid FROM 'trips.parquet' WHERE id >= 49999", [['50000']]],
  [`SELECT "id" AS "an ""id"" b", '"id"' FROM "zones.csv" LIMIT 1`, [['1', '"id"']]],
  [
    "VALUES (1, 'a'), (2, NULL)",
    [
      ['1', 'a'],
      ['2', null],
    ],
  ],
];

for (const [query, expected] of ANSWERS)
  test(`answers ${query}`, async () => assert.deepEqual(await rows(query), expected));

test('a fraction that is whole divides as a fraction', async () =>
  assert.deepEqual(await rows("SELECT fare / 2 FROM 'trips.parquet' WHERE id = 2"), [['0.5']]));

const COMPARED: [condition: string, expected: string[] | RegExp][] = [
  ["n = '10'", ['10']],
  ["n > '9'", ['10']],
  ["n IN ('7', '8', '9')", ['9']],
  ["n = 'ten'", /n \(integer\) is a number, and is compared with 'ten'/],
  ["n IN ('8', '9', '')", /is a number/],
  ['f < 9', ['10']],
  ['f > 1', ['10']],
  ['f IS NULL', ['9']],
  ['flag', ['10']],
  ["flag = 'true'", /1 or 0 for a boolean/],
  [
    'zip = 501',
    /zip \(string\) is a text, and is compared with 501\. Write what the text says in quotes/,
  ],
  ['zip IN (1, 2, 501)', /zip \(string\) is a text/],
  ['zip > n + 1', /compared with a number/],
  ['CAST(zip AS REAL) = 501', ['10']],
  ["at = '2026-01-01'", /has the form '2026-01-31 12:34:56'.*A whole day is at >=/],
  ["at <= '2026-01-01'", /has the form/],
  ["at BETWEEN '2026-01-01' AND '2026-01-02'", /has the form/],
  ["at = '2026-01-01T12:00:00Z'", /has the form/],
  ["at IN ('2026-01-01', '2026-01-02', '2026-01-03')", /has the form/],
  ["at >= '2026-01-01' AND at < '2026-01-02'", ['10', '9']],
  ["'2026-01-01 12:00:00' = at", ['9']],
  ["day = '2026-01-01'", ['10']],
  ["day = '2026-01-01 00:00:00'", /has the form '2026-01-31'/],
  ['day > 20260101', /day \(date\) is a text/],
  ['price = 10.5', ['10']],
  ["price = '10.50'", /too long/],
  ["price = '1234567890123456.78'", ['9']],
  ['price = 1234567890123456.78', /too long/],
  ['hash = 5', ['10']],
  ["hash = '18446744073709551615'", ['9']],
  ['hash = 18446744073709551615', /too long/],
  ["strftime('%Y', day) = 2026", /is a text/],
  ["n + 1 = '11'", /is a number/],
];

for (const [condition, expected] of COMPARED)
  test(`answers or refuses ${condition}`, async () => {
    const found = rows(`SELECT n FROM 'typed.parquet' WHERE ${condition}`);
    if (expected instanceof RegExp) await assert.rejects(found, expected);
    else
      assert.deepEqual(
        await found,
        expected.map(value => [value]),
      );
  });

test('comparisons of joined, grouped and nested tables are checked as well', async () => {
  for (const query of [
    "SELECT 1 FROM 'typed.parquet' a JOIN 'typed.parquet' b USING (n) WHERE b.zip = 501",
    "WITH all_ AS (SELECT zip, count(*) FROM 'typed.parquet' GROUP BY 1) SELECT 1 FROM all_ WHERE zip = 501",
    "SELECT CASE zip WHEN 501 THEN 1 END FROM 'typed.parquet'",
  ])
    await assert.rejects(rows(query), /is a text/);
});

const OPERANDS: [query: string, expected: string | RegExp][] = [
  ["SELECT avg(zip) FROM 'typed.parquet'", /zip \(string\) is a text, and is used as a number/],
  ["SELECT zip * 2 FROM 'typed.parquet'", /used as a number/],
  ["SELECT n, round(zip) FROM 'typed.parquet'", /used as a number/],
  ["SELECT flag, sum(zip) FROM 'typed.parquet' GROUP BY flag", /zip .* used as a number/],
  ["SELECT sum(z) FROM (SELECT zip z FROM 'typed.parquet' ORDER BY n LIMIT 1)", /used as a number/],
  ["SELECT avg(zip) OVER (PARTITION BY flag) FROM 'typed.parquet'", /used as a number/],
  ["SELECT n FROM 'typed.parquet' WHERE zip", /zip .* is used as true or false.*zip = 'true'/],
  ["SELECT n FROM 'typed.parquet' WHERE NOT zip", /true or false/],
  ["SELECT n FROM 'typed.parquet' WHERE zip IS TRUE", /true or false/],
  ["SELECT n FROM 'typed.parquet' WHERE n = 1 OR zip", /true or false/],
  ["SELECT CASE WHEN zip THEN 1 END FROM 'typed.parquet'", /true or false/],
  ["SELECT count(*) FILTER (WHERE zip) FROM 'typed.parquet'", /true or false/],
  ["SELECT day + 1 FROM 'typed.parquet'", /day \(date\) is a time.*julianday/],
  ["SELECT max(day) - min(day) FROM 'typed.parquet'", /is a time/],
  ["SELECT flag, max(at) - min(at) FROM 'typed.parquet' GROUP BY 1", /is a time/],
  ["SELECT date(at) - date('2026-01-01') FROM 'typed.parquet'", /is a time/],
  ["SELECT CAST(at AS DATE) FROM 'typed.parquet'", /There is no type DATE\. A day is date\(time\)/],
  ["SELECT cast(max(at) AS timestamp(3)) FROM 'typed.parquet'", /no type timestamp/],
  ["SELECT CAST(zip AS boolean) FROM 'typed.parquet'", /no type boolean.*flag = 'true'/],
  ["SELECT max(date) FROM (SELECT day AS date FROM 'typed.parquet')", '2026-01-02'],
  ["SELECT (SELECT 'CAST(1 AS DATE)' AS time)", 'CAST(1 AS DATE)'],
  ["SELECT sum(CAST(zip AS REAL)) FROM 'typed.parquet'", '10502'],
  ["SELECT flag, sum(CAST(zip AS INTEGER)) FROM 'typed.parquet' GROUP BY 1 LIMIT 1", '0'],
  ["SELECT strftime('%Y', day) + 1 FROM 'typed.parquet' LIMIT 1", '2027'],
  ["SELECT julianday(max(day)) - julianday(min(day)) FROM 'typed.parquet'", '1'],
  ["SELECT sum(zip LIKE '1%') FROM 'typed.parquet'", '1'],
  ["SELECT sum(zip = '00501' AND flag) FROM 'typed.parquet'", '1'],
  ["SELECT length(zip) * 2 FROM 'typed.parquet' LIMIT 1", '10'],
  ["SELECT coalesce(nullif(zip, '00501'), 0) + 1 FROM 'typed.parquet' LIMIT 1", '1'],
  ["SELECT sum(price) > 1, sum(hash) > 1 FROM 'typed.parquet'", '1'],
  ["SELECT sum(iif(zip = '00501', n, 0)) FROM 'typed.parquet' ORDER BY zip", '10'],
  [
    "SELECT a.n FROM 'typed.parquet' a LEFT JOIN 'typed.parquet' b ON a.zip = b.day AND a.flag LIMIT 1",
    '10',
  ],
  ["SELECT zip, sum(n) FROM 'typed.parquet' GROUP BY zip ORDER BY zip", '00501'],
  ["SELECT zip, sum(n) OVER (PARTITION BY zip ORDER BY day) FROM 'typed.parquet'", '00501'],
  [
    "SELECT max(zip), sum(n), min(day), avg(f) FROM 'typed.parquet' WHERE flag OR zip IS NULL",
    '00501',
  ],
  [
    "SELECT DISTINCT zip FROM 'typed.parquet' WHERE EXISTS (SELECT 1 FROM 'zones.csv') AND NOT (zip = '2')",
    '00501',
  ],
];

for (const [query, expected] of OPERANDS)
  test(`takes no text for a number: ${query}`, async () => {
    if (expected instanceof RegExp) await assert.rejects(rows(query), expected);
    else assert.equal((await rows(query))[0]?.[0], expected);
  });

test('names in other capitals are refused only where they are another table', async () => {
  assert.deepEqual(await rows("SELECT ZONES.id, 'Zones.csv' FROM 'zones.csv' Zones WHERE ID = 1"), [
    ['1', 'Zones.csv'],
  ]);
});

test('a query reads the columns it needs, and only rows that its conditions may take', async () => {
  const { tables, readings } = lake();
  await runQuery(
    "SELECT sum(fare) FROM 'trips.parquet' WHERE day >= '2026-01-03' AND 100 > id AND fare < 8.5",
    tables,
  );
  assert.deepEqual(readings['trips.parquet'], {
    columns: [0, 2, 3],
    bounds: [
      { column: 3, sign: '>=', value: '2026-01-03' },
      { column: 0, sign: '<', value: 100 },
      { column: 2, sign: '<', value: 8.5 },
    ],
  });
});

for (const condition of [
  "day >= '2026' OR id = 1",
  'id + 1 > 3',
  "day > '2026' COLLATE NOCASE",
  'id IS NULL',
  'NOT id > 3 OR id IS NULL',
  'id >= CAST(2.7 AS INTEGER)',
  'id < CAST(5 AS TEXT)',
  "day < CAST('5' AS BLOB)",
  'id > 3 AND rowid > 1',
])
  test(`no row is ruled out by ${condition}`, async () => {
    const { tables, readings } = lake();
    await runQuery(`SELECT id FROM 'trips.parquet' WHERE ${condition}`, tables);
    assert.deepEqual(readings['trips.parquet']?.bounds, []);
  });

test('rows that an outer join keeps are not ruled out', async () => {
  const query =
    "SELECT z.id, t.id FROM 'zones.csv' z LEFT JOIN 'trips.parquet' t ON t.id = z.id AND t.fare > 1.2";
  assert.deepEqual(await rows(query), [
    ['1', null],
    ['2', null],
    ['3', '3'],
  ]);
});

for (const [query, most] of [
  ["SELECT * FROM 'trips.parquet' LIMIT 10", 20_000],
  ["SELECT id FROM 'trips.parquet' WHERE fare > 3 LIMIT 5 OFFSET 5", 20_000],
  ["SELECT upper(day) FROM 'trips.parquet' WHERE id % 2 = 0 LIMIT 1", 20_000],
  ["SELECT * FROM 'trips.parquet' ORDER BY id LIMIT 1", 50_000],
  ["SELECT count(*) FROM 'trips.parquet' LIMIT 1", 50_000],
  ["SELECT DISTINCT zone FROM 'trips.parquet' LIMIT 9", 50_000],
  [
    "SELECT id FROM 'trips.parquet' WHERE fare = (SELECT max(fare) FROM 'trips.parquet') LIMIT 1",
    50_000,
  ],
] as const)
  test(`reads ${most} rows for ${query}`, async () => {
    const { tables, progress } = lake();
    await runQuery(query, tables);
    assert.equal(progress.rows, most);
  });

test('a result ends at its limit, and says that there is more', async () => {
  const { rows: some, isCut } = await runQuery("SELECT id FROM 'trips.parquet'", lake().tables, 3);
  assert.deepEqual([some, isCut], [[['0'], ['1'], ['2']], true]);
});

test('columns are described as they are stored, under whatever name', async () => {
  assert.deepEqual(await rows("DESCRIBE 'zones.csv';"), [
    ['id', 'integer'],
    ['name', 'string'],
  ]);
  const query =
    "DESCRIBE SELECT name AS id, z.id, 1 FROM 'zones.csv' z JOIN 'trips.parquet' USING (id)";
  assert.deepEqual(await rows(query), [
    ['id', 'string'],
    ['id', 'integer'],
    ['1', null],
  ]);
});

test('a column is of numbers if all its values are', async () => {
  const { columns } = await runQuery(
    "SELECT id, name, id / 2.0 AS half, NULL AS no FROM 'zones.csv'",
    lake().tables,
  );
  assert.deepEqual(
    columns.map(({ name, isNumber }) => [name, isNumber]),
    [
      ['id', true],
      ['name', false],
      ['half', true],
      ['no', false],
    ],
  );
});

const MISTAKES: [query: string, message: RegExp, word: string | undefined][] = [
  ["SELECT id\nFORM 'zones.csv'", /not understood/, "'zones.csv'"],
  ["SELECT from_ FROM 'zones.csv' WHERE id = FROM", /not understood at FROM/, 'FROM'],
  ["SELECT nam FROM 'zones.csv'", /no column nam\. A text has single quotes/, 'nam'],
  [`SELECT id FROM 'zones.csv' WHERE "nam" = 'x'`, /no column nam/, 'nam'],
  ["SELECT nvl(id) FROM 'zones.csv'", /no function nvl/, 'nvl'],
  [
    "SELECT id FROM 'zones.csv' a JOIN 'trips.parquet' b ON a.id = b.id",
    /write the table before it/,
    'id',
  ],
  ["SELECT name ILIKE 'a%' FROM 'zones.csv'", /lower\(name\) LIKE/, "'a%'"],
  ['SELECT 1::INTEGER', /CAST\(value AS INTEGER\)/, ':'],
  ['SELECT count(', /ends too early/, ''],
  ["DELETE FROM 'zones.csv'", /only reads/, undefined],
  ["WITH a AS (SELECT 1) DELETE FROM 'zones.csv'", /only reads/, undefined],
  [
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT printf('%010000000d', i) FROM n",
    /more than 100,000,000 characters/,
    undefined,
  ],
  ["SELECT * FROM 'empty.csv'", /empty\.csv is empty/, undefined],
  ['SELECT 1; SELECT 2', /one query at a time/, undefined],
  ["SELECT * FROM 'nowhere'", /no table nowhere/, undefined],
  ["SELECT * FROM 'zones.csv' a JOIN 'Zones.csv' b", /differ only in capitals/, undefined],
  ["SELECT * FROM 'it''s.csv' a JOIN 'It''s.csv' b", /differ only in capitals/, undefined],
  [`SELECT 'nam' AS "it's" /* nam */, "nam" FROM 'zones.csv' -- nam`, /no column nam/, 'nam'],
  ["SELECT * FROM 'sqlite_a.csv'", /write 'lakefs:\/\/repository\/ref\/sqlite_a.csv'/, undefined],
  ["SELECT date_trunc('eon', '2026-01-01')", /knows year, quarter/, undefined],
];

for (const [query, message, word] of MISTAKES)
  test(`says what is wrong with ${query}`, async () => {
    const failure: Failure = await runQuery(query, lake().tables).then(
      () => assert.fail(),
      error => error,
    );
    assert.match(failure.message, message);
    const at = failure.details as Span | undefined;
    assert.equal(at && query.slice(at.start, at.end), word);
  });

test('a mistake is shown in its line', () =>
  assert.deepEqual(pointed('SELECT a\n  FROM b', { start: 11, end: 15 }), {
    line: 2,
    text: '  FROM b\n  ^^^^',
  }));

test('names say where a table is', () => {
  const here = { repository: 'lake', ref: 'main' };
  assert.deepEqual(placeOf('tables/a.csv', here), { ...here, path: 'tables/a.csv' });
  assert.deepEqual(placeOf('lakefs://other/dev~1/tables/', here), {
    repository: 'other',
    ref: 'dev~1',
    path: 'tables/',
  });
  assert.throws(() => placeOf('lakefs://lake/main', here), /no address of a table.*\/path/);
  assert.equal(quoted("it's.csv"), "'it''s.csv'");
  assert.equal(beginOf('tables/y=*/a.csv'), 'tables/y=');
  assert.deepEqual(['a.PARQUET', 'b.tsv', 'c.jsonl', 'd.txt'].map(formatOf), [
    'parquet',
    'text',
    'lines',
    undefined,
  ]);
  assert.deepEqual(
    ['t/a.csv', 't/_SUCCESS', 't/_log/a.csv', 't/.a.csv', 't/a.txt'].map(path =>
      isPart(path, 't/'),
    ),
    [true, false, false, false, false],
  );
  assert.deepEqual(
    [...hiveOf('t/year=2026/city=S%C3%A3o/a.csv', 't/')],
    [
      ['year', '2026'],
      ['city', 'São'],
    ],
  );
  assert.deepEqual([...hiveOf('t/year=__HIVE_DEFAULT_PARTITION__/a.csv', 't/')], [['year', '']]);
  assert.deepEqual(apart(['a', 'A', 'b', 'a']), ['a', 'A_2', 'b', 'a_3']);
});

test('texts are numbers only if all are, and none begins with a zero', () => {
  assert.equal(holdsOfTexts(['1', '', '-20']), 'integers');
  assert.equal(holdsOfTexts(['1', '2.5e3', undefined]), 'fractions');
  assert.equal(holdsOfTexts(['1', '007']), 'others');
  assert.equal(holdsOfTexts(['', undefined]), 'others');
  assert.equal(holdsOfTexts(['1', '-9223372036854775808']), 'integers');
  assert.equal(holdsOfTexts(['1', '9223372036854775808']), 'others');
  assert.equal(holdsOfTexts(['1.5', '9223372036854775808']), 'fractions');
});

test('integers of 64 bits and decimals keep their digits', () => {
  assert.deepEqual([5, 2 ** 31, 2n ** 63n - 1n, 2n ** 63n].map(integerOf), [
    5,
    2147483648n,
    2n ** 63n - 1n,
    '9223372036854775808',
  ]);
  const decimal = (unscaled: bigint) =>
    decimalOf(
      { is: 'leaf', name: 'decimal(38,2)', order: () => unscaled, text: () => 'all digits' },
      0,
    );
  assert.deepEqual([1050n, -5n, 10n ** 15n].map(decimal), [10.5, -0.05, 'all digits']);
});

test('what is between the ends of a part decides whether it is read', () => {
  const bound = (sign: '<' | '<=' | '>' | '>=' | '=', value: number | string) => ({
    column: 0,
    sign,
    value,
  });
  assert.equal(rulesOut(bound('>', 9), [1, 9]), true);
  assert.equal(rulesOut(bound('>=', 9), [1, 9]), false);
  assert.equal(rulesOut(bound('=', 'b'), ['c', 'd']), true);
  assert.equal(rulesOut(bound('=', 5), ['1', '9']), false);
  assert.equal(rulesOut(bound('<', 5), undefined), false);
  assert.equal(isOut(bound('<', 5), null), true);
});

test('ends that SQLite orders in another way than Parquet rule nothing out', () => {
  const type = (name: string) => ({ is: 'leaf', name, text: String }) as const;
  assert.equal(
    inOrder(type('decimal(38,2)'), ['1000000000000000.00', '20000000000000000.00']),
    false,
  );
  assert.equal(inOrder(type('uint64'), ['9223372036854775808', '18446744073709551615']), false);
  assert.equal(inOrder(type('date'), ['2026-01-01', '+5881580-07-10']), false);
  assert.equal(inOrder(type('date'), ['2026-01-01', '2026-02-01']), true);
  assert.equal(inOrder(type('string'), ['+1', '-1']), true);
});

/** Return the rows of a query of CSV objects, whose contents are told by their paths. */
async function lakeRows(query: string, contents: Record<string, string>) {
  serve(({ target }) => {
    const url = new URL(target, 'http://lake.test');
    const value = (name: string) => url.searchParams.get(name) ?? '';
    const text = contents[value('path')];
    if (url.pathname.endsWith('/commits')) return json({ results: [{ id: 'c0' }] });
    if (url.pathname.endsWith('/objects')) return new Response(text, { status: 206 });
    const paths = Object.keys(contents).filter(path => path.startsWith(value('prefix')));
    const stats = (path: string) => ({ path, size_bytes: contents[path]?.length });
    if (url.pathname.endsWith('/ls'))
      return json({ results: paths.map(stats), pagination: { has_more: false } });
    return text === undefined ? json({ message: 'not found' }, 404) : json(stats(value('path')));
  });
  const result = await runQuery(query, new Lake({ repository: 'lake', ref: 'main' }, () => {}));
  return result.rows;
}

test('all objects are a table', async () => {
  const seen = serve(({ target }) => {
    if (target.includes('/commits')) return json({ results: [{ id: 'c0' }] });
    const number = target.includes('after=1') ? 2 : 1;
    const metadata = { label: `n${number}` };
    const object = { path: `${number}`, size_bytes: 2 ** 40, mtime: 1_700_000_000, metadata };
    return json({ results: [object], pagination: { has_more: number < 2, next_offset: '1' } });
  });
  const query = "SELECT path, size, user_metadata ->> 'label', last_modified FROM 'system.objects'";
  const result = await runQuery(query, new Lake({ repository: 'lake', ref: 'main' }, () => {}));
  const time = '2023-11-14 22:13:20';
  assert.deepEqual(result.rows, [
    ['1', '1099511627776', 'n1', time],
    ['2', '1099511627776', 'n2', time],
  ]);
  assert.match(seen.at(-1)?.target ?? '', /refs\/c0\/objects\/ls.*after=1/);
});

test('an object whose name looks like a glob is itself', async () => {
  const contents = { 'a1.csv': 'n\n1\n', 'a[1].csv': 'n\n2\n' };
  assert.deepEqual(await lakeRows("SELECT n FROM 'a[1].csv'", contents), [['2']]);
  assert.deepEqual(await lakeRows("SELECT n FROM 'a[0-9].csv'", contents), [['1']]);
  await assert.rejects(lakeRows("SELECT n FROM 'b*.csv'", contents), /No .* object matches b\*/);
});

test('folders of nulls leave the others numbers', async () => {
  const contents = {
    't/year=2026/a.csv': 'n\n1\n',
    't/year=__HIVE_DEFAULT_PARTITION__/a.csv': 'n\n2\n',
  };
  assert.deepEqual(await lakeRows("SELECT n FROM 't/' WHERE year = 2026", contents), [['1']]);
  assert.deepEqual(await lakeRows("SELECT n FROM 't/' WHERE year IS NULL", contents), [['2']]);
});

test('a column has one type in all objects of a folder of texts', async () => {
  const contents = {
    't/a.csv': 'zip\n00501\n10001\n',
    't/b.csv': 'zip\n10001\n',
    't/c.csv': 'zip\n',
  };
  const query = "SELECT zip, count(*) FROM 't/' GROUP BY 1";
  assert.deepEqual(await lakeRows(query, contents), [
    ['00501', '1'],
    ['10001', '2'],
  ]);
});

test('objects of other columns or formats are refused, and JSON lines have all keys', async () => {
  const all = (contents: Record<string, string>) => lakeRows("SELECT * FROM 't/'", contents);
  const first = { 't/a.csv': 'a\n1\n' };
  await assert.rejects(all({ ...first, 't/b.csv': 'a,b\n1,2\n' }), /b.csv has a column b, which/);
  await assert.rejects(all({ ...first, 't/b.csv': 'b\n2\n' }), /b.csv has no column a/);
  await assert.rejects(all({ ...first, 't/b.jsonl': '{"a":1}' }), /different formats/);
  assert.deepEqual(
    await all({
      't/a.jsonl': '{"a":9007199254740993}',
      't/b.jsonl': '{"b":{"c":9007199254740993}}',
    }),
    [
      ['9007199254740993', null],
      [null, '{"c":9007199254740993}'],
    ],
  );
});

test('only types that compare as one are one column', () => {
  const like = (type: string, other: string, holds: Holds = 'others', own = holds) =>
    placesOf([{ name: 'a', type, holds }], [{ name: 'a', type: other, holds: own }], 'b.parquet');
  assert.deepEqual(like('timestamp[us]', 'timestamp[ms]'), [0]);
  assert.deepEqual(like('double', 'int64', 'fractions', 'integers'), [0]);
  assert.deepEqual(like('string', 'null'), [0]);
  assert.throws(() => like('string', 'date'), /b.parquet has date in a, .* have string/);
  assert.throws(() => like('string', 'int64', 'others', 'integers'), /has int64/);
  assert.throws(() => like('decimal(9,2)', 'decimal(18,2)', 'decimals'), /has decimal/);
});

test('columns of one name are read from their own places', () => {
  const named = (...names: string[]) => names.map(name => columnOf(name, 'integers'));
  assert.deepEqual(placesOf(named('a', 'a', 'b'), named('b', 'a', 'a'), 'a.csv'), [1, 2, 0]);
  assert.throws(() => placesOf(named('a', 'a'), named('a'), 'a.csv'), /no column a/);
});

test('CSV and JSON lines are tables, whose columns are typed by all their values', async () => {
  const all = async ({ parts: [part], columns }: File) => {
    const cell = await part?.read(columns.map((_, at) => at));
    return Array.from({ length: part?.rows ?? 0 }, (_, row) =>
      columns.map((_, at) => cell?.(row, at)),
    );
  };
  const texts = textFiles([
    ['a.csv', 'a,b,c\n1,x,2\n,,2.5\n'],
    ['b.csv', 'a,b,c\n007,y,3\n'],
  ]);
  assert.deepEqual(await Promise.all(texts.map(all)), [
    [
      ['1', 'x', 2],
      [null, null, 2.5],
    ],
    [['007', 'y', 3]],
  ]);
  const lines = linesFiles([
    ['a.jsonl', '{"a":1,"b":{"c":[1]}}\n{"a":2.5,"d":true}\n'],
    ['b.jsonl', '{"d":false,"e":true}\n{"e":2}'],
  ]);
  assert.deepEqual(await Promise.all(lines.map(all)), [
    [
      [1, '{"c":[1]}', null, null],
      [2.5, null, 1, null],
    ],
    [
      [null, null, 0, 'true'],
      [null, null, null, '2'],
    ],
  ]);
  assert.throws(() => linesFiles([['a.jsonl', '{"a":1}\nno\n']]), /a.jsonl has 1 line that/);
});

test('a result is saved with its nulls and all digits', () => {
  const columns = [
    { name: 'n', isNumber: true },
    { name: 'n', isNumber: false },
  ];
  const saved = {
    columns,
    rows: [
      ['9007199254740993', 'a "b",\n'],
      [null, ''],
      ['Infinity', null],
    ],
  };
  assert.equal(hasFormulas(saved), false);
  assert.equal(hasFormulas({ columns, rows: [['-1', '=1+1']] }), true);
  assert.equal(csvOf(saved), 'n,n\r\n9007199254740993,"a ""b"",\n"\r\n,""\r\nInfinity,\r\n');
  assert.equal(
    jsonOf(saved),
    '[{"n":9007199254740993,"n_2":"a \\"b\\",\\n"},\n{"n":null,"n_2":""},\n{"n":"Infinity","n_2":null}]\n',
  );
});

test('times begin as their unit does', () => {
  const begin = (unit: string) => dateTrunc(unit, '2026-05-14 12:34:56.7');
  assert.deepEqual(['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute'].map(begin), [
    '2026-01-01',
    '2026-04-01',
    '2026-05-01',
    '2026-05-11',
    '2026-05-14',
    '2026-05-14 12:00:00',
    '2026-05-14 12:34:00',
  ]);
  assert.deepEqual([dateTrunc('day', null), dateTrunc('day', 'x')], [null, null]);
  assert.deepEqual([median([]), median([3, 1]), stddev([1])], [null, 2, null]);
});
