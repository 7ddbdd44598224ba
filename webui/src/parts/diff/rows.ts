/** What changed between two tables: their columns by name, their rows by a key, by position or as a whole. */

import type { TableColumn } from '../table-model';

/** A cell without a value has no text, which is not the empty one. */
export type Row = readonly (string | undefined)[];

export interface Table {
  /** Each has a name of its own. */
  columns: readonly TableColumn[];
  rows: readonly Row[];
}

type ColumnChange = 'added' | 'removed' | 'retyped';

/** A column of either table. */
export interface ComparedColumn extends TableColumn {
  change?: ColumnChange;
  /** The type that a retyped column had. */
  typeBefore?: string;
  /** Its place in each table; -1 where it is missing. */
  left: number;
  right: number;
}

export type RowChangeType = 'changed' | 'added' | 'removed';

/** The places of a changed row in the tables. */
export interface RowChange {
  type: RowChangeType;
  left?: number;
  right?: number;
}

/** What makes two rows one: the cell of a column, the place, or all cells that both tables have. */
export type Match = { by: 'column'; name: string } | { by: 'position' } | { by: 'row' };

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

/** Return the columns of both tables, those of the right one first. A table without columns changes none. */
export function comparedColumns(left: Table, right: Table): ComparedColumn[] {
  const placesOf = (table: Table) => new Map(table.columns.map(({ name }, at) => [name, at]));
  const [inLeft, inRight] = [placesOf(left), placesOf(right)];
  const isSchema = left.columns.length > 0 && right.columns.length > 0;
  const after = right.columns.map((column, at): ComparedColumn => {
    const place = inLeft.get(column.name) ?? -1;
    const before = left.columns[place];
    const both = { ...column, left: place, right: at };
    if (!before) return isSchema ? { ...both, change: 'added' } : both;
    both.isNumber = column.isNumber && before.isNumber;
    if (before.type === column.type) return both;
    return { ...both, change: 'retyped', typeBefore: before.type };
  });
  const gone = left.columns.flatMap((column, at): ComparedColumn[] => {
    if (inRight.has(column.name)) return [];
    const only = { ...column, left: at, right: -1 };
    return [isSchema ? { ...only, change: 'removed' } : only];
  });
  return [...after, ...gone];
}

/** Return what a text of this type is compared by after a change of the type: 1.50 and 1.500 are one value. */
function valueText(type: string | undefined, text: string): string {
  // The text of a number of 32 bits is its shortest one, which is another number of 64 bits.
  const own = type === 'float' ? String(Math.fround(Number(text))) : text;
  const value = withoutExponent(own).replace(/^(.*\d)\.(\d*?)0+(Z?)$/, (_, whole, fraction, end) =>
    fraction ? `${whole}.${fraction}${end}` : whole + end,
  );
  return value === '-0' ? '0' : value;
}

/** Return the number with all its digits: `1e+21` of a float is 1 and 21 zeros of a decimal. */
function withoutExponent(text: string): string {
  const found = /^(-?)(\d+)(?:\.(\d+))?e\+?(-?\d{1,3})$/i.exec(text);
  if (!found) return text;
  const [, sign, whole = '', fraction = '', exponent] = found;
  const point = whole.length + Number(exponent);
  const digits = '0'.repeat(Math.max(0, 1 - point)) + (whole + fraction).padEnd(point, '0');
  const at = Math.max(1, point);
  const rest = digits.slice(at);
  return `${sign}${digits.slice(0, at)}${rest && `.${rest}`}`;
}

/** Return whether its values are texts: of 10.0.0.10 and 10.0.0.1, none is the other. */
function isText(type: string | undefined): boolean {
  return /^(string|enum|json)$/.test(type ?? '');
}

type Cell = string | undefined;

/** Return what compares the cells of a column, on the left and on the right. */
function valuesOf({
  change,
  type,
  typeBefore,
}: ComparedColumn): [(cell: Cell) => Cell, (cell: Cell) => Cell] {
  const same = (cell: Cell) => cell;
  if (change !== 'retyped' || (isText(type) && isText(typeBefore))) return [same, same];
  const of = (own: string | undefined) => (cell: Cell) => cell && valueText(own, cell);
  return [of(typeBefore), of(type)];
}

/** A column that both tables have, with what reads its values; equal ones are no change. */
export interface Common {
  /** Its place among the compared columns. */
  at: number;
  name: string;
  left: (row: Row) => Cell;
  right: (row: Row) => Cell;
}

