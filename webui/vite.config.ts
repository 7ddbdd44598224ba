import { defineConfig } from 'vite';
import { licences } from './plugins/licences.ts';
import { colourScales } from './plugins/scales.ts';

// `npm run dev` passes the API's requests on to a running `make serve`.
const API = 'http://127.0.0.1:8000';

const MANY =
  /virtual-core|src\/(api|shell|links|pages\/refs|pages\/objects\/styles|parts\/(?!markdown|parquet|column|table|code|diff))/;

export default defineConfig({
  plugins: [colourScales(), licences()],
  build: {
    outDir: '../functions/web/page',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // the content security policy allows no inline content
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What many pages share comes in one file: on a slow network, each file costs a round trip.
          groups: [{ name: 'shared', test: MANY, minShareCount: 4 }],
        },
      },
    },
  },
  server: { proxy: { '/api': API, '/openapi.json': API, '/logout': API } },
});
