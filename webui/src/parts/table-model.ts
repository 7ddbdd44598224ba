/** The order and the filter of a table in memory; previews and comparisons share them. */

import { cellText } from './cell-text';
import { LIMITS } from './limits';

export interface TableColumn {
  name: string;
  /** What the column holds, as its file says: `int64`. */
  type?: string;
  /** Whether its values are numbers, or the texts of numbers. */
  isNumber?: boolean;
}

export interface Arrangement {
  /** The name of the column that orders the rows; without it, they stay in the order of the file. */
  sort?: string;
  isDescending?: boolean;
  /** A text that a cell contains, or a condition on a column: `amount > 20`. */
  filter?: string;
}

/** Returns the value of a row in the column at this position. */
export type Read<Row> = (row: Row, at: number) => unknown;

export function isMissing(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

const NUMBER = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;

/** Return whether there are values, and all of them are numbers or texts of numbers. */
export function areNumbers(values: Iterable<unknown>): boolean {
  let isFound = false;
  for (const value of values) {
    if (isMissing(value)) continue;
    if (
      !/^(number|bigint)$/.test(typeof value) &&
      !(typeof value === 'string' && NUMBER.test(value))
    )
      return false;
    isFound = true;
  }
  return isFound;
}

// Longer ones would take the page's time.
const DIGITS = /^(-?)(\d{1,400})(?:\.(\d{1,400}))?$/;

/** Return the sign of `left - right`, by all of their digits; what is not a number is the greatest. */
export function compareNumbers(left: string, right: string): number {
  const [near, far] = [Number(left), Number(right)];
  if (near < far) return -1;
  if (near > far) return 1;
  if (near !== far) return +Number.isNaN(near) - +Number.isNaN(far);
  // Both round to the same number.
  const [ofLeft, ofRight] = [DIGITS.exec(left), DIGITS.exec(right)];
  if (left === right || !ofLeft || !ofRight) return 0;
  const digits = Math.max(ofLeft[3]?.length ?? 0, ofRight[3]?.length ?? 0);
  const [scaled, other] = [ofLeft, ofRight].map(([, sign, whole, fraction = '']) =>
    BigInt(`${sign}${whole}${fraction.padEnd(digits, '0')}`),
  ) as [bigint, bigint];
  return scaled < other ? -1 : scaled > other ? 1 : 0;
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

type Passes = (read: (at: number) => unknown) => boolean;

const CONDITION = /^(.+?)\s*(<=|>=|!=|=|<|>)\s*(.*)$/;
const SIGNS: Record<string, (order: number) => boolean> = {
  '=': order => order === 0,
  '!=': order => order !== 0,
  '<': order => order < 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '>=': order => order >= 0,
};

function conditionOf(columns: readonly TableColumn[], filter: string) {
  const [, name = '', sign = '', wanted = ''] = CONDITION.exec(filter.trim()) ?? [];
  const at = columns.findIndex(column => column.name === name);
  const isNumber = columns[at]?.isNumber;
  // As texts, 9991 would be more than `9990 and city = Oslo`: no order, so no row passes.
  const isOrderless = isNumber && wanted && !NUMBER.test(wanted) && /[<>]/.test(sign);
  return { name, at, isDue: SIGNS[sign], sign, wanted, isNumber, isOrderless };
}

/** Return why no row may pass the filter: it looks like a condition, and is none. */
export function mistakeOf(columns: readonly TableColumn[], filter: string): string | undefined {
  const { name, at, isDue, wanted, isOrderless } = conditionOf(columns, filter);
  if (isDue && at < 0) return `There is no column ${name}, so this is searched for as a text.`;
  return isOrderless ? `${name} has numbers, and ${wanted} is none.` : undefined;
}

/** Return what tells whether a row passes: by a condition on a column, `null` among its values, or a text. */
function filterOf(columns: readonly TableColumn[], filter: string): Passes {
  const { at, isDue, sign, wanted, isNumber, isOrderless } = conditionOf(columns, filter);
  if (isDue && at >= 0) {
    if (wanted === 'null') return read => isMissing(read(at)) === (sign === '=');
    if (isOrderless) return () => false;
    const compare = isNumber && NUMBER.test(wanted) ? compareNumbers : compareTexts;
    return read => {
      const value = read(at);
      return !isMissing(value) && isDue(compare(cellText(value), wanted));
    };
  }
  const text = filter.trim().toLowerCase();
  // Only the columns that are drawn: a row that shows no reason to be there would be a riddle.
  const drawn = [...columns.slice(0, LIMITS.columns).keys()];
  return read =>
    drawn.some(at => {
      const value = read(at);
      return !isMissing(value) && cellText(value).toLowerCase().includes(text);
    });
}

/**
 * Return the positions of the rows that pass the filter, in the wanted order; missing values come last. Rows with
 * several versions have a reader for each: one version has to pass, and the first one orders the rows.
 */
export function arrange<Row>(
  columns: readonly TableColumn[],
  rows: readonly Row[],
  { sort, isDescending, filter }: Arrangement,
  ...reads: readonly [Read<Row>, ...Read<Row>[]]
): number[] {
  const passes = filter ? filterOf(columns, filter) : () => true;
  const places: number[] = [];
  rows.forEach((row, place) => {
    if (reads.some(read => passes(at => read(row, at)))) places.push(place);
  });
  const at = columns.findIndex(({ name }) => name === sort);
  if (at < 0) return places;
  const texts = rows.map(row => {
    const value = reads[0](row, at);
    return isMissing(value) ? undefined : cellText(value);
  });
  const compare = columns[at]?.isNumber ? compareNumbers : compareTexts;
  const sign = isDescending ? -1 : 1;
  return places.sort((left, right) => {
    const [near, far] = [texts[left], texts[right]];
    if (near === undefined || far === undefined)
      return +(near === undefined) - +(far === undefined);
    return sign * compare(near, far);
  });
}
