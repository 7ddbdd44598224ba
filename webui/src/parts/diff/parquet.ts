/** Reads a small Parquet file as a table of texts; loaded when the first one is compared. */

import { parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { compressors } from '../parquet-codecs';
import type { Table } from './rows';

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
}

export async function parquetTable(bytes: ArrayBuffer): Promise<Table> {
  const metadata = await parquetMetadataAsync(bytes);
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const rows = await parquetReadObjects({ file: bytes, metadata, compressors });
  return { columns, rows: rows.map(row => columns.map(column => textOf(row[column]))) };
}
