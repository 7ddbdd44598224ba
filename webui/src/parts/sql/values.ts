/** How stored values become SQLite's, which has integers of 64 bits, doubles, texts and bytes. */

import { cellText } from '../cell-text';
import { type Type, textOf } from '../parquet/types';

export type SqlValue = number | bigint | string | null;

/** What a column holds: it decides how its numbers are kept. */
export type Holds = 'integers' | 'booleans' | 'fractions' | 'decimals' | 'others';

export interface Column {
  name: string;
  /** What a head shows: `decimal(18,2)`. */
  type: string;
  holds: Holds;
}

/** Return whether the column may hold numbers that SQLite would round: they are texts among its numbers. */
export function isWide({ type }: Column): boolean {
  const [, digits, scale] = /^decimal\((\d+),(\d+)\)$/.exec(type) ?? [];
  return type === 'uint64' || Number(digits) > (scale === '0' ? 18 : 15);
}

const AFFINITIES: Record<Holds, string> = {
  integers: 'INTEGER',
  booleans: 'INTEGER',
  fractions: 'REAL',
  decimals: 'REAL',
  others: 'TEXT',
};

/** Return what SQLite compares the column's values as. */
export function affinityOf(column: Column): string {
  return isWide(column) ? 'BLOB' : AFFINITIES[column.holds];
}

const ALL = { characters: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
// A double keeps fifteen digits of any decimal.
const SHORT = 10n ** 15n;
const INT64 = 2n ** 63n;

/** Return the integer as SQLite takes it; one that is too large for it as a text. */
export function integerOf(value: number | bigint): SqlValue {
  const number = Number(value);
  if ((number | 0) === number) return number;
  const whole = BigInt(value);
  return whole < INT64 && whole >= -INT64 ? whole : String(whole);
}

/** Return the decimal as a number; one with more digits than a number keeps as its text. */
export function decimalOf(type: Type & { is: 'leaf' }, raw: unknown): SqlValue {
  const scale = Number(/,(\d+)\)$/.exec(type.name)?.[1]);
  const unscaled = type.order?.(raw as never);
  const isShort = typeof unscaled === 'bigint' && unscaled < SHORT && unscaled > -SHORT;
  return isShort && scale < 23
    ? Number(unscaled) / 10 ** scale
    : type.text(raw as never, ALL.bytes);
}

export function holdsOf(type: Type): Holds {
  if (type.is !== 'leaf') return 'others';
  if (/^u?int\d+$|^decimal\(\d+,0\)/.test(type.name)) return 'integers';
  if (/^(float|double)/.test(type.name)) return 'fractions';
  if (type.name === 'boolean') return 'booleans';
  return type.name.startsWith('decimal') ? 'decimals' : 'others';
}

/** Return how the raw values of a Parquet column become SQLite's. */
export function readerOf(type: Type): (raw: unknown) => SqlValue {
  const text = (raw: unknown) => textOf(type, raw, ALL) ?? null;
  const reads: Record<Holds, (raw: unknown) => SqlValue> = {
    // What is stored of an unsigned integer or of a decimal is not its number, but its text is.
    integers: type.name.startsWith('int')
      ? raw => integerOf(raw as number | bigint)
      : raw => integerOf(BigInt(text(raw) ?? 0)),
    booleans: Number,
    // What is not a number becomes a null in SQLite.
    fractions: raw => Number(text(raw)),
    decimals: raw => (type.is === 'leaf' ? decimalOf(type, raw) : null),
    others: othersOf(type, text),
  };
  const read = reads[holdsOf(type)];
  return raw => (raw === null || raw === undefined ? null : read(raw));
}

function othersOf(
  { name }: Type,
  text: (raw: unknown) => string | null,
): (raw: unknown) => SqlValue {
  if (!name.startsWith('time')) return text;
  // As SQLite's functions write a time, and equal in all units, so that times and texts in a query compare with it.
  return raw =>
    text(raw)
      ?.replace('T', ' ')
      .replace('Z', '')
      .replace(/(\.\d*[1-9])0+$/, '$1') ?? null;
}

const INTEGER = /^-?(0|[1-9]\d*)$/;
const INT64_DIGITS = 18;
const FRACTION = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Return what all texts of a column are: numbers, unless one of them has another form, or a leading zero. */
export function holdsOfTexts(texts: readonly (string | undefined)[]): Holds {
  let holds: Holds = 'integers';
  let isEmpty = true;
  let isLong = false;
  for (const text of texts) {
    if (!text) continue;
    isEmpty = false;
    if (INTEGER.test(text)) {
      isLong ||= text.length > INT64_DIGITS && typeof integerOf(BigInt(text)) === 'string';
      continue;
    }
    if (!FRACTION.test(text) || /^-?0\d/.test(text)) return 'others';
    holds = 'fractions';
  }
  // As fractions, integers of more than 64 bits would lose digits.
  return isEmpty || (isLong && holds === 'integers') ? 'others' : holds;
}

/** Return the value of a text; an empty one is a null. */
export function valueOfText(text: string | undefined, holds: Holds): SqlValue {
  if (!text) return null;
  if (holds === 'others') return text;
  return holds === 'integers' ? integerOf(BigInt(text)) : Number(text);
}

/** Return what the values of a key of JSON are. */
export function holdsOfJson(values: readonly unknown[]): Holds {
  const present = values.filter(value => value !== null && value !== undefined);
  if (!present.length) return 'others';
  if (present.every(value => typeof value === 'boolean')) return 'booleans';
  const integers = present.filter(
    value => typeof value === 'bigint' || Number.isSafeInteger(value),
  ) as (number | bigint)[];
  if (integers.length < present.length)
    return present.every(value => /^(number|bigint)$/.test(typeof value)) ? 'fractions' : 'others';
  // As texts, integers of more than 64 bits keep their digits.
  return integers.some(value => typeof integerOf(value) === 'string') ? 'others' : 'integers';
}

/** Return the value of one of JSON; nested ones stay JSON, for SQLite's functions of it. */
export function valueOfJson(value: unknown, holds: Holds): SqlValue {
  if (value === null || value === undefined) return null;
  if (holds === 'integers') return integerOf(value as number | bigint);
  return holds === 'others' ? cellText(value) : Number(value);
}

/** Return the text of a value of a result. */
export function resultText(value: SqlValue | Uint8Array): string | null {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return cellText(value);
  return Object.is(value, -0) ? '0' : String(value);
}

const TYPES: Record<Holds, string> = {
  integers: 'integer',
  booleans: 'boolean',
  fractions: 'double',
  decimals: 'decimal',
  others: 'string',
};

/** Return a column whose type follows from its values. */
export function columnOf(name: string, holds: Holds): Column {
  return { name, type: TYPES[holds], holds };
}
