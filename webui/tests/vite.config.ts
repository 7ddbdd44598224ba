/** Compiles the tests, and what they test, for node's own test runner: no framework to keep up with. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';

const tests = readdirSync(import.meta.dirname).filter(name => name.endsWith('.test.ts'));

export default defineConfig({
  build: {
    ssr: true,
    outDir: 'build/tests',
    emptyOutDir: true,
    target: 'node20',
    sourcemap: true,
    rolldownOptions: { input: tests.map(name => join(import.meta.dirname, name)) },
  },
  logLevel: 'warn',
});
