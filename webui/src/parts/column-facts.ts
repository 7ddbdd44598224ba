/** What the values of a column have in common; computed when it is looked at. */

import { cellText } from './cell-text';
import { areNumbers, compareNumbers, isMissing } from './table-model';

export interface ColumnFacts {
  type: string;
  /** What it is about: all rows, or those that are loaded. */
  about: string;
  nulls?: number;
  min?: string;
  max?: string;
  distinct?: number;
  /** How many numbers are in each of some equal ranges from the least to the greatest. */
  histogram?: number[];
}

const BARS = 16;

/** Return the facts of loaded values. */
export function factsOf(
  values: readonly unknown[],
  about: string,
  { type, isNumber = areNumbers(values) }: { type?: string; isNumber?: boolean } = {},
): ColumnFacts {
  const texts = new Set<string>();
  const numbers: number[] = [];
  let nulls = 0;
  for (const value of values) {
    if (isMissing(value)) nulls += 1;
    else {
      const text = cellText(value);
      texts.add(text);
      if (isNumber && Number.isFinite(Number(text))) numbers.push(Number(text));
    }
  }
  const ofNumbers = (left: string, right: string) => compareNumbers(left, right) < 0;
  const isLess = isNumber ? ofNumbers : (left: string, right: string) => left < right;
  let min: string | undefined;
  let max: string | undefined;
  for (const text of texts) {
    if (isNumber && Number.isNaN(Number(text))) continue; // NaN has no place among numbers
    if (min === undefined || isLess(text, min)) min = text;
    if (max === undefined || isLess(max, text)) max = text;
  }
  const facts = { type: type ?? (isNumber ? 'number' : 'text'), about, nulls, min, max };
  return {
    ...facts,
    distinct: texts.size,
    histogram: isNumber ? bars(numbers, Number(min), Number(max)) : undefined,
  };
}

function bars(numbers: readonly number[], min: number, max: number): number[] {
  const counts = new Array<number>(BARS).fill(0);
  // Of an infinite range, no number has a share.
  if (!(max - min > 0 && max - min < Number.POSITIVE_INFINITY)) return [];
  for (const number of numbers) {
    const at = Math.min(BARS - 1, Math.floor(((number - min) / (max - min)) * BARS));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
