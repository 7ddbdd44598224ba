/** Gives the page Radix's colour scales as custom properties that follow the colour scheme. */

import * as radix from '@radix-ui/colors';
import type { Plugin } from 'vite';

const SCALES = ['slate', 'indigo', 'green', 'red', 'amber'] as const;
const MODULE = 'virtual:scales.css';

type Scales = Record<string, Record<string, string>>;

/** Return `--slate-1: light-dark(#fcfcfd, #111113)` and so on: twelve steps of each scale. */
function scales(): string {
  const all = radix as unknown as Scales;
  const lines = SCALES.flatMap(scale =>
    Object.entries(all[scale] ?? {}).map(([name, light]) => {
      const step = name.slice(scale.length);
      return `  --${scale}-${step}: light-dark(${light}, ${all[`${scale}Dark`]?.[name]});`;
    }),
  );
  return `:root {\n${lines.join('\n')}\n}\n`;
}

export function colourScales(): Plugin {
  return {
    name: 'colour-scales',
    resolveId: id => (id === MODULE ? `\0${MODULE}` : undefined),
    load: id => (id === `\0${MODULE}` ? scales() : undefined),
  };
}
