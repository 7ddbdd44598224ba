/** Comma- or tab-separated values as a table; more are loaded on demand. */

import { dsvFormat } from 'd3-dsv';
import { useMemo, useState } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { Problem, Skeleton } from '../../../parts/state';
import { TableView } from '../../../parts/table-view';
import type { PreviewProps } from '../preview';
import { columnFacts } from './facts';
import { LongLine, MoreContent, STEP_BYTES } from './more-content';

const DELIMITERS = [',', '\t', ';', '|'];

/** Return the delimiter that the first line has most often. */
function delimiterOf(text: string): string {
  const line = text.slice(0, text.indexOf('\n') + 1 || text.length);
  const counts = DELIMITERS.map(each => line.split(each).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

export default function CsvPreview({ place, stats }: PreviewProps) {
  const [wanted_bytes, setWanted] = useState(STEP_BYTES);
  const end = Math.min(stats.size_bytes, wanted_bytes);
  const isCut = end < stats.size_bytes;
  const { data, failure, reload } = useResource(['csv', place, stats.checksum, end], signal =>
    readText(place, stats.size_bytes, end, signal),
  );
  const rows = useMemo(() => {
    if (data === undefined) return undefined;
    // The last line may be cut.
    const text = isCut ? data.slice(0, data.lastIndexOf('\n') + 1) : data;
    return dsvFormat(delimiterOf(text)).parseRows(text.replace(/^\uFEFF/, ''));
  }, [data, isCut]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!rows) return <Skeleton lines={8} />;
  const [head = [], ...body] = rows;
  return (
    <div class="stack tight">
      {isCut && !rows.length ? (
        <LongLine end={end} />
      ) : (
        <TableView
          columns={head.map((name, at) => ({
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
