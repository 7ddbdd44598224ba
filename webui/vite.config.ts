import { defineConfig } from 'vite';
import { licences } from './plugins/licences.ts';
import { colourScales } from './plugins/scales.ts';

// `npm run dev` passes the API's requests on to a running `make serve`.
const API = 'http://127.0.0.1:8000';

// On a slow network each file costs a round trip. So what several pages share is one file, and so are
// the pages of one folder; what only some objects or pages need loads with them.
const SHARED =
  /virtual-core|src\/(api|shell|links|pages\/(refs|first-steps)|parts\/(?!markdown|safe|tex|parquet|column|table|code|sql\/(?!names)|diff\/(?!source)))/;
const FOLDER = /src\/pages\/(\w+)\/(?!previews|pull)/;
// The command line has this file, which one page shares.
const SNIPPETS = /graveler_cli\/snippets\.json$/;

export default defineConfig({
  plugins: [colourScales(), licences()],
  build: {
    outDir: '../graveler_functions/web/page',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // the content security policy allows no inline content
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'shared', test: SHARED, minShareCount: 2 },
            {
              debugName: 'folder',
              name: id => (SNIPPETS.test(id) ? 'objects' : (FOLDER.exec(id)?.[1] ?? null)),
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: {
    fs: { allow: ['..'] },
    proxy: { '/api': API, '/openapi.json': API, '/logout': API, '/waits': API },
  },
});
