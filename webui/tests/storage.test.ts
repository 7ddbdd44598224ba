import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { forgetAllBut, remember, remembered } from '../src/parts/storage';

class Storage {
  [key: string]: unknown;
}
Object.defineProperties(Storage.prototype, {
  getItem: {
    value(this: Storage, key: string) {
      return this[key] ?? null;
    },
  },
  setItem: {
    value(this: Storage, key: string, text: string) {
      this[key] = text;
    },
  },
  removeItem: {
    value(this: Storage, key: string) {
      delete this[key];
    },
  },
});

beforeEach(() => {
  Object.defineProperty(globalThis, 'localStorage', { value: new Storage(), configurable: true });
});

test('what is remembered is read again, until it is forgotten', () => {
  remember('a', { b: [1] });
  assert.deepEqual(remembered('a'), { b: [1] });
  remember('a', undefined);
  assert.equal(remembered('a'), undefined);
});

test('what something else has stored is nothing', () => {
  localStorage.setItem('a', 'no JSON');
  assert.equal(remembered('a'), undefined);
});

test('a log-out forgets all but what is of the page', () => {
  remember('graveler.theme', 'dark');
  remember('upload', 1);
  forgetAllBut('graveler.');
  assert.equal(remembered('graveler.theme'), 'dark');
  assert.equal(remembered('upload'), undefined);
});

test('a browser that refuses storage forgets', () => {
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    get: () => {
      throw new DOMException('refused', 'SecurityError');
    },
  });
  remember('a', 1);
  assert.equal(remembered('a'), undefined);
  forgetAllBut('graveler.');
});
