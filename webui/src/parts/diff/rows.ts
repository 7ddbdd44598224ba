/** What changed between two tables, by row. */

export interface Table {
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

type Cells = Record<string, string | undefined>;

export interface RowChange {
  type: 'added' | 'changed' | 'removed';
  before?: Cells;
  after?: Cells;
}

function isUnique(table: Table, column: string): boolean {
  const at = table.columns.indexOf(column);
  if (at < 0) return !table.columns.length;
  return new Set(table.rows.map(row => row[at])).size === table.rows.length;
}

/** Return the columns that tell apart the rows of both tables, in order. */
export function uniqueColumns(left: Table, right: Table): string[] {
  const columns = right.columns.length ? right.columns : left.columns;
  return columns.filter(column => isUnique(left, column) && isUnique(right, column));
}

function cellsOf(table: Table, row: readonly string[]): Cells {
  return Object.fromEntries(table.columns.map((column, at) => [column, row[at]]));
}

/** Return the changes in the order of the right table, the removed rows last; without a key, whole rows are compared. */
export function rowChanges(left: Table, right: Table, key: string | undefined): RowChange[] {
  const nameOf = (table: Table, row: readonly string[]) =>
    key === undefined ? JSON.stringify(row) : (row[table.columns.indexOf(key)] ?? '');
  const rest = new Map<string, (readonly string[])[]>();
  for (const row of left.rows) {
    const name = nameOf(left, row);
    rest.set(name, [...(rest.get(name) ?? []), row]);
  }
  const changes: RowChange[] = [];
  const columns = [...new Set([...left.columns, ...right.columns])];
  for (const row of right.rows) {
    const old = rest.get(nameOf(right, row))?.shift();
    const before = old && cellsOf(left, old);
    const after = cellsOf(right, row);
    if (!before) changes.push({ type: 'added', after });
    else if (columns.some(column => before[column] !== after[column]))
      changes.push({ type: 'changed', before, after });
  }
  for (const rows of rest.values())
    for (const row of rows) changes.push({ type: 'removed', before: cellsOf(left, row) });
  return changes;
}
