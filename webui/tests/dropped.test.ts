import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesOfDrop, filesOfInput } from '../src/pages/objects/dropped';

/** What a browser gives for a dropped file, or for a folder with these entries. */
function entry(name: string, entries?: FileSystemEntry[]): FileSystemEntry {
  if (!entries)
    return {
      name,
      isFile: true,
      file: (give: (file: File) => void) => give(new File([], name)),
    } as never;
  const rest = [...entries];
  // A browser gives only some at a time.
  const readEntries = (give: (some: FileSystemEntry[]) => void) => give(rest.splice(0, 2));
  return { name, isFile: false, createReader: () => ({ readEntries }) } as never;
}

const drop = (...entries: (FileSystemEntry | null)[]) =>
  ({ items: entries.map(each => ({ webkitGetAsEntry: () => each })) }) as never;

test('the files of dropped folders have their paths, however many and deep they are', async () => {
  const files = ['1', '2', '3', '4', '5'].map(name => entry(name));
  const dropped = await filesOfDrop(
    drop(entry('a'), entry('data', [entry('2026', files), entry('z')]), null),
  );
  assert.deepEqual(
    dropped.map(({ path }) => path),
    ['a', ...['1', '2', '3', '4', '5'].map(name => `data/2026/${name}`), 'data/z'],
  );
  assert.equal(dropped[1]?.file.name, '1');
});

test('a file that cannot be read fails the drop', async () => {
  const broken = {
    name: 'x',
    isFile: true,
    file: (_: unknown, fail: (error: Error) => void) => fail(new Error('not readable')),
  };
  await assert.rejects(filesOfDrop(drop(broken as never)), /not readable/);
});

test('chosen files have their names, those of a folder their paths', () => {
  const chosen = new File([], 'a.csv');
  const inFolder = new File([], 'b.csv');
  Object.defineProperty(inFolder, 'webkitRelativePath', { value: 'data/b.csv' });
  const paths = filesOfInput([chosen, inFolder] as never).map(({ path }) => path);
  assert.deepEqual(paths, ['a.csv', 'data/b.csv']);
  assert.deepEqual(filesOfInput(null), []);
});
