import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  endsDiffer,
  firstFolds,
  foldsOf,
  linesOf,
  pairsOf,
  type Run,
} from '../src/parts/diff/text-lines';

test('lines keep their numbers on both sides', () => {
  const runs = [
    { kind: 'same', count: 1 },
    { kind: 'removed', count: 1 },
    { kind: 'added', count: 2 },
  ] as const;
  assert.deepEqual(linesOf('a\nb\n', 'a\nc\nd\n', runs), [
    { kind: 'same', text: 'a', left: 1, right: 1 },
    { kind: 'removed', text: 'b', left: 2 },
    { kind: 'added', text: 'c', right: 2 },
    { kind: 'added', text: 'd', right: 3 },
  ]);
});

test('lines that differ only in their ends say how they end', () => {
  const ends = (before: string, after: string, ...runs: Run[]) =>
    pairsOf(linesOf(before, after, runs))
      .filter(endsDiffer)
      .map(({ left, right }) => [left?.text, left?.end, right?.text, right?.end]);
  const same: Run = { kind: 'same', count: 1 };
  const removed: Run = { kind: 'removed', count: 1 };
  const added = (count: number): Run => ({ kind: 'added', count });
  assert.deepEqual(ends('a\nb', 'a\nb\nc\n', same, removed, added(2)), [
    ['b', 'no line break', 'b', undefined],
  ]);
  assert.deepEqual(ends('a\r\nb\r\n', 'a\nb\r\n', removed, added(1), same), [
    ['a', 'CRLF', 'a', undefined],
  ]);
  assert.deepEqual(ends('a\nb', 'c\nb', removed, added(1), same), []);
  assert.deepEqual(ends('', 'a\r\nb\r\n', added(2)), []);
});

test('a removed line is beside the added one that takes its place', () => {
  const runs = [
    { kind: 'removed', count: 1 },
    { kind: 'added', count: 2 },
  ] as const;
  const pairs = pairsOf(linesOf('a', 'b\nc', runs));
  assert.deepEqual(
    pairs.map(({ left, right }) => [left?.text, right?.text]),
    [
      ['a', 'b'],
      [undefined, 'c'],
    ],
  );
});

test('equal lines fold away, but for some around a change', () => {
  const text = 'a\n'.repeat(20);
  const runs = [
    { kind: 'same', count: 20 },
    { kind: 'added', count: 1 },
  ] as const;
  const folds = foldsOf(pairsOf(linesOf(text, `${text}b\n`, runs)));
  assert.deepEqual(
    folds.map(({ isFolded, pairs }) => [isFolded, pairs.length]),
    [
      [true, 17],
      [false, 4],
    ],
  );
  assert.equal(firstFolds(folds, 4).length, 2);
  assert.equal(firstFolds(folds, 5), folds);
});
