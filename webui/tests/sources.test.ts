import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isComplete, replacedFolders, type Source } from '../src/pages/objects/import/sources';

const source = (type: Source['type'], path: string, destination: string): Source => ({
  type,
  path,
  destination,
});

test('a source needs a bucket, and an object a path of its own', () => {
  for (const type of ['common_prefix', 'object', 'inventory'] as const) {
    assert.ok(isComplete(source(type, 's3://bucket/a', 'a')));
    for (const path of ['', 's3://', 's3:///a', 'bucket/a', 'https://s3/a'])
      assert.ok(!isComplete(source(type, path, 'a')), path);
    for (const destination of ['', 'folder/'])
      assert.equal(isComplete(source(type, 's3://bucket/a', destination)), type !== 'object');
  }
});

test('the folders that an import replaces are those of the server: they end in a slash', () => {
  assert.deepEqual(
    replacedFolders([
      source('common_prefix', 's3://b/x', 'a'),
      source('inventory', 's3://b/y', 'a/'),
      source('common_prefix', 's3://b/z', 'a/b'),
      source('object', 's3://b/o', 'c'),
      source('common_prefix', 's3://b/w', ''),
    ]),
    ['a/', 'a/b/', ''],
  );
  assert.deepEqual(replacedFolders([source('object', 's3://b/o', 'c')]), []);
});
