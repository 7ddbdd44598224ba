/** What came of a query: its rows, what was read for them, or what is wrong with it. */

import { useMemo } from 'preact/hooks';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { csvOf, hasFormulas, jsonOf } from '../../parts/sql/export';
import { pointed, type Span } from '../../parts/sql/mistakes';
import { apart } from '../../parts/sql/names';
import type { Answered } from '../../parts/sql/run';
import type { Progress } from '../../parts/sql/tables';
import { Notice, Problem } from '../../parts/state';
import { LoadedTable } from '../../parts/table-view';
import { tell } from '../../parts/toast';
import { countText, shortId, sizeText } from '../../parts/words';
import styles from './results.module.css';
import type { RunAnswer } from './use-answer';

interface ResultsProps {
  answer: RunAnswer;
  query: string;
  repository: string;
}

export function Results({ answer, query, repository }: ResultsProps) {
  const { failure, result, isStopped, progress, again } = answer;
  if (isStopped) return <Notice>The query is stopped.</Notice>;
  if (failure) {
    const at = failure.details as Span | undefined;
    return at ? (
      <Wrong {...{ query, at }} message={failure.message} />
    ) : (
      <Problem failure={failure} retry={again} />
    );
  }
  if (!result)
    return (
      <p class="bar small quiet" role="status">
        <span class="spinner" /> Running… {progress && readText(progress)}
      </p>
    );
  return (
    <div class="stack tight">
      <Facts {...{ result, repository }} />
      {result.isCut && (
        <Notice kind="warning">
          These are the first {countText(result.rows.length, 'row')}. There are more: narrow the
          query, or use LIMIT and OFFSET.
        </Notice>
      )}
      <Rows {...{ result }} />
    </div>
  );
}

const cellOf = (row: readonly (string | null)[], at: number) => row[at];

function Rows({ result: { columns, rows, isCut } }: { result: Answered }) {
  const names = useMemo(() => apart(columns.map(({ name }) => name)), [columns]);
  return <LoadedTable {...{ names, rows, isCut }} read={cellOf} />;
}

function readText({ rows, bytes }: Progress): string {
  return `${countText(rows, 'row')} scanned, ${sizeText(bytes)} read`;
}

/** Says what was read, and at which commits. */
function Facts({
  result,
  repository,
}: {
  result: RunAnswer['result'] & object;
  repository: string;
}) {
  const { rows, read, time_ms, pins } = result;
  const csv = () => {
    if (hasFormulas(result)) tell(FORMULAS);
    return csvOf(result);
  };
  return (
    <div class="bar">
      <span class="small quiet grow" role="status">
        {countText(rows.length, 'row')} in {(time_ms / 1_000).toFixed(1)} s. {readText(read)}
        {pins.map(([ref, commit]) => {
          const [name = '', at = ''] = ref.replace('lakefs://', '').split('/');
          return (
            <>
              , {name === repository ? at : `${name}/${at}`} at commit{' '}
              <a key={ref} href={links.commit(name, commit)}>
                {shortId(commit)}
              </a>
            </>
          );
        })}
      </span>
      <Download text={csv} name="result.csv" type="text/csv" />
      <Download text={() => jsonOf(result)} name="result.json" type="application/json" />
    </div>
  );
}

const FORMULAS =
  'Saved as it is stored. A spreadsheet runs texts that begin with =, +, - or @ as formulas: import them as text.';

interface DownloadProps {
  text: () => string;
  name: string;
  type: string;
}

function Download({ text, name, type }: DownloadProps) {
  const save = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text()], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <Button isSmall icon="download" onClick={save}>
      {name.split('.').at(-1)?.toUpperCase()}
    </Button>
  );
}

/** Shows the line of the query that is wrong, and points at the word. */
function Wrong({ query, at, message }: { query: string; at: Span; message: string }) {
  const { line, text } = pointed(query, at);
  return (
    <Notice kind="danger">
      {message} <span class="quiet">Line {line}:</span>
      <pre class={styles.pointed}>{text}</pre>
    </Notice>
  );
}
