/** Functions that people know from other databases, and SQLite has not. */

import type { Database, SqlValue } from 'sql.js/dist/sql-asm-memory-growth.js';

const ENDS: Record<string, (time: string) => string> = {
  year: time => `${time.slice(0, 4)}-01-01`,
  quarter: time =>
    `${time.slice(0, 4)}-${String(3 * Math.floor((Number(time.slice(5, 7)) - 1) / 3) + 1).padStart(2, '0')}-01`,
  month: time => `${time.slice(0, 7)}-01`,
  week: time => {
    const day = new Date(`${time.slice(0, 10)}T00:00:00Z`);
    day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
    return day.toISOString().slice(0, 10);
  },
  day: time => time.slice(0, 10),
  hour: time => `${time.slice(0, 13)}:00:00`,
  minute: time => `${time.slice(0, 16)}:00`,
};

/** Return when the unit of the time began, as a text of the same form. */
export function dateTrunc(unit: SqlValue, time: SqlValue): string | null {
  if (time === null) return null;
  const begin = Object.hasOwn(ENDS, String(unit)) ? ENDS[String(unit)] : undefined;
  if (!begin) throw new Error(`date_trunc knows ${Object.keys(ENDS).join(', ')}, and not ${unit}`);
  const text = String(time);
  return /^\d{4}-\d\d-\d\d/.test(text) ? begin(text.length > 10 ? text : `${text} 00:00:00`) : null;
}

/** Return the value at the share of the numbers, between two of them if it falls there. */
export function median(numbers: readonly number[]): number | null {
  if (!numbers.length) return null;
  const sorted = Float64Array.from(numbers).sort();
  const [low, high] = [Math.floor((sorted.length - 1) / 2), Math.ceil((sorted.length - 1) / 2)];
  return ((sorted[low] ?? 0) + (sorted[high] ?? 0)) / 2;
}

/** Return the standard deviation of a sample. */
export function stddev(numbers: readonly number[]): number | null {
  if (numbers.length < 2) return null;
  const mean = numbers.reduce((total, number) => total + number, 0) / numbers.length;
  const squares = numbers.reduce((total, number) => total + (number - mean) ** 2, 0);
  return Math.sqrt(squares / (numbers.length - 1));
}

const expressions = new Map<string, RegExp>();

function matches(pattern: SqlValue, text: SqlValue): number | null {
  if (pattern === null || text === null) return null;
  const expression = expressions.get(String(pattern)) ?? new RegExp(String(pattern), 'u');
  expressions.set(String(pattern), expression);
  return Number(expression.test(String(text)));
}

export function addFunctions(database: Database): void {
  database.create_function('date_trunc', dateTrunc);
  database.create_function('regexp', matches);
  for (const [name, finalize] of Object.entries({ median, stddev, stddev_samp: stddev }))
    database.create_aggregate(name, {
      init: () => [],
      step: (numbers, value) => {
        if (value !== null) numbers.push(Number(value));
        return numbers;
      },
      finalize,
    });
}
