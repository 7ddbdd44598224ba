import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOfName as problemOfRef } from '../src/pages/refs/names';
import {
  problemOfNamespace,
  problemOfName as problemOfRepository,
} from '../src/pages/repositories/name';

const NAMES: [string, good: string[], wrong: string[], (name: string) => string | undefined][] = [
  [
    'branch',
    ['main', '_a', '1', 'a:b', 'a-b_c'],
    ['', '-a', 'a:', 'a/b', 'a b', 'a.b', 'é'],
    name => problemOfRef('branch', name),
  ],
  [
    'tag',
    ['v1.0', 'é', 'a:b', '-a'],
    ['', ':a', 'a:', 'a..b', 'a b', 'a/b', 'a~1', 'a@b', 'a^', 'a\t'],
    name => problemOfRef('tag', name),
  ],
  [
    'repository',
    ['abc', '0-a', 'a'.repeat(63)],
    ['', 'ab', 'a'.repeat(64), '-abc', 'Abc', 'a_c', 'a.c'],
    problemOfRepository,
  ],
];

for (const [kind, good, wrong, problemOf] of NAMES)
  test(`the name of a ${kind} is refused before it is sent if the server would refuse it`, () => {
    for (const name of good) assert.equal(problemOf(name), undefined, name);
    for (const name of wrong) assert.ok(problemOf(name), name);
  });

test('a namespace in use asks for another prefix, and other refusals stay as they are', () => {
  const refusal = 'failed to create repository: … storage namespace already in use';
  assert.equal(
    problemOfNamespace('s3://lake/a', refusal),
    's3://lake/a already holds a repository: choose another prefix.',
  );
  assert.equal(problemOfNamespace('s3://lake/a', 'invalid namespace'), 'invalid namespace');
});
