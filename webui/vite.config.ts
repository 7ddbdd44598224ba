import { defineConfig } from 'vite';
import { licences } from './plugins/licences.ts';
import { colourScales } from './plugins/scales.ts';

// `npm run dev` passes the API's requests on to a running `make serve`.
const API = 'http://127.0.0.1:8000';

export default defineConfig({
  plugins: [colourScales(), licences()],
  build: {
    outDir: '../functions/web/page',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // the content security policy allows no inline content
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': API, '/openapi.json': API, '/logout': API } },
});
