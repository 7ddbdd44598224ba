import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  agoText,
  countText,
  integerText,
  shortId,
  sizeText,
  titleOf,
  visible,
} from '../src/parts/words';

test('sizes have at most three digits and a decimal unit', () => {
  const texts: [number, string][] = [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [1500, '1.5 kB'],
    [9949, '9.9 kB'],
    [9950, '10 kB'],
    [999_499, '999 kB'],
    [999_500, '1.0 MB'],
    [2.5e12, '2.5 TB'],
    [5e18, '5000 PB'],
  ];
  for (const [size, text] of texts) assert.equal(sizeText(size), text);
});

test('one is not many', () => {
  assert.equal(countText(0, 'object'), '0 objects');
  assert.equal(countText(1, 'object'), '1 object');
  assert.equal(countText(1234, 'object'), '1,234 objects');
  assert.equal(countText(2, 'branch', 'branches'), '2 branches');
});

test('times are told in their largest unit', () => {
  const now_s = 1_760_000_000;
  const texts: [number, string][] = [
    [0, 'just now'],
    [-9, 'just now'],
    [-10, '10 seconds ago'],
    [-59, '59 seconds ago'],
    [-60, '1 minute ago'],
    [-3599, '59 minutes ago'],
    [-7200, '2 hours ago'],
    [-86400, 'yesterday'],
    [7200, 'in 2 hours'],
    [-14 * 86400, '2 weeks ago'],
    [-60 * 86400, '2 months ago'],
    [-800 * 86400, '2 years ago'],
  ];
  for (const [apart_s, text] of texts) assert.equal(agoText(now_s + apart_s, now_s), text);
});

test('only IDs are shortened', () => {
  assert.equal(shortId('0123456789abcdef'.repeat(4)), '0123456789ab');
  for (const name of ['main', 'abc123', 'feedbeeffeedbeef', `${'a'.repeat(30)}-x`])
    assert.equal(shortId(name), name);
});

test('an integer has separators of thousands', () => {
  assert.equal(integerText(1234567), '1,234,567');
});

test('a name that turns its direction does not look like another one', () => {
  assert.equal(visible('a\u202egpj.csv\u2069'), 'a⟨U+202E⟩gpj.csv⟨U+2069⟩');
  assert.equal(visible('\u200fé שלום 日本'), '⟨U+200F⟩é שלום 日本');
  assert.equal(titleOf({ message: 'one\u202e\ntwo' }), 'one⟨U+202E⟩');
  assert.equal(titleOf({ message: '' }), 'No message');
});
