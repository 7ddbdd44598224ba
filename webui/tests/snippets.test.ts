import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { checkedEndpoint, snippets } from '../src/pages/objects/snippets';

const S3 = 'https://s3.example.org:9000';

const NASTY = [
  'a b.csv',
  `it's "ü".csv`,
  '$(id) `id` ; & | > < ! #.csv',
  '%s %20 + = @ ~.csv',
  '日本語/😀.csv',
  '\'\'\'"""',
  '-rf.csv',
];

function codeFor(title: string, path: string, ref = 'main'): string {
  const found = snippets({ repository: 'lake', ref, path }, S3).find(each => each.title === title);
  return found?.code ?? '';
}

/** Return the literals in the code that begin so, as JSON reads them: these are Python's as well. */
function literals(code: string, start: string): string[] {
  return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"/g)]
    .map(([found]) => JSON.parse(found) as string)
    .filter(text => text.startsWith(start));
}

const NASTIER = [...NASTY, 'back\\slash', '{key} {{host}} ?', 'line\nbreak\ttab'];

test('code in Python names each path in one literal', () => {
  for (const path of NASTY) {
    const key = `lake/main/${path}`;
    assert.deepEqual(literals(codeFor('DuckDB', path), 's3:'), [`s3://${key}`]);
    assert.deepEqual(literals(codeFor('Spark', path), 's3a:'), [`s3a://${key}`]);
    assert.ok(literals(codeFor('lakeFS SDK', path), path).includes(path));
    if (!path.endsWith('.csv')) continue;
    assert.deepEqual(literals(codeFor('pandas', path), 'lake/'), [key]);
    assert.deepEqual(literals(codeFor('Polars', path), 's3:'), [`s3://${key}`]);
  }
});

test('a shell takes each path as one word, and runs nothing of it', () => {
  for (const path of NASTIER) {
    for (const [title, command, word] of [
      ['AWS CLI', 'aws', `s3://lake/main/${path}`],
      ['graveler', 'graveler', `lakefs://lake/main/${path}`],
    ] as const) {
      const told = `${command}() { printf '%s\\0' "$@"; }\n${codeFor(title, path)}`;
      const words = execFileSync('sh', ['-c', told]).toString().split('\0');
      assert.ok(words.includes(word), `${title} got ${JSON.stringify(words)}`);
    }
  }
});

test('no shell gets what a terminal takes for a key, or what turns the direction of the code', () => {
  for (const path of ['a\x15id\n.csv', 'a\x1b[201~.csv', 'a\u202egpj.csv', 'a\u200f.csv'])
    assert.equal(codeFor('AWS CLI', path) + codeFor('graveler', path), '');
});

test('in Python, what turns the direction of the code is escaped', () => {
  const path = 'a\u202egpj\u2066.csv';
  for (const title of ['DuckDB', 'pandas', 'Polars', 'Spark', 'lakeFS SDK']) {
    const code = codeFor(title, path);
    assert.match(code, /a\\u202Egpj\\u2066\.csv/);
    assert.doesNotMatch(code, /\p{Bidi_Control}/u);
  }
  assert.deepEqual(literals(codeFor('DuckDB', path), 's3:'), [`s3://lake/main/${path}`]);
});

test('an object that may be binary goes to a file, not to the terminal', () => {
  assert.match(codeFor('AWS CLI', 'd/a.bin'), /aws s3 cp s3:\/\/lake\/main\/d\/a\.bin \.\n/);
  assert.match(codeFor('lakeFS SDK', 'd/a.bin'), /open\("a\.bin", "wb"\)/);
  assert.match(codeFor('lakeFS SDK', 'd/'), /open\("object", "wb"\)/);
});

test('a table is read as such, and another object as bytes where a program can', () => {
  const titles = (path: string) =>
    snippets({ repository: 'lake', ref: 'v1', path }, S3).map(({ title }) => title);
  const all = ['DuckDB', 'pandas', 'Polars', 'Spark', 'AWS CLI', 'lakeFS SDK', 'graveler'];
  assert.deepEqual(titles('a.PARQUET'), all);
  assert.deepEqual(
    titles('a.json'),
    all.filter(each => each !== 'Polars'),
  );
  assert.deepEqual(titles('a.bin'), ['DuckDB', 'Spark', 'AWS CLI', 'lakeFS SDK', 'graveler']);
  assert.match(codeFor('DuckDB', 'a.jsonl'), /read_json\(/);
  assert.match(codeFor('DuckDB', 'a.bin'), /read_blob\(\?\)/);
});

test('the code names the ref, the endpoint and where the key pair is', () => {
  const code = codeFor('DuckDB', 'a.parquet', 'dev~1');
  assert.match(code, /ENDPOINT 's3\.example\.org:9000', USE_SSL true/);
  assert.match(code, /KEY_ID '{os\.environ\["AWS_ACCESS_KEY_ID"\]}'/);
  assert.match(code, /"s3:\/\/lake\/dev~1\/a\.parquet"/);
  assert.match(codeFor('graveler', 'a', 'dev~1'), /download 'lakefs:\/\/lake\/dev~1\/a'/);
});

test('an endpoint that could become code is none', () => {
  assert.equal(checkedEndpoint(' http://127.0.0.1:8000/ '), 'http://127.0.0.1:8000');
  assert.equal(checkedEndpoint('https://[::1]:8000'), 'https://[::1]:8000');
  for (const text of ['', 's3.org', 'http://h"""+f()', 'http://{f()}', "http://h', SCOPE 's"])
    assert.equal(checkedEndpoint(text), undefined);
  for (const text of ['http://ada:secret@h', 'http://h/path', 'http://[h', 'http://h:99999'])
    assert.equal(checkedEndpoint(text), undefined);
});

test('no program takes a path for a pattern; one that cannot read it is left out', () => {
  const [path, escaped] = ['[a]*{b}\\.csv', '\\[a\\]\\*\\{b\\}\\\\.csv'];
  assert.deepEqual(literals(codeFor('DuckDB', path), 's3:'), [`s3://lake/main/${escaped}`]);
  assert.deepEqual(literals(codeFor('Spark', path), 's3a:'), [`s3a://lake/main/${escaped}`]);
  assert.match(codeFor('Polars', path), /glob=False/);
  assert.equal(codeFor('DuckDB', 'a?.csv'), '');
  assert.equal(codeFor('Polars', 'a\t.csv') + codeFor('Polars', 'a*.JSONL'), '');
  for (const title of ['pandas', 'Polars', 'Spark']) assert.equal(codeFor(title, 'a//b.csv'), '');
});
