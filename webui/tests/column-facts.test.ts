import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf } from '../src/parts/column-facts';

test('texts that are all numbers are compared as numbers, and counted in ranges', () => {
  const { about, histogram, ...facts } = factsOf(['9', 10, '', null, '10'], 'Of 5 rows');
  assert.equal(about, 'Of 5 rows');
  assert.deepEqual(facts, { type: 'number', nulls: 2, min: '9', max: '10', distinct: 2 });
  assert.deepEqual([histogram?.length, histogram?.[0], histogram?.at(-1)], [16, 1, 2]);
});

test('numbers that are all equal have no ranges', () => {
  assert.deepEqual(factsOf([1, 1], '').histogram, []);
});

test('a column with a word is text', () => {
  const facts = factsOf(['9', '10', 'n/a', ' '], '');
  assert.deepEqual([facts.type, facts.min, facts.max, facts.distinct], ['text', ' ', 'n/a', 4]);
  assert.equal(facts.histogram, undefined);
});

test('nested values are compared as their JSON', () => {
  assert.equal(factsOf([{ a: 1 }, { a: 1 }, [2]], '').distinct, 2);
});

test('a column without values has only their number', () => {
  const { nulls, min, max, distinct } = factsOf([null, undefined], '');
  assert.deepEqual(
    { nulls, min, max, distinct },
    { nulls: 2, min: undefined, max: undefined, distinct: 0 },
  );
});

test('the ends of numbers keep all their digits', () => {
  const { min, max } = factsOf(['9007199254740993', '5', '-0.10'], '');
  assert.deepEqual([min, max], ['-0.10', '9007199254740993']);
});

test('what is not a finite number is in no range', () => {
  const facts = factsOf(['NaN', '1', 'Infinity'], '', { type: 'double', isNumber: true });
  assert.deepEqual(
    [facts.type, facts.min, facts.max, facts.histogram],
    ['double', '1', 'Infinity', []],
  );
});
