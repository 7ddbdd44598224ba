/** Two versions of a table, compared: what the table of changed rows shows of them. */

import { type ColumnFacts, factsOf } from '../column-facts';
import { separated } from '../csv';
import { LIMITS } from '../limits';
import { type Arrangement, areNumbers, arrange } from '../table-model';
import { countText } from '../words';
import { parquetTable } from './parquet';
import {
  type Common,
  type ComparedColumn,
  type Comparison,
  commonOf,
  comparedColumns,
  compareRows,
  distinct,
  type Key,
  keysOf,
  type Match,
  type Row,
  type RowChange,
  type RowChangeType,
  type Table,
} from './rows';
import { utf8Text } from './utf8';

/** Two versions of a table. */
export interface TableFiles {
  /** Equal ones have equal tables. */
  id: string;
  path: string;
  before: ArrayBuffer;
  after: ArrayBuffer;
}

/** What is asked about the changed rows. */
export interface TableQuestion {
  match?: Match;
  /** Only these changes. */
  type?: RowChangeType;
  arrangement: Arrangement;
  start: number;
  count: number;
}

export interface ComparedRow {
  type: RowChangeType;
  /** The place of the row in its file, from 1. */
  number: number;
  /** The cells of both versions, in the order of the columns; those of an added row are missing before. */
  before: Row;
  after: Row;
  /** The places of the columns whose cells changed. */
  changed: number[];
}

export interface TableAnswer {
  columns: (ComparedColumn & { cells: number })[];
  keys: Key[];
  match: Match;
  counts: Record<RowChangeType, number>;
  /** How many changes there are of the type that pass the filter. */
  count: number;
  rows: ComparedRow[];
}

/** Return whether a table of this size can be drawn, and compared cell by cell. */
function isSmall(columns: number, rows: number): boolean {
  return columns <= LIMITS.columns && columns * rows <= LIMITS.compared_cells;
}

/** Return the table in the bytes; nothing if they are no such table, or one that is too large. */
async function tableOf(path: string, bytes: ArrayBuffer): Promise<Table | undefined> {
  if (!bytes.byteLength) return { columns: [], rows: [] };
  if (/\.parquet$/i.test(path)) return parquetTable(bytes, isSmall);
  const text = utf8Text(bytes);
  if (text === undefined) return undefined;
  const { columns, rows, open } = separated(path, text);
  if (open || !isSmall(columns.length, rows.length)) return undefined;
  const isNumber = (at: number) => areNumbers(rows.map(row => row[at]));
  return { columns: distinct(columns).map((name, at) => ({ name, isNumber: isNumber(at) })), rows };
}

function short(cell: string | undefined): string | undefined {
  const most = LIMITS.compared_cell_characters;
  return cell && cell.length > most ? `${cell.slice(0, most)}…` : cell;
}

/** Two tables that are compared: a page of rows is asked for at a time. */
export class TableComparison {
  private readonly columns: ComparedColumn[];
  private readonly common: Common[];
  private readonly keys: Key[];
  private match = '';
  private comparison: Comparison = { changes: [], cells: [] };

  constructor(
    private readonly left: Table,
    private readonly right: Table,
  ) {
    this.columns = comparedColumns(left, right);
    this.common = commonOf(this.columns);
    this.keys = keysOf(left, right, this.columns);
  }

  answer(question: TableQuestion): TableAnswer {
    const { left, right, columns, keys } = this;
    const match = this.matchOf(question.match);
    if (this.match !== JSON.stringify(match)) {
      this.comparison = compareRows(left, right, columns, match);
      this.match = JSON.stringify(match);
    }
    const { changes, cells } = this.comparison;
    const counts = { changed: 0, added: 0, removed: 0 };
    for (const { type } of changes) counts[type] += 1;
    const wanted = changes.filter(({ type }) => !question.type || type === question.type);
    const before = (change: RowChange, at: number) =>
      left.rows[change.left ?? -1]?.[columns[at]?.left ?? -1];
    const after = (change: RowChange, at: number) =>
      right.rows[change.right ?? -1]?.[columns[at]?.right ?? -1];
    const newest = (change: RowChange, at: number) =>
      change.right === undefined ? before(change, at) : after(change, at);
    const places = arrange(columns, wanted, question.arrangement, newest, before);
    const end = question.start + question.count;
    const shown = places.slice(question.start, end).map(place => wanted[place] as RowChange);
    return {
      columns: columns.map((column, at) => ({ ...column, cells: cells[at] ?? 0 })),
      keys,
      match,
      counts,
      count: places.length,
      rows: shown.map(change => {
        const [old, row] = [left.rows[change.left ?? -1], right.rows[change.right ?? -1]];
        const isChanged = (column: Common) => old && row && column.left(old) !== column.right(row);
        return {
          type: change.type,
          number: (change.right ?? change.left ?? 0) + 1,
          before: columns.map((_, at) => short(before(change, at))),
          after: columns.map((_, at) => short(after(change, at))),
          changed: this.common.filter(isChanged).map(({ at }) => at),
        };
      }),
    };
  }

  /** Return what the column holds in each version that has it. */
  facts(at: number): ColumnFacts[] {
    const column = this.columns[at];
    if (!column) return [];
    const { isNumber, type, typeBefore = type } = column;
    const of = ({ rows }: Table, place: number, when: string, own?: string) => {
      if (place < 0) return [];
      const values = rows.map(row => row[place]);
      return [factsOf(values, `${countText(rows.length, 'row')} ${when}`, { type: own, isNumber })];
    };
    return [
      ...of(this.left, column.left, 'before', typeBefore),
      ...of(this.right, column.right, 'after', type),
    ];
  }

  /** Return the wanted match, unless its column is missing; else by the best key, or as a whole where none is unique. */
  private matchOf(wanted: Match | undefined): Match {
    const { keys } = this;
    if (wanted && (wanted.by !== 'column' || keys.some(({ name }) => name === wanted.name)))
      return wanted;
    const best = keys.find(({ isUnique }) => isUnique);
    return best ? { by: 'column', name: best.name } : { by: 'row' };
  }
}

/** Return the comparison; nothing if a version is no table, or a too large one. */
export async function comparisonOf(files: TableFiles): Promise<TableComparison | undefined> {
  const { path, before, after } = files;
  const [left, right] = [await tableOf(path, before), await tableOf(path, after)];
  return left && right && new TableComparison(left, right);
}
