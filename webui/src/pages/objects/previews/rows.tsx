/** A text whose lines are the rows of a table; more are loaded on demand. */

import { useMemo, useState } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import type { Read } from '../../../parts/table-model';
import { LoadedTable } from '../../../parts/table-view';
import { LongLine, MoreContent, STEP_BYTES } from './more-content';
import type { PreviewProps } from './props';

export interface Rows<Row> {
  names: readonly string[];
  rows: readonly Row[];
  read: Read<Row>;
  /** How many lines are no rows. */
  wrong?: number;
}

interface RowsProps<Row> extends PreviewProps {
  rowsOf: (path: string, text: string) => Rows<Row>;
}

export function RowsPreview<Row>({ place, stats, rowsOf }: RowsProps<Row>) {
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
    return rowsOf(place.path, isCut ? data.slice(0, data.lastIndexOf('\n') + 1) : data);
  }, [data, isCut, place.path]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!table) return <Skeleton lines={8} />;
  return (
    <div class="stack tight">
      {Boolean(table.wrong) && (
        <Notice kind="warning">{table.wrong} lines are left out: they are not JSON.</Notice>
      )}
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
