import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changesOf,
  draftOf,
  EXAMPLE,
  endOf,
  readRules,
  rulesText,
  spansOf,
} from '../src/pages/settings/rules';

const rule = (branch_id: unknown, retention_days: unknown = 7) => ({ branch_id, retention_days });

function problem(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const read = readRules(text);
  assert.ok('problem' in read, text);
  return read.problem;
}

test('the text of rules is read as the same rules', () => {
  assert.deepEqual(readRules(rulesText(EXAMPLE)), { rules: EXAMPLE });
});

test('the bounds of a number of days are allowed', () => {
  for (const days of [0, 2 ** 31 - 1])
    assert.ok('rules' in readRules(JSON.stringify({ default_retention_days: days, branches: [] })));
});

test('what is wrong is named with its place', () => {
  const days = { default_retention_days: 1 };
  assert.match(problem('{'), /^This is not JSON: /);
  for (const value of [[], null, 3]) assert.match(problem(value), /^Write an object/);
  assert.match(problem({ ...days, branches: [], colour: 1 }), /no field colour/);
  for (const wrong of [-1, 1.5, '7', null, 2 ** 31])
    assert.match(
      problem({ default_retention_days: wrong, branches: [] }),
      /^default_retention_days must be a whole number/,
    );
  assert.match(problem(days), /^branches must be a list/);
  assert.match(problem({ ...days, branches: ['main'] }), /^branches\[0\] must be an object/);
  assert.match(problem({ ...days, branches: [rule('a'), rule('')] }), /^branches\[1\] needs a/);
  assert.match(problem({ ...days, branches: [rule(7)] }), /^branches\[0\] needs a/);
  assert.match(problem({ ...days, branches: [rule('a'), rule('a')] }), /^Branch a has two rules/);
  assert.match(problem({ ...days, branches: [rule('a', -1)] }), /^retention_days of branch a/);
  assert.match(problem({ ...days, branches: [{ ...rule('a'), x: 1 }] }), /no field x/);
});

test('a form shows a draft with wrong names and numbers, but only one of the right shape', () => {
  const draft = { default_retention_days: 'many', branches: [{ branch_id: '' }] };
  assert.deepEqual(draftOf(JSON.stringify(draft)), draft);
  for (const text of ['{', '[]', '{}', '{"branches": 1}', '{"branches": [{}, 1]}', 'null'])
    assert.equal(draftOf(text), undefined, text);
});

test('named branches come before all others', () => {
  assert.deepEqual(spansOf(EXAMPLE), [
    { branch: 'main', days: 21 },
    { branch: '', days: 14 },
  ]);
});

test('an end is so many days later, unless that is beyond all calendars', () => {
  assert.equal(endOf(2, 1000), 1000 + 2 * 86400);
  assert.equal(endOf(2 ** 31 - 1, 1000), undefined);
});

test('changes name what is different, and whether data ends sooner', () => {
  const before = { default_retention_days: 10, branches: [rule('a', 5), rule('b', 5)] } as never;
  const after = { default_retention_days: 10, branches: [rule('a', 1), rule('c', 1500)] } as never;
  assert.deepEqual(changesOf(before, after), [
    { text: 'a: 5 → 1 day', isShorter: true },
    // Without a rule of its own, the default counts.
    { text: 'b: 5 → 10 days', isShorter: false },
    { text: 'c: 10 → 1,500 days', isShorter: false },
  ]);
  assert.deepEqual(changesOf(before, before), []);
});

test('the first rules shorten everything, which was kept forever', () => {
  assert.deepEqual(changesOf(undefined, EXAMPLE), [
    { text: 'main: forever → 21 days', isShorter: true },
    { text: 'All other branches: forever → 14 days', isShorter: true },
  ]);
});
