/** What the values of a column have in common; computed when it is looked at. */

export interface ColumnFacts {
  type: string;
  /** What it is about: all rows, or those that are loaded. */
  about: string;
  nulls?: number;
  min?: unknown;
  max?: unknown;
  distinct?: number;
  /** How many numbers are in each of some equal ranges from the least to the greatest. */
  histogram?: number[];
}

const BARS = 16;

function isMissing(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

/** Return the facts of loaded values; texts that are all numbers count as numbers. */
export function factsOf(values: readonly unknown[], about: string): ColumnFacts {
  const present = values.filter(value => !isMissing(value));
  const facts = { about, nulls: values.length - present.length };
  const distinct = new Set(present.map(value => keyOf(value))).size;
  const numbers = present.map(Number);
  const isNumber =
    present.length > 0 &&
    present.every((value, at) => isText(value) && Number.isFinite(numbers[at]));
  if (isNumber) {
    const [min, max] = ends(numbers);
    return { ...facts, type: 'number', min, max, distinct, histogram: bars(numbers, min, max) };
  }
  const texts = present.map(keyOf);
  const [min, max] = ends(texts);
  return { ...facts, type: 'text', min, max, distinct };
}

function isText(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
}

function keyOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Return the least and the greatest of the values, which are of one type. */
function ends<Value extends NonNullable<unknown>>(values: readonly Value[]): [Value?, Value?] {
  let min = values[0];
  let max = values[0];
  for (const value of values) {
    if (min === undefined || value < min) min = value;
    if (max === undefined || value > max) max = value;
  }
  return [min, max];
}

function bars(numbers: readonly number[], min = 0, max = 0): number[] {
  const counts = new Array<number>(BARS).fill(0);
  if (max <= min) return [];
  for (const number of numbers) {
    const at = Math.min(BARS - 1, Math.floor(((number - min) / (max - min)) * BARS));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
