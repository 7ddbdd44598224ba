/** JSON lines as a table, with a column for each key of any line. */

import { useMemo, useState } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import { TableView } from '../../../parts/table-view';
import type { PreviewProps } from '../preview';
import { columnFacts } from './facts';
import { MoreContent, STEP_BYTES } from './more-content';

interface Lines {
  keys: string[];
  rows: unknown[][];
  /** How many lines are not JSON. */
  wrong: number;
}

function parse(text: string): Lines {
  const keys = new Map<string, number>();
  const records: Record<string, unknown>[] = [];
  let wrong = 0;
  for (const line of text.split('\n')) {
    if (!line.trim()) continue;
    try {
      const value: unknown = JSON.parse(line);
      const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
      const record = isRecord ? (value as Record<string, unknown>) : { value };
      for (const key of Object.keys(record)) if (!keys.has(key)) keys.set(key, keys.size);
      records.push(record);
    } catch {
      wrong += 1;
    }
  }
  const names = [...keys.keys()];
  return { keys: names, rows: records.map(record => names.map(name => record[name])), wrong };
}

export default function JsonLinesPreview({ place, stats }: PreviewProps) {
  const [wanted_bytes, setWanted] = useState(STEP_BYTES);
  const end = Math.min(stats.size_bytes, wanted_bytes);
  const isCut = end < stats.size_bytes;
  const { data, failure, reload } = useResource(['lines', place, stats.checksum, end], signal =>
    readText(place, stats.size_bytes, end, signal),
  );
  const lines = useMemo(
    () =>
      data === undefined
        ? undefined
        : parse(isCut ? data.slice(0, data.lastIndexOf('\n') + 1) : data),
    [data, isCut],
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!lines) return <Skeleton lines={8} />;
  return (
    <div class="stack tight">
      {lines.wrong > 0 && (
        <Notice kind="warning">{lines.wrong} lines are left out: they are not JSON.</Notice>
      )}
      <TableView
        columns={lines.keys.map((name, at) => ({
          name,
          facts: () => columnFacts(lines.rows, at, isCut),
        }))}
        count={lines.rows.length}
        rows={(from, to) => lines.rows.slice(from, to)}
        isCut={isCut}
      />
      {isCut && (
        <MoreContent
          {...{ end, size_bytes: stats.size_bytes }}
          onMore={() => setWanted(wanted_bytes * 2)}
        />
      )}
    </div>
  );
}
