import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstFolds, foldsOf, linesOf, pairsOf } from '../src/parts/diff/text-lines';

test('lines keep their numbers on both sides', () => {
  const runs = [
    { kind: 'same', count: 1 },
    { kind: 'removed', count: 1 },
    { kind: 'added', count: 2 },
  ] as const;
  assert.deepEqual(linesOf('a\nb\n', 'a\nc\nd', runs), [
    { kind: 'same', text: 'a', left: 1, right: 1 },
    { kind: 'removed', text: 'b', left: 2 },
    { kind: 'added', text: 'c', right: 2 },
    { kind: 'added', text: 'd', right: 3 },
  ]);
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
