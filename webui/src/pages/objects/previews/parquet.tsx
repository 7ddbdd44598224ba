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
import { compressors } from '../../../parts/parquet-codecs';
import { Problem, Skeleton } from '../../../parts/state';
import { TableView } from '../../../parts/table-view';
import { countText } from '../../../parts/words';
import type { PreviewProps } from '../preview';

const ROWS = 100;

function columnsOf(metadata: FileMetaData) {
  return parquetSchema(metadata).children.map(({ element }) => ({
    name: element.name,
    type: (element.logical_type?.type ?? element.converted_type ?? element.type ?? 'group')
      .toString()
      .toLowerCase(),
  }));
}

/** Throw what a person is told of the error; one that did not come from the server is the file's. */
function blameFile(error: unknown): never {
  if (error instanceof Failure || !(error instanceof Error) || error.name === 'AbortError')
    throw error;
  throw new Failure(
    `This is not a Parquet file, or a broken one: ${sentence(error.message)} Download it to look into it.`,
    -1,
  );
}

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
    const metadata = await parquetMetadataAsync(file).catch(blameFile);
    return { metadata, columns: columnsOf(metadata), count: Number(metadata.num_rows) };
  });
  const rows = useResource(['rows', place, page, Boolean(head.data)], async () => {
    if (!head.data) return undefined;
    const { metadata, columns, count } = head.data;
    const [rowStart, to] = page;
    const rowEnd = Math.min(count, to);
    const range = { file, metadata, rowStart, rowEnd, compressors };
    const read = await parquetReadObjects(range).catch(blameFile);
    return read.map(record => columns.map(({ name }) => record[name]));
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
