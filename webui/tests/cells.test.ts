import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joined, pageEnd, parseNotebook } from '../src/pages/objects/previews/cells';
import { LIMITS } from '../src/parts/limits';

test('a notebook has cells, and is of Python if it does not say otherwise', () => {
  const metadata = { language_info: { name: 'r' } };
  const text = (value: unknown) => JSON.stringify(value);
  assert.deepEqual(parseNotebook(text({ cells: [null], metadata })), {
    cells: [null],
    language: 'r',
  });
  for (const odd of [undefined, null, 1, { language_info: { name: { a: 1 } } }])
    assert.equal(parseNotebook(text({ cells: [], metadata: odd }))?.language, 'python');
  for (const other of ['', 'null', '[]', '{"cells":', '{"cells": {}}', '5'])
    assert.equal(parseNotebook(other), undefined, other);
});

test('a text is one piece, lines or nothing; anything else is refused', () => {
  assert.equal(joined(['a\n', 'b']), 'a\nb');
  assert.equal(joined('a'), 'a');
  assert.equal(joined(undefined), '');
  for (const other of [5, { a: 1 }]) assert.throws(() => joined(other), TypeError);
});

test('cells are shown a page at a time; a page has not too much text', () => {
  const small = Array.from({ length: 250 }, () => ({ source: 'x' }));
  assert.equal(pageEnd(small, 0), LIMITS.cells);
  assert.equal(pageEnd(small, 2 * LIMITS.cells), 250);
  const large = { source: 'x'.repeat(LIMITS.cells_characters) };
  assert.equal(pageEnd([large, large], 0), 1);
  assert.equal(pageEnd([large, large], 1), 2);
  const image = { outputs: [{ data: { 'image/png': large.source } }] };
  assert.equal(pageEnd([null, image, image, 5], 0), 4);
});
