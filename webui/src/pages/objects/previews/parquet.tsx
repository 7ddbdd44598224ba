/** Parquet: the schema and a hundred rows at a time; only the needed ranges are read. */

import { type AsyncBuffer, cachedAsyncBuffer } from 'hyparquet';
import { useMemo, useState } from 'preact/hooks';
import { Failure, sentence } from '../../../api/client';
import { fetchRange } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import type { Column } from '../../../parts/column-head';
import { LIMITS } from '../../../parts/limits';
import { openParquet, type ParquetFile, readRows } from '../../../parts/parquet/columns';
import { factsOf } from '../../../parts/parquet/statistics';
import { textOf } from '../../../parts/parquet/types';
import { Problem, Skeleton } from '../../../parts/state';
import { TableView } from '../../../parts/table-view';
import { countText } from '../../../parts/words';
import type { PreviewProps } from './props';

const ROWS = 100;

const MOST = { characters: LIMITS.cell_characters, bytes: LIMITS.cell_bytes };

/** A struct may have any number of fields. */
function shortened(type: string): string {
  return type.length > LIMITS.type_characters ? `${type.slice(0, LIMITS.type_characters)}…` : type;
}

function columnsOf({ columns }: ParquetFile): Column[] {
  return columns.map(column => ({
    name: column.name,
    type: shortened(column.type.name),
    isNumber: column.type.is === 'leaf' && column.type.isBare,
    facts: () => factsOf(column, MOST),
  }));
}

/** Return the texts of the rows, of as many columns as show. */
async function textsOf(source: AsyncBuffer, file: ParquetFile, from: number, to: number) {
  const rows = await readRows(source, file, { count: LIMITS.columns, from, to });
  return rows.map(row =>
    row.map((value, at) => {
      const column = file.columns[at];
      return column && textOf(column.type, value, MOST);
    }),
  );
}

/** Throw what a person is told of the error; one that did not come from the server is the file's. */
function blameFile(told: string, advice: string) {
  return (error: unknown): never => {
    if (error instanceof Failure || !(error instanceof Error) || error.name === 'AbortError')
      throw error;
    // The reader's own errors have a reason; others tell only that it did not expect such a file.
    const reason = error.name === 'Error' ? sentence(error.message) : '';
    throw new Failure([told, reason, advice].filter(Boolean).join(' '), -1);
  };
}

const noFile = blameFile(
  'This is not a valid Parquet file.',
  'If it should be one, write it again. To look into it, download it.',
);
const noRows = blameFile(
  'These rows cannot be read here: they are broken, or too large.',
  'Download the object to read them.',
);

export default function ParquetPreview({ place, stats }: PreviewProps) {
  const [page, setPage] = useState<[number, number]>([0, ROWS]);
  const file = useMemo<AsyncBuffer>(
    () =>
      cachedAsyncBuffer({
        byteLength: stats.size_bytes,
        slice: async (start, end = stats.size_bytes) =>
          (await fetchRange(place, start, end)).buffer,
      }),
    [place.repository, place.ref, place.path, stats.checksum],
  );
  const head = useResource(['parquet', place, stats.checksum], async () => {
    const opened = await openParquet(file).catch(noFile);
    return { opened, columns: columnsOf(opened), count: Number(opened.metadata.num_rows) };
  });
  const rows = useResource(['rows', place, page, Boolean(head.data)], async () => {
    if (!head.data) return undefined;
    const [from, to] = page;
    return textsOf(file, head.data.opened, from, Math.min(head.data.count, to)).catch(noRows);
  });
  if (head.failure) return <Problem failure={head.failure} retry={head.reload} />;
  if (!head.data) return <Skeleton lines={8} />;
  const { opened, columns, count } = head.data;
  const { metadata } = opened;
  const codecs = new Set(
    metadata.row_groups.flatMap(group => group.columns.map(each => each.meta_data?.codec)),
  );
  return (
    <div class="stack tight">
      <p class="small quiet">
        {countText(count, 'row')}, {countText(columns.length, 'column')},{' '}
        {countText(metadata.row_groups.length, 'row group')}, {[...codecs].join(', ')}
      </p>
      <Problem failure={rows.failure} retry={rows.reload} />
      <TableView
        columns={columns}
        count={count}
        rows={() => rows.data}
        onPage={(from, to) => setPage([from, to])}
      />
    </div>
  );
}
