import assert from 'node:assert/strict';
import { test } from 'node:test';
import { separated } from '../src/parts/csv';

test('the delimiter is the one that the first line has most often', () => {
  const columns = ['id', 'amount'];
  assert.deepEqual(separated('a.csv', 'id;amount\n1;3,5\n'), { columns, rows: [['1', '3,5']] });
  assert.deepEqual(separated('a.csv', 'id|amount\n1|2\n'), { columns, rows: [['1', '2']] });
  assert.deepEqual(separated('a.tsv', 'id\tamount\n1\ta,b;c\n').rows, [['1', 'a,b;c']]);
});

test('a value beyond the last name has a column without a name', () => {
  assert.deepEqual(separated('a.csv', 'a,b\n1,2,3\n4\n'), {
    columns: ['a', 'b', ''],
    rows: [['1', '2', '3'], ['4']],
  });
});

test('a byte order mark is no part of the first name, and nothing is no table', () => {
  assert.deepEqual(separated('a.csv', '\uFEFFa,b\n').columns, ['a', 'b']);
  assert.deepEqual(separated('a.csv', ''), { columns: [], rows: [] });
});

test('a quote that is not closed is told by its line', () => {
  const openOf = (text: string) => separated('a.csv', text).open;
  assert.equal(openOf('id,note\n1,ok\n2,"open\n3,three\n'), 3);
  assert.equal(openOf('"id,note\n'), 1);
  assert.equal(openOf('a,b\r\n"x ""y"" z","1\n2"\r\n3,"'), 4);
  const closed = [
    '',
    '"a","b"\n"",""\n',
    '5" pipe,6"\n',
    'a;"b ""c"""\n"d;\ne";f',
    '\uFEFF"a",b\n',
  ];
  for (const text of closed) assert.equal(openOf(text), undefined, text);
});
