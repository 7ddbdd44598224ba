import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOfPattern, problemOfPatterns } from '../src/pages/settings/patterns';

test('what RE2 and browsers know has no problem', () => {
  for (const pattern of ['', '^v[0-9]+$', 'a|b', '(a)(b)', '(?:a)', '\\d{2,3}', '\\\\1', 'a\\.b'])
    assert.equal(problemOfPattern(pattern), undefined, pattern);
});

test('what only RE2 knows has no problem', () => {
  for (const pattern of ['(?i)main', '(?P<name>a)', '(?<name>a)', '(?i:a)b', '(?s-m)a'])
    assert.equal(problemOfPattern(pattern), undefined, pattern);
});

test('what only browsers know is a problem', () => {
  for (const pattern of ['(?=a)', 'b(?!a)', '(?<=a)b', '(?<!a)b'])
    assert.match(problemOfPattern(pattern) ?? '', /ahead or behind/, pattern);
  for (const pattern of ['(a)\\1', '\\2', '\\\\\\1'])
    assert.match(problemOfPattern(pattern) ?? '', /References/, pattern);
});

test('a pattern that does not end is a problem', () => {
  for (const pattern of ['(', '[a', 'a)', '*']) assert.ok(problemOfPattern(pattern), pattern);
});

test('problems are named with their lines; empty lines have none', () => {
  assert.equal(problemOfPatterns('a\n\nb'), undefined);
  const told = problemOfPatterns('(?=a)\na\n\\1');
  assert.match(told ?? '', /^Line 1: Looking .* Line 3: References/);
});
