/**
 * Parquet's columns as they are stored. The reader's own conversions round: it gets to know the columns
 * without their logical types, and `types` tells what the values are.
 *
 * Columns are named by their position: a file may give two of them one name, or a name such as `__proto__`.
 */

import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetScan,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from './codecs';
import { type ColumnStatistics, rawStatistics } from './statistics';
import { entryOf, isDecoded, type Type, typeOf } from './types';
import { logicalOf } from './values';

interface ParquetColumn {
  name: string;
  type: Type;
  /** A nested column has none. */
  statistics?: ColumnStatistics;
}

export interface ParquetFile {
  metadata: FileMetaData;
  columns: readonly ParquetColumn[];
}

type Source = AsyncBuffer | ArrayBuffer;

/** Read what the file says of itself. */
export async function openParquet(file: Source): Promise<ParquetFile> {
  const metadata = await parquetMetadataAsync(file);
  const statistics = await rawStatistics(file, metadata);
  const { children } = parquetSchema(metadata);
  let leaf = 0;
  const columns = children.map(child => {
    const column = { name: child.element.name, type: typeOf(child) };
    const ofLeaf = statistics.map(group => group[leaf]);
    leaf += leavesOf(child, []).length;
    return column.type.is === 'leaf' ? { ...column, statistics: ofLeaf } : column;
  });
  children.forEach(strip);
  // A row group has the leaves of all columns, in the order of the schema.
  const paths = children.flatMap(child => leavesOf(child, []));
  for (const group of metadata.row_groups)
    group.columns.forEach(({ meta_data }, at) => {
      if (meta_data) meta_data.path_in_schema = [...(paths[at] ?? [])];
    });
  return { metadata, columns };
}

/** Return the paths of the leaves. */
function leavesOf({ element, children }: SchemaTree, path: readonly string[]): string[][] {
  const own = [...path, element.name];
  return children.length ? children.flatMap(child => leavesOf(child, own)) : [own];
}

/** Leave the reader nothing of an element but its position, and what it needs to give its values as they are. */
function strip(tree: SchemaTree, at: number): void {
  const { element, children } = tree;
  element.name = String(at);
  if (isDecoded(tree)) return;
  const type = logicalOf(element)?.type;
  const isMap = entryOf(tree) !== undefined;
  element.logical_type = undefined;
  element.converted_type = undefined;
  if (type === 'LIST' && !isMap) element.converted_type = 'LIST';
  // It decodes each text of a dictionary once, and shares it.
  if (type === 'STRING' || type === 'ENUM' || type === 'JSON') element.converted_type = 'UTF8';
  children.forEach(strip);
}

const PARSERS = {
  timestampFromNanoseconds: (nanos: bigint) => nanos,
};

/** Return rows of raw values of the first columns, which `textOf` reads. */
export async function readRows(
  file: Source,
  { metadata, columns }: ParquetFile,
  { count = columns.length, from = 0, to = Number(metadata.num_rows) },
): Promise<unknown[][]> {
  const names = columns.slice(0, count).map((_, at) => String(at));
  const rows = await parquetReadObjects({
    file,
    metadata,
    columns: names,
    rowStart: from,
    rowEnd: to,
    compressors,
    parsers: PARSERS,
    utf8: false,
  });
  return rows.map(row => names.map(name => row[name]));
}

/** Return raw values by column: those of the columns at some places, of rows of one row group. */
export async function readColumns(
  file: AsyncBuffer,
  { metadata }: ParquetFile,
  { at, from, to }: { at: readonly number[]; from: number; to: number },
): Promise<ArrayLike<unknown>[]> {
  if (!at.length) return [];
  const columns = at.map(String);
  const options = { file, metadata, columns, compressors, parsers: PARSERS, utf8: false };
  const scan = await parquetScan(options);
  const range = { rowStart: from, rowEnd: to };
  return Promise.all(columns.map(column => scan.readColumn({ column, ...range })));
}
