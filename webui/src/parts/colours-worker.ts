/** Colours code as HTML beside the page. */

import type { HLJSApi, LanguageFn } from 'highlight.js';
import highlighter from 'highlight.js/lib/core';
import type { Coloured } from './colours';

type Module = Promise<{ default: LanguageFn }>;

const LANGUAGES: Record<string, () => Module> = {
  python: () => import('highlight.js/lib/languages/python'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  json: () => import('highlight.js/lib/languages/json'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
  sql: () => import('highlight.js/lib/languages/sql'),
  bash: () => import('highlight.js/lib/languages/bash'),
  xml: () => import('highlight.js/lib/languages/xml'),
  css: () => import('highlight.js/lib/languages/css'),
  java: () => import('highlight.js/lib/languages/java'),
  go: () => import('highlight.js/lib/languages/go'),
  rust: () => import('highlight.js/lib/languages/rust'),
  r: () => import('highlight.js/lib/languages/r'),
  scala: () => import('highlight.js/lib/languages/scala'),
  ini: () => import('highlight.js/lib/languages/ini'),
};

addEventListener('message', async ({ data }: MessageEvent<Coloured>) => {
  postMessage(await htmlOf(data));
});
postMessage('ready');

async function htmlOf({ text, language }: Coloured): Promise<string | null> {
  const load = LANGUAGES[language];
  if (!load) return null;
  const api: HLJSApi = highlighter;
  if (!api.getLanguage(language)) api.registerLanguage(language, (await load()).default);
  return api.highlight(text, { language, ignoreIllegals: true }).value;
}
