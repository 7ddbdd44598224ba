/** Columns of Parquet by their position: a file may give two of them one name, or a name such as `__proto__`. */

import { type FileMetaData, parquetSchema, type SchemaTree } from 'hyparquet';

function leavesOf({ children }: SchemaTree): number {
  return children.reduce((sum, child) => sum + leavesOf(child), 0) || 1;
}

/** Rename the columns to `0`, `1` and so on, under which readers find each of them; return their names. */
export function numberColumns(metadata: FileMetaData): string[] {
  const { children } = parquetSchema(metadata);
  const names = children.map(({ element }) => element.name);
  // A row group has the leaves of all columns, in the order of the schema.
  const numbers = children.flatMap((child, at) =>
    new Array<string>(leavesOf(child)).fill(String(at)),
  );
  children.forEach(({ element }, at) => {
    element.name = String(at);
  });
  for (const { columns } of metadata.row_groups)
    columns.forEach(({ meta_data }, leaf) => {
      if (meta_data) meta_data.path_in_schema[0] = numbers[leaf] ?? '';
    });
  return names;
}
