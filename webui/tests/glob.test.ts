import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesGlob } from '../src/parts/glob';

const MATCHING: [string, string[], string[]][] = [
  ['main', ['main'], ['mai', 'mainn', 'Main', '']],
  ['*', ['', 'main', 'a/b'], []],
  ['release-*', ['release-', 'release-1.2'], ['release', 'my-release-1']],
  ['*-v1', ['a-v1', '-v1', 'a-v1-v1'], ['a-v10']],
  ['v?', ['v1', 'va'], ['v', 'v10']],
  ['v[0-9]', ['v0', 'v5', 'v9'], ['va', 'v', 'v10']],
  ['[abc]x', ['ax', 'cx'], ['dx', 'x']],
  ['[!a-c]x', ['dx'], ['ax', 'bx', 'x']],
  ['{main,dev}', ['main', 'dev'], ['maindev', 'main,dev', '']],
  ['{a,b*}-{1,2}', ['a-1', 'b-2', 'bcd-1'], ['a-3', 'c-1', 'a']],
  ['{a,{b,c}d}', ['a', 'bd', 'cd'], ['ad', 'b']],
  ['a.b', ['a.b'], ['axb']],
  ['v\\-[0-9]', ['v-1'], ['v\\-1', 'v1']],
  ['[a\\-c]', ['a', '-', 'c'], ['b']],
  ['{a\\,b,c\\', ['a,b', 'c'], ['a', 'b']],
];

for (const [pattern, matching, others] of MATCHING)
  test(`${pattern} matches whole names`, () => {
    for (const name of matching) assert.equal(matchesGlob(pattern, name), true, name);
    for (const name of others) assert.equal(matchesGlob(pattern, name), false, name);
  });

test('a pattern of many stars takes no longer than its length times that of the name', () => {
  const began_ms = performance.now();
  assert.equal(matchesGlob(`${'*a'.repeat(30)}b`, 'a'.repeat(200)), false);
  assert.ok(performance.now() - began_ms < 2000);
});
