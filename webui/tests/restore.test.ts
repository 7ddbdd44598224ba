import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderPlan, isFolder, objectPlan, versionOf } from '../src/pages/objects/restore/plan';

const object = (checksum: string, size_bytes: number) => ({
  path: 'a',
  path_type: 'object' as const,
  checksum,
  size_bytes,
  mtime: 1_760_000_000,
  physical_address: '',
});
const version = object('one', 4000);
const plan = (given: Partial<Parameters<typeof objectPlan>[2]>) =>
  objectPlan('abc', 'main', { version, hasData: true, ...given });

test('a restore says what it replaces', () => {
  assert.match(plan({}).effect, /commit abc \(4.0 kB\) comes back. main has no object/);
  const now = object('two', 12);
  assert.match(plan({ now }).effect, /\(4.0 kB\) replaces the one on main \(12 B, stored /);
  assert.equal(plan({ now }).now, now);
  assert.match(plan({ now: version }).effect, /main has the content of commit abc already/);
});

test('an uncommitted change is lost, an uncommitted deletion is not', () => {
  assert.equal(plan({}).loss, undefined);
  assert.match(plan({ now: version, uncommitted: 'changed' }).loss ?? '', /no commit has it/);
  const removed = plan({ uncommitted: 'removed', committed: version });
  assert.equal(removed.loss, undefined);
  assert.equal(removed.isUndo, true);
  assert.match(removed.effect, /no uncommitted change is left/);
  assert.equal(plan({ uncommitted: 'removed', committed: object('two', 1) }).isUndo, false);
});

test('other metadata in the last commit are another version', () => {
  const committed = { ...version, metadata: { by: 'ada' } };
  assert.equal(plan({ uncommitted: 'changed', committed }).isUndo, false);
  const same = { ...version, metadata: { by: 'ada', at: '1' } };
  const other = { ...version, metadata: { at: '1', by: 'ada' } };
  assert.equal(plan({ uncommitted: 'changed', version: same, committed: other }).isUndo, true);
});

test('what is not there, or has no data, cannot come back', () => {
  assert.match(plan({ version: undefined }).problem ?? '', /abc does not have this object/);
  assert.match(plan({ hasData: false }).problem ?? '', /data .* are deleted/);
});

const none: Parameters<typeof folderPlan>[2] = {
  objects: 3,
  differences: [],
  hasMore: false,
  uncommitted: 0,
  hasMoreUncommitted: false,
};
const row = (type: 'added' | 'changed' | 'removed') =>
  ({ type, path: type, path_type: 'object' }) as const;

test('a restore of a folder counts what comes back, is replaced and is deleted', () => {
  const told = (given: Partial<typeof none>) => folderPlan('abc', 'main', { ...none, ...given });
  assert.match(told({}).effect, /has 3 objects here. On main: no committed object differs\./);
  const differences = [row('added'), row('added'), row('removed')];
  assert.match(
    told({ differences, hasMore: true }).effect,
    /On main, at least: 2 objects restored; 1 object deleted, because the commit lacks it\. All/,
  );
  assert.match(told({ uncommitted: 2 }).loss ?? '', /^main has 2 uncommitted changes here/);
  assert.match(told({ objects: 0 }).problem ?? '', /abc has no objects here/);
});

test('a commit that removed an object has its last version before it', () => {
  const commit = { id: 'c2', parents: ['c1', 'b1'] };
  assert.equal(versionOf('lake', 'a', commit, 'removed').ref, 'c1');
  assert.equal(versionOf('lake', 'a', commit, 'changed').ref, 'c2');
  assert.equal(versionOf('lake', 'a/', commit).before, 'c1');
  assert.ok(isFolder(versionOf('lake', 'a/', commit)));
  assert.ok(!isFolder(versionOf('lake', 'a/', commit, 'removed')));
});
