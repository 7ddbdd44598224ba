/** Parquet: the schema and a hundred rows at a time; only the needed ranges are read. */

import { type AsyncBuffer, cachedAsyncBuffer } from 'hyparquet';
import { useMemo } from 'preact/hooks';
import { Failure, sentence } from '../../../api/client';
import { fetchRange } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import type { Column } from '../../../parts/column-head';
import { LIMITS } from '../../../parts/limits';
import { openParquet, type ParquetFile, readRows } from '../../../parts/parquet/columns';
import { factsOf } from '../../../parts/parquet/statistics';
import { isNumber, textOf } from '../../../parts/parquet/types';
import { Problem, Skeleton } from '../../../parts/state';
import { arrange } from '../../../parts/table-model';
import { ROWS, useArranging } from '../../../parts/table-query';
import { Cell, TableView } from '../../../parts/table-view';
import { countText, integerText } from '../../../parts/words';
import type { PreviewProps } from './props';

const MOST = { characters: LIMITS.cell_characters, bytes: LIMITS.cell_bytes };

/** A struct may have any number of fields. */
function shortened(type: string): string {
  return type.length > LIMITS.type_characters ? `${type.slice(0, LIMITS.type_characters)}…` : type;
}

function columnsOf({ columns }: ParquetFile): Column[] {
  return columns.map(column => ({
    name: column.name,
    type: shortened(column.type.name),
    isNumber: isNumber(column.type),
    facts: () => [factsOf(column, MOST)],
  }));
}

interface Row {
  number: number;
  cells: (string | undefined)[];
}

/** Return the texts of the rows, of as many columns as show. */
async function rowsOf(source: AsyncBuffer, file: ParquetFile, from: number, to: number) {
  const rows = await readRows(source, file, { count: LIMITS.columns, from, to });
  return rows.map((row, at): Row => {
    const cells = row.map((value, place) => {
      const column = file.columns[place];
      return column && textOf(column.type, value, MOST);
    });
    return { number: from + at + 1, cells };
  });
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
  const file = useMemo<AsyncBuffer>(
    () =>
      cachedAsyncBuffer({
        byteLength: stats.size_bytes,
        slice: async (start, end = stats.size_bytes) =>
          (await fetchRange(place, start, end)).buffer,
      }),
    [place.repository, place.ref, place.path, stats.checksum],
  );
  const { data, failure, reload } = useResource(['parquet', place, stats.checksum], () =>
    openParquet(file).catch(noFile),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  const name = `${place.ref} ${place.path} ${stats.checksum}`;
  return <Rows key={name} source={file} opened={data} />;
}

function Rows({ source, opened }: { source: AsyncBuffer; opened: ParquetFile }) {
  const arranging = useArranging();
  const { arrangement, start } = arranging;
  const { metadata } = opened;
  const columns = useMemo(() => columnsOf(opened), [opened]);
  const count = Number(metadata.num_rows);
  // To sort and to search, a page of rows is not enough.
  const isArranged = Boolean(arrangement.sort || arrangement.filter);
  const most = Math.ceil(LIMITS.arranged_cells / Math.min(columns.length, LIMITS.columns));
  const from = isArranged ? 0 : start;
  const to = Math.min(count, isArranged ? most : start + ROWS);
  const { data, failure, reload } = useResource(['rows of Parquet', from, to], () =>
    rowsOf(source, opened, from, to).catch(noRows),
  );
  const rows = useMemo(() => {
    if (!data || !isArranged) return data;
    const places = arrange(columns, data, arrangement, (row, at) => row.cells[at]);
    return places.map(place => data[place] as Row);
  }, [data, arrangement.sort, arrangement.isDescending, arrangement.filter]);
  const codecs = new Set(
    metadata.row_groups.flatMap(group => group.columns.map(each => each.meta_data?.codec)),
  );
  return (
    <div class="stack tight">
      <p class="small quiet">
        {countText(count, 'row')}, {countText(columns.length, 'column')},{' '}
        {countText(metadata.row_groups.length, 'row group')}, {[...codecs].join(', ')}
      </p>
      <Problem failure={failure} retry={reload} />
      <TableView
        columns={columns}
        arranging={arranging}
        count={isArranged ? (rows?.length ?? 0) : count}
        rows={isArranged ? rows?.slice(start, start + ROWS) : rows}
        among={
          isArranged && to < count
            ? `the first ${integerText(to)} of ${countText(count, 'row')}`
            : undefined
        }
        cell={(row, at) => <Cell value={row.cells[at]} />}
      />
    </div>
  );
}
