import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attachmentOf,
  cellOf,
  imageOf,
  joined,
  outputOf,
  outputsOf,
  pageEnd,
  parseNotebook,
  withoutScheme,
} from '../src/pages/objects/previews/cells';
import { LIMITS } from '../src/parts/limits';

const text = (value: unknown) => JSON.stringify(value);

test('a notebook has cells, and is of Python if it does not say otherwise', () => {
  const metadata = { language_info: { name: 'r' } };
  assert.deepEqual(parseNotebook(text({ cells: [null], metadata })), {
    cells: [null],
    language: 'r',
  });
  const kernelspec = { language: 'julia' };
  assert.equal(parseNotebook(text({ cells: [], metadata: { kernelspec } }))?.language, 'julia');
  for (const odd of [undefined, null, 1, { language_info: { name: { a: 1 } } }])
    assert.equal(parseNotebook(text({ cells: [], metadata: odd }))?.language, 'python');
  for (const other of ['', 'null', '[]', '{"cells":', '{"cells": {}}', '5', '{"worksheets": [5]}'])
    assert.equal(parseNotebook(other), undefined, other);
});

test('a notebook of the third format reads as one of the fourth', () => {
  const code = { cell_type: 'code', input: ['a\n', 'b'], prompt_number: 3, outputs: [] };
  const heading = { cell_type: 'heading', level: 2, source: 'Title' };
  const notebook = parseNotebook(text({ worksheets: [{ cells: [code, heading] }] }));
  assert.deepEqual(notebook?.cells.map(cellOf), [
    { kind: 'code', source: 'a\nb', count: 3, outputs: [], attachments: {} },
    { kind: 'markdown', source: '## Title', count: undefined, outputs: [], attachments: {} },
  ]);
  const result = {
    output_type: 'pyout',
    prompt_number: 3,
    text: ['42'],
    png: 'AA==',
    metadata: {},
  };
  assert.deepEqual(outputOf(result), {
    kind: 'data',
    data: { 'text/plain': ['42'], 'image/png': 'AA==' },
    metadata: {},
    count: 3,
  });
  const stream = { output_type: 'stream', stream: 'stderr', text: 'x' };
  assert.deepEqual(outputOf(stream), { kind: 'text', name: 'stderr', text: 'x' });
});

test('an error shows its traceback, or at least what it is', () => {
  const error = { output_type: 'error', ename: 'KeyError', evalue: "'a'" };
  assert.deepEqual(outputOf({ ...error, traceback: ['one', 'two'] }), {
    kind: 'error',
    text: 'one\ntwo',
  });
  assert.deepEqual(outputOf({ ...error, traceback: [] }), { kind: 'error', text: "KeyError: 'a'" });
  assert.deepEqual(outputOf({ ...error, output_type: 'pyerr' }), {
    kind: 'error',
    text: "KeyError: 'a'",
  });
});

test('pieces of one stream are one text', () => {
  const piece = (name: string, text: string) => ({ output_type: 'stream', name, text });
  const pieces = [
    piece('stderr', '1%\r'),
    piece('stderr', '2%'),
    piece('stdout', 'a'),
    piece('stderr', 'b'),
  ];
  assert.deepEqual(
    outputsOf(pieces).map(output => 'text' in output && output.text),
    ['1%\r2%', 'a', 'b'],
  );
});

test('an image has an address without the network, and its size if that is one', () => {
  const sized = { 'image/png': { width: 300, height: 200 } };
  assert.deepEqual(imageOf({ 'image/png': 'AA\nBB\n', 'text/plain': 'x' }, sized), {
    address: 'data:image/png;base64,AABB',
    width: 300,
    height: 200,
  });
  assert.deepEqual(imageOf({ 'image/svg+xml': ['<svg>', '#</svg>'] }), {
    address: 'data:image/svg+xml,%3Csvg%3E%23%3C%2Fsvg%3E',
  });
  for (const width of [-1, 0, 1e9, '5', null, Number.NaN])
    assert.deepEqual(imageOf({ 'image/gif': 'AA' }, { width }), {
      address: 'data:image/gif;base64,AA',
    });
  assert.equal(imageOf({ 'image/tiff': 'AA' }), undefined);
});

test('Markdown shows the images that are attached to its cell', () => {
  const source = '![a](attachment:my%20plot.png) <img src="attachment:b.png"> attachment: c';
  assert.equal(withoutScheme(source), '![a](my%20plot.png) <img src="b.png"> attachment: c');
  const attachments = { 'my plot.png': { 'image/png': 'AA' } };
  const cell = cellOf({ cell_type: 'markdown', source, attachments });
  assert.equal(attachmentOf(cell, 'my%20plot.png'), 'data:image/png;base64,AA');
  for (const other of ['b.png', 'constructor', '%'])
    assert.equal(attachmentOf(cell, other), undefined);
});

test('a text is one piece, lines or nothing; anything else is refused', () => {
  assert.equal(joined(['a\n', 'b']), 'a\nb');
  assert.equal(joined('a'), 'a');
  assert.equal(joined(undefined), '');
  for (const other of [5, { a: 1 }]) assert.throws(() => joined(other), TypeError);
  for (const other of [null, { source: 5 }]) assert.throws(() => cellOf(other), TypeError);
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
