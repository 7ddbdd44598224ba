/** A text whose lines are the rows of a table; more are loaded on demand. */

import { useMemo, useState } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { separated } from '../../../parts/csv';
import { cellOf, type Line, readLines } from '../../../parts/json-lines';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import { LoadedTable } from '../../../parts/table-view';
import { countText } from '../../../parts/words';
import { LongLine, MoreContent, STEP_BYTES } from '../more-content';
import type { PreviewProps } from './props';

const SEPARATED = /\.[ct]sv$/i;

/** Return the table of separated values, or of JSON lines: these have a column for each key of any line. */
function tableOf(path: string, text: string, isCut: boolean) {
  if (SEPARATED.test(path)) {
    const { columns, rows, open } = separated(path, text);
    return {
      names: columns,
      rows,
      wrong: open && !isCut ? `Line ${open} has a quote that is not closed.` : '',
      read: (row: unknown, at: number) => (row as string[])[at],
    };
  }
  const { keys, rows, wrong } = readLines(text);
  const read = (row: unknown, at: number) => cellOf(row as Line, keys[at] ?? '');
  const left = countText(wrong, 'line is', 'lines are');
  return { names: keys, rows, wrong: wrong ? `${left} left out: not JSON.` : '', read };
}

export default function RowsPreview({ place, stats }: PreviewProps) {
  const [wanted_bytes, setWanted] = useState(STEP_BYTES);
  const end = Math.min(stats.size_bytes, wanted_bytes);
  const isCut = end < stats.size_bytes;
  const { data, failure, reload } = useResource(
    ['rows of text', place, stats.checksum, end],
    signal => readText(place, stats.size_bytes, end, signal),
  );
  const table = useMemo(() => {
    if (data === undefined) return undefined;
    // The last line may be cut.
    const text = isCut ? data.slice(0, data.lastIndexOf('\n') + 1) : data;
    return tableOf(place.path, text, isCut);
  }, [data, isCut, place.path]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!table) return <Skeleton lines={8} />;
  return (
    <div class="stack tight">
      {table.wrong && <Notice kind="warning">{table.wrong}</Notice>}
      {isCut && !table.names.length ? (
        <LongLine end={end} />
      ) : (
        <LoadedTable {...table} isCut={isCut} />
      )}
      {isCut && (
        <MoreContent
          {...{ end, size_bytes: stats.size_bytes }}
          onMore={() => setWanted(wanted_bytes * 2)}
        />
      )}
    </div>
  );
}
