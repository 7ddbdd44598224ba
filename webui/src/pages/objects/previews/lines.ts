/** JSON lines, read as the rows of a table. */

export interface Lines {
  keys: string[];
  rows: unknown[][];
  /** How many lines are not JSON. */
  wrong: number;
}

/** Return a row for each line and a column for each key of any line, in the order of their appearance. */
export function readLines(text: string): Lines {
  const keys = new Map<string, number>();
  const records: Record<string, unknown>[] = [];
  let wrong = 0;
  for (const line of text.split('\n')) {
    if (!line.trim()) continue;
    try {
      const value: unknown = JSON.parse(line);
      const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
      const record = isRecord ? (value as Record<string, unknown>) : { value };
      for (const key of Object.keys(record)) if (!keys.has(key)) keys.set(key, keys.size);
      records.push(record);
    } catch {
      wrong += 1;
    }
  }
  const names = [...keys.keys()];
  return { keys: names, rows: records.map(record => names.map(name => record[name])), wrong };
}
