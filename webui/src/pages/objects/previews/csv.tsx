/** Comma- or tab-separated values as a table; more are loaded on demand. */

import { useMemo, useState } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { separated } from '../../../parts/separated';
import { Problem, Skeleton } from '../../../parts/state';
import { TableView } from '../../../parts/table-view';
import { columnFacts } from './facts';
import { LongLine, MoreContent, STEP_BYTES } from './more-content';
import type { PreviewProps } from './props';

export default function CsvPreview({ place, stats }: PreviewProps) {
  const [wanted_bytes, setWanted] = useState(STEP_BYTES);
  const end = Math.min(stats.size_bytes, wanted_bytes);
  const isCut = end < stats.size_bytes;
  const { data, failure, reload } = useResource(['csv', place, stats.checksum, end], signal =>
    readText(place, stats.size_bytes, end, signal),
  );
  const table = useMemo(() => {
    if (data === undefined) return undefined;
    // The last line may be cut.
    const text = isCut ? data.slice(0, data.lastIndexOf('\n') + 1) : data;
    return separated(place.path, text);
  }, [data, isCut, place.path]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!table) return <Skeleton lines={8} />;
  const { columns, rows: body } = table;
  return (
    <div class="stack tight">
      {isCut && !columns.length ? (
        <LongLine end={end} />
      ) : (
        <TableView
          columns={columns.map((name, at) => ({
            name,
            facts: () =>
              columnFacts(
                body.map(cells => cells[at]),
                isCut,
              ),
          }))}
          count={body.length}
          rows={(from, to) => body.slice(from, to)}
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
