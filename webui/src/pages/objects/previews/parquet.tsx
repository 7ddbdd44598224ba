/** Parquet: the schema and a hundred rows at a time; only the needed ranges are read. */

import {
  type AsyncBuffer,
  cachedAsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { useMemo, useState } from 'preact/hooks';
import { Failure, sentence } from '../../../api/client';
import { fetchRange } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { type ColumnFacts, ends } from '../../../parts/column-facts';
import { LIMITS } from '../../../parts/limits';
import { compressors } from '../../../parts/parquet-codecs';
import { numberColumns } from '../../../parts/parquet-columns';
import { Problem, Skeleton } from '../../../parts/state';
import { type Column, TableView } from '../../../parts/table-view';
import { countText } from '../../../parts/words';
import type { PreviewProps } from '../preview';

const ROWS = 100;

/** Return the columns of the metadata, whose names are numbers then. */
function columnsOf(metadata: FileMetaData): Column[] {
  const { children } = parquetSchema(metadata);
  const names = numberColumns(metadata);
  return children.map(({ element }, at) => {
    const type = (element.logical_type?.type ?? element.converted_type ?? element.type ?? 'group')
      .toString()
      .toLowerCase();
    return { name: names[at] ?? '', type, facts: () => statisticsOf(metadata, String(at), type) };
  });
}

/** Return what the row groups say of a column; a writer may have left out any of it. */
function statisticsOf(metadata: FileMetaData, name: string, type: string): ColumnFacts {
  const groups = metadata.row_groups.map(
    ({ columns }) =>
      columns.find(({ meta_data }) => meta_data?.path_in_schema.join('.') === name)?.meta_data
        ?.statistics,
  );
  const ofAll = <Value,>(values: (Value | undefined)[]): Value[] | undefined =>
    values.every(value => value !== undefined) ? (values as Value[]) : undefined;
  const nulls = ofAll(groups.map(group => group?.null_count));
  const least = ofAll(groups.map(group => group?.min_value ?? group?.min));
  const greatest = ofAll(groups.map(group => group?.max_value ?? group?.max));
  return {
    type,
    about: 'By the statistics of the row groups',
    nulls: nulls?.reduce((sum: number, each) => sum + Number(each), 0),
    min: ends(least ?? [])[0],
    max: ends(greatest ?? [])[1],
  };
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
    const metadata = await parquetMetadataAsync(file).catch(noFile);
    return { metadata, columns: columnsOf(metadata), count: Number(metadata.num_rows) };
  });
  const rows = useResource(['rows', place, page, Boolean(head.data)], async () => {
    if (!head.data) return undefined;
    const { metadata, columns, count } = head.data;
    const [rowStart, to] = page;
    const rowEnd = Math.min(count, to);
    const shown = columns.slice(0, LIMITS.columns).map((_, at) => String(at));
    const range = { file, metadata, columns: shown, rowStart, rowEnd, compressors };
    const read = await parquetReadObjects(range).catch(noRows);
    return read.map(record => shown.map(name => record[name]));
  });
  if (head.failure) return <Problem failure={head.failure} retry={head.reload} />;
  if (!head.data) return <Skeleton lines={8} />;
  const { metadata, columns, count } = head.data;
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
