/** JSON lines, read as the rows of a table. */

export type Line = Record<string, unknown>;

export interface Lines {
  /** Each key of any line, in the order of their appearance. */
  keys: string[];
  rows: Line[];
  /** How many lines are not JSON. */
  wrong: number;
}

/** Return a row for each line; a line that is no object is one of the key `value`. */
export function readLines(text: string): Lines {
  const keys = new Set<string>();
  const rows: Line[] = [];
  let wrong = 0;
  for (const line of text.split('\n')) {
    if (!line.trim()) continue;
    try {
      const value: unknown = JSON.parse(line);
      const isRow = typeof value === 'object' && value !== null && !Array.isArray(value);
      const row = isRow ? (value as Line) : { value };
      for (const key of Object.keys(row)) keys.add(key);
      rows.push(row);
    } catch {
      wrong += 1;
    }
  }
  return { keys: [...keys], rows, wrong };
}

/** Return the row's value of the key. What every object inherits, such as `constructor`, is no value. */
export function cellOf(row: Line, key: string): unknown {
  return Object.hasOwn(row, key) ? row[key] : undefined;
}
