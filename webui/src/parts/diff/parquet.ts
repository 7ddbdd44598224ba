/** Reads a small Parquet file as a table of texts. */

import type { FileMetaData } from 'hyparquet';
import { LIMITS } from '../limits';
import { openParquet, readRows } from '../parquet/columns';
import { isNumber, textOf } from '../parquet/types';
import { distinct, type Table } from './rows';

// Two values are told apart only by the whole of them.
const ALL = { characters: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

function unpackedBytes({ row_groups }: FileMetaData): number {
  const chunks = row_groups.flatMap(({ columns }) => columns);
  return chunks.reduce((sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size), 0);
}

/** Return the table, unless it is too large: `isSmall` tells, and the size once it is unpacked. */
export async function parquetTable(
  bytes: ArrayBuffer,
  isSmall: (columns: number, rows: number) => boolean,
): Promise<Table | undefined> {
  const file = await openParquet(bytes);
  const { metadata, columns } = file;
  if (!isSmall(columns.length, Number(metadata.num_rows))) return undefined;
  if (!(unpackedBytes(metadata) <= LIMITS.unpacked_bytes)) return undefined;
  const names = distinct(columns.map(({ name }) => name));
  const rows = await readRows(bytes, file, {});
  return {
    columns: columns.map(({ type }, at) => ({
      name: names[at] ?? '',
      type: type.name,
      isNumber: isNumber(type),
    })),
    rows: rows.map(row => columns.map(({ type }, at) => textOf(type, row[at], ALL))),
  };
}
