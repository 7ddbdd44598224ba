import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginning } from '../src/parts/limits';

test('a text within its limits is whole', () => {
  for (const text of ['', 'a', 'a\nb', 'a\nb\n', '\n\n']) assert.equal(beginning(text, 2, 9), text);
});

test('a longer text is cut after a line, or within one that is too long', () => {
  assert.equal(beginning('a\nb\nc', 2, 9), 'a\nb\n');
  assert.equal(beginning('abcdef', 2, 3), 'abc');
  assert.equal(beginning('a\nbcdef\n', 2, 4), 'a\nbc');
});
