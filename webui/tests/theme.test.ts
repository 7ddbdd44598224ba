import assert from 'node:assert/strict';
import { test } from 'node:test';

test('a browser that refuses storage shows the colours of the system, and takes a choice', async () => {
  Object.defineProperty(globalThis, 'localStorage', {
    get: () => {
      throw new DOMException('refused', 'SecurityError');
    },
  });
  const dataset: Record<string, string> = {};
  Object.assign(globalThis, { document: { documentElement: { dataset } } });
  const { chooseTheme, theme } = await import('../src/shell/theme');
  assert.equal(theme.value, 'system');
  chooseTheme('dark');
  assert.equal(dataset.theme, 'dark');
});
