import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../src/api/client';
import {
  countRows,
  type DiffRow,
  groupRows,
  refsSource,
  uncommittedSource,
} from '../src/parts/diff/source';
import { type Folder, type TreeRow, treeRows } from '../src/parts/diff/tree';

const row = (path: string, type: DiffRow['type'] = 'added'): DiffRow => ({
  type,
  path,
  path_type: path.endsWith('/') ? 'common_prefix' : 'object',
});
const loaded = (...paths: string[]): Folder => ({
  rows: paths.map(path => row(path)),
  isLoading: false,
});
const drawn = (rows: TreeRow[]) =>
  rows.map(each =>
    each.kind === 'more'
      ? `${each.depth} more of ${each.prefix || 'all'}`
      : `${each.depth} ${each.isOpen ? 'open ' : ''}${each.row.path}`,
  );

test('an open folder has its rows below it, one deeper; a closed one has none', () => {
  const folders: Record<string, Folder> = {
    '': loaded('a/', 'b/', 'c'),
    'a/': loaded('a/x/', 'a/y'),
    'a/x/': loaded('a/x/1'),
    'b/': loaded('b/1'),
  };
  const rows = (...open: string[]) =>
    drawn(
      treeRows(
        '',
        at => open.includes(at),
        at => folders[at],
      ),
    );
  assert.deepEqual(rows(), ['0 a/', '0 b/', '0 c']);
  assert.deepEqual(rows('a/', 'a/x/'), [
    '0 open a/',
    '1 open a/x/',
    '2 a/x/1',
    '1 a/y',
    '0 b/',
    '0 c',
  ]);
  // Open inside a closed folder: it shows again when that one is opened.
  assert.deepEqual(rows('a/x/'), ['0 a/', '0 b/', '0 c']);
});

test('a folder that is not wholly loaded ends in a row for the rest', () => {
  const isOpen = (at: string) => at === 'a/';
  const rows = (inner: Folder | undefined) =>
    drawn(treeRows('', isOpen, at => (at ? inner : loaded('a/', 'b'))));
  const rest = ['0 open a/', '1 more of a/', '0 b'];
  assert.deepEqual(rows(undefined), rest);
  assert.deepEqual(rows({ rows: [], isLoading: true }), rest);
  assert.deepEqual(rows({ rows: [], isLoading: false, failure: new Failure('no', 500) }), rest);
  assert.deepEqual(rows({ rows: [], isLoading: false, next: '' }), rest);
  assert.deepEqual(rows({ ...loaded('a/1'), next: 'a/1' }), [
    '0 open a/',
    '1 a/1',
    '1 more of a/',
    '0 b',
  ]);
  assert.deepEqual(rows(loaded()), ['0 open a/', '0 b']);
});

test('all rows of a diff become folders', () => {
  const rows = ['a/1', 'a/2/x', 'a/2/y', 'b', 'c/1'].map(path => row(path));
  assert.deepEqual(
    groupRows(rows, '').map(({ path, path_type }) => `${path} ${path_type}`),
    ['a/ common_prefix', 'b object', 'c/ common_prefix'],
  );
  assert.deepEqual(
    groupRows(rows, 'a/').map(({ path }) => path),
    ['a/1', 'a/2/'],
  );
});

test('rows are counted by what changed; folders are not counted', () => {
  const rows = [row('a'), row('b'), row('c', 'removed'), row('d/', 'prefix_changed')];
  assert.deepEqual(countRows(rows), { added: 2, changed: 0, removed: 1, conflict: 0 });
});

test('an object called like its folder is a row in it, and does not open', () => {
  const marker: Folder = { rows: [{ ...row('a/'), path_type: 'object' }], isLoading: false };
  const rows = treeRows(
    '',
    () => true,
    at => (at ? marker : loaded('a/')),
  );
  assert.deepEqual(drawn(rows), ['0 open a/', '1 a/']);
});

test('only a merge of two branches can have conflicts', () => {
  const { types } = refsSource('lake', 'main', 'dev', 'three_dot');
  assert.ok(types.includes('conflict'));
  for (const source of [uncommittedSource('lake', 'main'), refsSource('lake', 'a', 'b', 'two_dot')])
    assert.deepEqual(source.types, ['added', 'changed', 'removed']);
});
