/** What changed between two tables, by row. */

/** A cell without a value has no text, which is not the empty one. */
type Row = readonly (string | undefined)[];

export interface Table {
  /** Each has a name of its own. */
  columns: readonly string[];
  rows: readonly Row[];
}

/** The cells of a row, in the order of `allColumns`. */
type Cells = Row;

export interface RowChange {
  type: 'added' | 'changed' | 'removed';
  before?: Cells;
  after?: Cells;
}

/** Return the names, each of them once: `a`, `a (2)`. */
export function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map(name => {
    let own = name;
    for (let count = 2; taken.has(own); count += 1) own = `${name} (${count})`;
    taken.add(own);
    return own;
  });
}

/** Return the columns of both tables, those of the right one first. */
export function allColumns(left: Table, right: Table): string[] {
  return [...new Set([...right.columns, ...left.columns])];
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

/** Return what makes the cells of a table's row. */
function cellsIn(table: Table, columns: readonly string[]): (row: Row) => Cells {
  const places = new Map(table.columns.map((column, at) => [column, at]));
  const order = columns.map(column => places.get(column) ?? -1);
  return row => order.map(at => row[at]);
}

/** Return what names the rows of a table: the cell of the key, or without one the whole row. */
function namesIn(table: Table, key: string | undefined): (row: Row) => string | undefined {
  if (key === undefined) return row => JSON.stringify(row);
  const at = table.columns.indexOf(key);
  return row => row[at];
}

/** Return the changes in the order of the right table, the removed rows last; without a key, whole rows are compared. */
export function rowChanges(left: Table, right: Table, key: string | undefined): RowChange[] {
  const columns = allColumns(left, right);
  const [leftCells, rightCells] = [cellsIn(left, columns), cellsIn(right, columns)];
  const [leftName, rightName] = [namesIn(left, key), namesIn(right, key)];
  // Rows of one name are taken from the end, so the first one is there.
  const rest = new Map<string | undefined, Row[]>();
  for (const row of left.rows.toReversed()) {
    const alike = rest.get(leftName(row));
    if (alike) alike.push(row);
    else rest.set(leftName(row), [row]);
  }
  const changes: RowChange[] = [];
  const kept = new Set<Row>();
  for (const row of right.rows) {
    const old = rest.get(rightName(row))?.pop();
    const after = rightCells(row);
    if (!old) {
      changes.push({ type: 'added', after });
      continue;
    }
    kept.add(old);
    const before = leftCells(old);
    if (before.some((cell, at) => cell !== after[at]))
      changes.push({ type: 'changed', before, after });
  }
  for (const row of left.rows)
    if (!kept.has(row)) changes.push({ type: 'removed', before: leftCells(row) });
  return changes;
}
