/** Reads a small Parquet file as a table of texts; loaded when the first one is compared. */

import { type FileMetaData, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { LIMITS } from '../limits';
import { compressors } from '../parquet-codecs';
import { numberColumns } from '../parquet-columns';
import { distinct, type Table } from './rows';

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
}

function unpackedBytes({ row_groups }: FileMetaData): number {
  const chunks = row_groups.flatMap(({ columns }) => columns);
  return chunks.reduce((sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size), 0);
}

/** Return the table, unless it is too large: `isSmall` tells, and the size once it is unpacked. */
export async function parquetTable(
  bytes: ArrayBuffer,
  isSmall: (columns: number, rows: number) => boolean,
): Promise<Table | undefined> {
  const metadata = await parquetMetadataAsync(bytes);
  const names = numberColumns(metadata);
  if (!isSmall(names.length, Number(metadata.num_rows))) return undefined;
  if (!(unpackedBytes(metadata) <= LIMITS.unpacked_bytes)) return undefined;
  const rows = await parquetReadObjects({ file: bytes, metadata, compressors });
  return { columns: distinct(names), rows: rows.map(row => names.map((_, at) => textOf(row[at]))) };
}