export function commonOf(columns: readonly ComparedColumn[]): Common[] {
  return columns.flatMap((column, at) => {
    if (column.left < 0 || column.right < 0) return [];
    const [left, right] = valuesOf(column);
    return {
      at,
      name: column.name,
      left: (row: Row) => left(row[column.left]),
      right: (row: Row) => right(row[column.right]),
    };
  });
}

/** Return whether no two rows have one name; stops at the first that do. */
function areUnique(rows: readonly Row[], name: (row: Row) => Cell): boolean {
  const names = new Set<Cell>();
  return rows.every(row => names.size < names.add(name(row)).size);
}

export interface Key {
  name: string;
  /** Whether no value of the column is in two rows of a table. */
  isUnique: boolean;
}

/** Return the columns that may name the rows: first the unique ones, and of them those whose values most rows keep. */
export function keysOf(left: Table, right: Table, columns: readonly ComparedColumn[]): Key[] {
  const keys = commonOf(columns).map(({ name, ...of }) => {
    const isUnique = areUnique(left.rows, of.left) && areUnique(right.rows, of.right);
    const before = new Set(isUnique ? left.rows.map(of.left) : []);
    return { name, isUnique, kept: right.rows.filter(row => before.has(of.right(row))).length };
  });
  return keys
    .sort((one, other) => +other.isUnique - +one.isUnique || other.kept - one.kept)
    .map(({ name, isUnique }) => ({ name, isUnique }));
}

/** Return the left row of each right row, or -1. Rows of one name are taken in their order. */
function partners(left: Table, right: Table, common: readonly Common[], match: Match): Int32Array {
  const found = new Int32Array(right.rows.length).fill(-1);
  if (match.by === 'position') return found.map((_, at) => (at < left.rows.length ? at : -1));
  const taken = new Set<number>();
  const pair = (leftName: (row: Row) => Cell, rightName: (row: Row) => Cell) => {
    const waiting = new Map<Cell, number[]>();
    // From the last one, so that the first one is taken first.
    for (let at = left.rows.length - 1; at >= 0; at -= 1) {
      if (taken.has(at)) continue;
      const name = leftName(left.rows[at] as Row);
      const alike = waiting.get(name);
      if (alike) alike.push(at);
      else waiting.set(name, [at]);
    }
    right.rows.forEach((row, at) => {
      const place = found[at] === -1 ? waiting.get(rightName(row))?.pop() : undefined;
      if (place === undefined) return;
      found[at] = place;
      taken.add(place);
    });
  };
  const key = match.by === 'column' ? common.find(({ name }) => name === match.name) : undefined;
  // Of rows that share a key, equal ones are the same row.
  if (!key || !areUnique(left.rows, key.left) || !areUnique(right.rows, key.right))
    pair(
      row => JSON.stringify(common.map(column => column.left(row) ?? null)),
      row => JSON.stringify(common.map(column => column.right(row) ?? null)),
    );
  if (key) pair(key.left, key.right);
  return found;
}

export interface Comparison {
  /** The changed rows and then the added ones in the order of the right table, and the removed ones. */
  changes: RowChange[];
  /** How many cells of each column changed. */
  cells: number[];
}

/** Compare the rows in the columns that both tables have: a new column changes none. */
export function compareRows(
  left: Table,
  right: Table,
  columns: readonly ComparedColumn[],
  match: Match,
): Comparison {
  const common = commonOf(columns);
  const cells = columns.map(() => 0);
  const partner = partners(left, right, common, match);
  const [changed, added]: [RowChange[], RowChange[]] = [[], []];
  const kept = new Uint8Array(left.rows.length);
  right.rows.forEach((row, at) => {
    const place = partner[at] ?? -1;
    const before = left.rows[place];
    if (!before) {
      added.push({ type: 'added', right: at });
      return;
    }
    kept[place] = 1;
    const other = common.filter(column => column.left(before) !== column.right(row));
    for (const { at } of other) cells[at] = (cells[at] ?? 0) + 1;
    if (other.length) changed.push({ type: 'changed', left: place, right: at });
  });
  const removed = left.rows.flatMap((_, at): RowChange[] =>
    kept[at] ? [] : [{ type: 'removed', left: at }],
  );
  return { changes: [...changed, ...added, ...removed], cells };
}
