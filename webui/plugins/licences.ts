/** Writes the licences of all third-party code in the build beside it, as those licences demand. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** Packages whose content enters the build by a plugin or a worker, so no module of theirs is seen there. */
const BY_OTHER_WAYS = ['@radix-ui/colors', 'highlight.js', 'marked', 'sql.js', 'vite'];
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

interface Manifest {
  name: string;
  version: string;
  license?: string;
}

/** Return the folder of the package that has this module; nothing for a module of ours. */
function folderOf(module: string): string | undefined {
  return PACKAGE.exec(module)?.[0];
}

/** Return a package's name, version and licence texts. Fails without a text: it must not be left out. */
function licenceOf(folder: string): string {
  const { name, version, license }: Manifest = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf-8'),
  );
  const files = readdirSync(folder).filter(file => LICENCE_FILE.test(file));
  if (!files.length) {
    throw new Error(`${name} has no file with its licence: add its text in plugins/licences.ts`);
  }
  const texts = files.sort().map(file => readFileSync(join(folder, file), 'utf-8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

export function licences(): Plugin {
  let root = '';
  return {
    name: 'licences',
    apply: 'build',
    configResolved(config) {
      root = config.root;
    },
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap(file =>
        file.type === 'chunk' ? file.moduleIds : [],
      );
      const named = BY_OTHER_WAYS.map(name => join(root, 'node_modules', name));
      const folders = new Set([...modules.map(folderOf), ...named]);
      const texts = [...folders].filter(folder => folder !== undefined).map(licenceOf);
      const separator = `\n\n${'-'.repeat(80)}\n\n`;
      const source = `${texts.sort().join(separator)}\n`;
      this.emitFile({ type: 'asset', name: 'licences.txt', source });
    },
  };
}
