/** JSON lines as a table, with a column for each key of any line. */

import { useMemo, useState } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { LIMITS } from '../../../parts/limits';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import { TableView } from '../../../parts/table-view';
import { columnFacts } from './facts';
import { cellOf, readLines } from './lines';
import { LongLine, MoreContent, STEP_BYTES } from './more-content';
import type { PreviewProps } from './props';

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
        : readLines(isCut ? data.slice(0, data.lastIndexOf('\n') + 1) : data),
    [data, isCut],
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!lines) return <Skeleton lines={8} />;
  return (
    <div class="stack tight">
      {lines.wrong > 0 && (
        <Notice kind="warning">{lines.wrong} lines are left out: they are not JSON.</Notice>
      )}
      {isCut && !lines.rows.length ? (
        <LongLine end={end} />
      ) : (
        <TableView
          columns={lines.keys.map(name => ({
            name,
            facts: () =>
              columnFacts(
                lines.rows.map(row => cellOf(row, name)),
                isCut,
              ),
          }))}
          count={lines.rows.length}
          rows={(from, to) => {
            const keys = lines.keys.slice(0, LIMITS.columns);
            return lines.rows.slice(from, to).map(row => keys.map(key => cellOf(row, key)));
          }}
          isCut={isCut}
        />
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
