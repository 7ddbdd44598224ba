/** Objects as tables: Parquet by columns and row groups, texts as a whole. */

import type { AsyncBuffer } from 'hyparquet';
import { Failure } from '../../api/client';
import { separated } from '../csv';
import { cellOf, type Line, readLines } from '../json-lines';
import { openParquet, type ParquetFile, readColumns } from '../parquet/columns';
import type { Type } from '../parquet/types';
import { countText } from '../words';
import type { Bound, Reading } from './program';
import {
  type Column,
  columnOf,
  holdsOf,
  holdsOfJson,
  holdsOfTexts,
  readerOf,
  type SqlValue,
  valueOfJson,
  valueOfText,
} from './values';

/** Return the value of a column in a row. */
type Cell = (row: number, column: number) => SqlValue;

/** Rows that are read together. */
interface Part {
  rows: number;
  /** Return the least and the greatest value of a column, if they are known. */
  ends: (column: number) => [SqlValue, SqlValue] | undefined;
  read: (columns: readonly number[]) => Promise<Cell>;
}

export interface File {
  columns: Column[];
  parts: Part[];
}

// How many rows are handed on at once: the first ones of a large file may be enough.
const BATCH = 20_000;

/**
 * Give the rows of a file, some at a time, but those that a bound rules out. `places` has its columns in the order of the table, whose
 * other columns have the same `added` value in all rows.
 */
export async function* rowsOf(
  { parts }: File,
  { columns, bounds }: Reading,
  places: readonly number[],
  added: readonly SqlValue[],
  onRows: (count: number) => void,
): AsyncGenerator<SqlValue[][]> {
  const own = columns.filter(column => column < places.length);
  for (const part of parts) {
    const ends = ({ column }: Bound) => part.ends(places[column] ?? -1);
    if (bounds.some(bound => rulesOut(bound, ends(bound)))) continue;
    const cell = await part.read(own.map(column => places[column] as number));
    const value: Cell = (row, column) =>
      column < places.length
        ? cell(row, places[column] as number)
        : (added[column - places.length] ?? null);
    for (let from = 0; from < part.rows; from += BATCH) {
      const to = Math.min(from + BATCH, part.rows);
      onRows(to - from);
      const rows: SqlValue[][] = [];
      for (let row = from; row < to; row += 1)
        if (!bounds.some(bound => isOut(bound, value(row, bound.column))))
          rows.push(columns.map(column => value(row, column)));
      yield rows;
    }
  }
}

/** Return whether the value fails the bound, as a null does. */
export function isOut(bound: Bound, value: SqlValue): boolean {
  return value === null || rulesOut(bound, [value, value]);
}

/** Return whether no value between the ends meets the bound. */
export function rulesOut({ sign, value }: Bound, ends: [SqlValue, SqlValue] | undefined): boolean {
  const [least, most] = ends ?? [];
  if (least === null || most === null || least === undefined || most === undefined) return false;
  // Texts beyond this are in another order in UTF-16 than in UTF-8.
  const isPlain = (each: SqlValue) => typeof each !== 'string' || !/[\ud800-\uffff]/.test(each);
  const isKind = (each: SqlValue) =>
    (typeof each === 'string') === (typeof value === 'string') && isPlain(each);
  if (!isKind(least) || !isKind(most) || !isPlain(value)) return false;
  if (sign === '<') return least >= value;
  if (sign === '<=') return least > value;
  if (sign === '>') return most <= value;
  if (sign === '>=') return most < value;
  return least > value || most < value;
}

export async function parquetFile(file: AsyncBuffer, path: string): Promise<File> {
  const opened = await openParquet(file).catch(error => {
    throw error instanceof Failure
      ? error
      : new Failure(`${path} is not a valid Parquet file. ${error.message}`, -1);
  });
  const readers = opened.columns.map(({ type }) => readerOf(type));
  let start = 0;
  const parts = opened.metadata.row_groups.map((group, at): Part => {
    const first = start;
    const rows = Number(group.num_rows);
    start += rows;
    return {
      rows,
      ends: column => endsIn(opened, column, at),
      read: async columns => {
        const range = { at: columns, from: first, to: first + rows };
        const values = await readColumns(file, opened, range);
        const byPlace = new Map(columns.map((column, at) => [column, values[at]]));
        return (row, column) => readers[column]?.(byPlace.get(column)?.[row]) ?? null;
      },
    };
  });
  const columns = opened.columns.map(({ name, type }) => ({
    name,
    type: type.name,
    holds: holdsOf(type),
  }));
  return { columns, parts };
}

function endsIn(
  { columns }: ParquetFile,
  at: number,
  group: number,
): [SqlValue, SqlValue] | undefined {
  const column = columns[at];
  const statistics = column?.statistics?.[group];
  if (!column || !statistics || statistics.min === undefined || statistics.max === undefined)
    return undefined;
  const read = readerOf(column.type);
  const ends: [SqlValue, SqlValue] = [read(statistics.min), read(statistics.max)];
  return inOrder(column.type, ends) ? ends : undefined;
}

/** Return whether all values between the ends are between them for SQLite too: numbers and years with a sign are not, as texts. */
export function inOrder(type: Type, ends: readonly [SqlValue, SqlValue]): boolean {
  const texts = ends.filter(end => typeof end === 'string');
  if (holdsOf(type) !== 'others') return texts.length === 0;
  const isTime = /^(date|time)/.test(type.name);
  return !isTime || !texts.some(text => /^[+-]/.test(text));
}

/** Return a file whose rows are all loaded. */
function loaded(columns: Column[], rows: number, cell: Cell): File {
  return { columns, parts: [{ rows, ends: () => undefined, read: async () => cell }] };
}

/** The text of an object. */
export type Text = readonly [path: string, text: string];

/** Return the files of one table: columns of one name have the same type in all of them. */
export function textFiles(texts: readonly Text[]): File[] {
  const read = texts.map(([path, text]) => {
    const { columns, rows, open } = separated(path, text);
    if (open)
      throw new Failure(`${path} has a quote in line ${open} that is not closed. Correct it.`, -1);
    return { names: columns.map((name, at) => name || `column${at + 1}`), rows };
  });
  const valuesOf = (name: string) =>
    read.flatMap(({ names, rows }) =>
      names.flatMap((each, at) => (each === name ? rows.map(row => row[at]) : [])),
    );
  const all = new Set(read.flatMap(({ names }) => names));
  const columns = new Map(
    [...all].map(name => [name, columnOf(name, holdsOfTexts(valuesOf(name)))]),
  );
  return read.map(({ names, rows }) => {
    const own = names.map(name => columns.get(name) as Column);
    return loaded(own, rows.length, (row, at) =>
      valueOfText(rows[row]?.[at], (own[at] as Column).holds),
    );
  });
}

/** Return the files of one table, which have the columns of all of them. */
export function linesFiles(texts: readonly Text[]): File[] {
  const read = texts.map(([path, text]) => {
    const lines = readLines(text);
    if (lines.wrong)
      throw new Failure(
        `${path} has ${countText(lines.wrong, 'line that is', 'lines that are')} not JSON.`,
        -1,
      );
    return lines;
  });
  const columns = [...new Set(read.flatMap(({ keys }) => keys))].map(key =>
    columnOf(key, holdsOfJson(read.flatMap(({ rows }) => rows.map(row => cellOf(row, key))))),
  );
  return read.map(({ rows }) =>
    loaded(columns, rows.length, (row, at) => {
      const { name, holds } = columns[at] as Column;
      return valueOfJson(cellOf(rows[row] as Line, name), holds);
    }),
  );
}
