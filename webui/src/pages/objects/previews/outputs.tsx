/** The outputs of a cell: text in its colours, tables and images. What would run is left out. */

import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Span, terminalSpans } from '../../../parts/ansi';
import { beginning, LIMITS } from '../../../parts/limits';
import { Markdown } from '../../../parts/markdown';
import { safeHTML } from '../../../parts/safe-html';
import { imageOf, joined, type Output, outputsOf } from './cells';
import styles from './notebook.module.css';
import { Paged } from './paged';

export function Outputs({ outputs }: { outputs: readonly unknown[] }) {
  return (
    <Paged items={outputs} name="output">
      {shown =>
        toldOnce(outputsOf(shown)).map((output, at) => (
          <div class={styles.cell} key={at}>
            <span class={styles.prompt}>{promptOf(output)}</span>
            <OutputView output={output} />
          </div>
        ))
      }
    </Paged>
  );
}

/** Return the outputs; of those that are nothing but script, the first one says so for all. */
function toldOnce(outputs: readonly Output[]): Output[] {
  let isTold = false;
  return outputs.flatMap(output => {
    if (output.kind !== 'data' || imageOf(output.data)) return [output];
    const { 'text/html': html, ...data } = output.data;
    if (!html || readable(joined(html))) return [output];
    if (isTold) return data['text/plain'] ? [{ ...output, data }] : [];
    isTold = true;
    return [output];
  });
}

function promptOf(output: Output): string {
  if (output.kind === 'error') return 'Error';
  if (output.kind === 'text') return output.name === 'stderr' ? 'stderr' : '';
  return output.count === undefined ? '' : `Out [${output.count}]`;
}

function OutputView({ output }: { output: Output }) {
  if (output.kind === 'error') return <Terminal text={output.text} look={styles.error} />;
  if (output.kind === 'text')
    return <Terminal text={output.text} look={output.name === 'stderr' ? styles.stderr : ''} />;
  return <Data {...output} />;
}

/** Shows the text, in its colours if there are not too many of them. */
function Terminal({ text, look = '' }: { text: string; look?: string }) {
  const [spans, isWhole] = useMemo(() => {
    const spans = terminalSpans(text.slice(0, LIMITS.terminal_characters));
    const all = spans.map(span => span.text).join('');
    const shown = beginning(all, LIMITS.output_lines, LIMITS.output_characters);
    const isWhole = shown.length === all.length && text.length <= LIMITS.terminal_characters;
    const plain: Span[] = [{ text: shown, look: '' }];
    return [spans.length > LIMITS.coloured_words ? plain : first(spans, shown.length), isWhole];
  }, [text]);
  return (
    <div class="grow">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus */}
      <pre class={`${styles.text} ${look}`} tabIndex={0}>
        {spans.map((span, at) =>
          span.look ? (
            <span key={at} class={classesOf(span.look)}>
              {span.text}
            </span>
          ) : (
            span.text
          ),
        )}
      </pre>
      {!isWhole && (
        <p class="small quiet">
          The rest of this output is left out. Download the notebook for it.
        </p>
      )}
    </div>
  );
}

/** Return the spans of the first characters. */
function first(spans: readonly Span[], characters: number): Span[] {
  let rest = characters;
  return spans.flatMap(span => {
    const text = span.text.slice(0, Math.max(0, rest));
    rest -= span.text.length;
    return text ? [{ ...span, text }] : [];
  });
}

function classesOf(look: string): string {
  return look
    .split(' ')
    .map(name => styles[name])
    .join(' ');
}

function Data({ data, metadata }: Extract<Output, { kind: 'data' }>) {
  const html = joined(data['text/html']);
  const content = useMemo(() => readable(html), [html]);
  if (content) return <SafeHTML content={content} />;
  const text = joined(data['text/plain']);
  const image = imageOf(data, metadata);
  if (image) {
    const { address, width, height } = image;
    // Also where the image is narrower than it should be.
    const style = width && height ? { aspectRatio: `${width} / ${height}` } : undefined;
    const size = { width, height, style };
    return <img class={styles.image} src={address} alt={text || 'Output'} {...size} />;
  }
  const markdown = joined(data['text/markdown'] ?? data['text/latex']);
  if (markdown) return <Markdown text={markdown} />;
  return (
    <div class="grow">
      {text && <Terminal text={text} />}
      {html && (
        <p class="small quiet">
          {html.length > LIMITS.output_characters
            ? 'The HTML of this output is too large to show here.'
            : 'Interactive output (a script) does not show here.'}{' '}
          Download the notebook for it.
        </p>
      )}
      {!text && !html && (
        <p class="small quiet">
          An output of the type {Object.keys(data).join(', ') || 'unknown'} is left out.
        </p>
      )}
    </div>
  );
}

/** Return the HTML without what would run, unless nothing is left to read. */
function readable(html: string): DocumentFragment | undefined {
  const content = html.length > LIMITS.output_characters ? undefined : safeHTML(html);
  return content?.textContent?.trim() || content?.querySelector('img') ? content : undefined;
}

function SafeHTML({ content }: { content: DocumentFragment }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    box.current?.replaceChildren(content);
  }, [content]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus
    <section class={`grow ${styles.html}`} tabIndex={0} aria-label="Output" ref={box} />
  );
}
