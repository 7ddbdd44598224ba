/** Text with line numbers; coloured by its language, if it is a known one. */

import DOMPurify from 'dompurify';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from './button';
import styles from './code-view.module.css';
import { coloured } from './colours';
import { beginning, LIMITS } from './limits';

const BY_EXTENSION: Record<string, string> = {
  py: 'python',
  js: 'javascript',
  mjs: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  tsx: 'typescript',
  json: 'json',
  geojson: 'json',
  yaml: 'yaml',
  yml: 'yaml',
  sql: 'sql',
  sh: 'bash',
  bash: 'bash',
  html: 'xml',
  xml: 'xml',
  css: 'css',
  java: 'java',
  go: 'go',
  rs: 'rust',
  r: 'r',
  scala: 'scala',
  toml: 'ini',
  ini: 'ini',
  cfg: 'ini',
};

/** Return the language of a file name, or nothing. */
export function languageOf(path: string): string | undefined {
  return BY_EXTENSION[path.split('.').at(-1)?.toLowerCase() ?? ''];
}

interface CodeProps {
  text: string;
  language?: string;
}

/** Shows the text; if it is a long one, its beginning, and more on demand. */
export function CodeView({ text, language }: CodeProps) {
  const [steps, setSteps] = useState(1);
  const shown = useMemo(
    () => beginning(text, steps * LIMITS.lines, steps * LIMITS.characters),
    [text, steps],
  );
  if (shown.length === text.length) return <Code text={text} language={language} />;
  return (
    <div class="stack tight">
      <Code text={shown} language={language} />
      <div class="bar small">
        <span class="quiet">The text goes on.</span>
        <Button isSmall onClick={() => setSteps(steps + 1)}>
          Show more lines
        </Button>
      </div>
    </div>
  );
}

/** Draws the text at once, and its colours when the language is loaded. */
function Code({ text, language }: CodeProps) {
  const [html, setHtml] = useState<string>();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    let isCurrent = true;
    setHtml(undefined);
    if (language)
      coloured(text, language)
        .then(told => isCurrent && setHtml(told ?? undefined))
        .catch(() => {}); // the text is readable without colours
    return () => {
      isCurrent = false;
    };
  }, [text, language]);
  useLayoutEffect(() => {
    if (html === undefined) box.current?.replaceChildren(text);
    else box.current?.replaceChildren(DOMPurify.sanitize(html, { RETURN_DOM_FRAGMENT: true }));
  }, [html, text]);
  const count = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const numbers = Array.from({ length: count }, (_, line) => line + 1).join('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus
    <section class={styles.code} tabIndex={0} aria-label="Content">
      <pre class={styles.numbers} aria-hidden="true">
        {numbers}
      </pre>
      <pre class={styles.text}>
        <code ref={box} />
      </pre>
    </section>
  );
}
