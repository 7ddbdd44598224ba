import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepTo } from '../src/parts/steps';

test('arrows lead around the ends of a list, and from none to its first or last', () => {
  const cases: [string, number, number | undefined][] = [
    ['ArrowDown', -1, 0],
    ['ArrowDown', 0, 1],
    ['ArrowDown', 2, 0],
    ['ArrowUp', -1, 2],
    ['ArrowUp', 0, 2],
    ['ArrowUp', 2, 1],
    ['Home', 1, undefined],
  ];
  for (const [key, at, expected] of cases) assert.equal(stepTo(key, at, 3), expected, key + at);
});

test('arrows lead nowhere in an empty list', () => {
  assert.equal(stepTo('ArrowDown', -1, 0), undefined);
  assert.equal(stepTo('ArrowUp', -1, 0), undefined);
});
