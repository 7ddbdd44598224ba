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
      const value = parsed(line);
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

/** Return the text with a mark before each integer that a number would round: it is a text then. */
function withMarks(text: string): string {
  return text.replace(/"(?:\\.|[^"\\])*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?/gi, token =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"\\u0000${token}"` : token,
  );
}

/** Return the value of the JSON. An integer that a number would round is a `bigint`, wherever it is. */
export function parseExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(withMarks(text), (_, value: unknown) =>
    typeof value === 'string' && /^\0-?\d{16,}$/.test(value) ? BigInt(value.slice(1)) : value,
  );
}

/**
 * Return the value of the line. An integer that a number would round is a `bigint`; a nested value with such integers is its text.
 */
function parsed(line: string): unknown {
  if (!/\d{16}/.test(line)) return JSON.parse(line);
  const marked = withMarks(line);
  const exact = (value: unknown): unknown => {
    const text = JSON.stringify(value);
    const plain = text.replace(/"\\u0000(-?\d{16,})"/g, '$1');
    if (plain === text) return value;
    return typeof value === 'string' ? BigInt(plain) : plain;
  };
  const value: unknown = JSON.parse(marked);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return exact(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, exact(each)]));
}

/** Return the row's value of the key. What every object inherits, such as `constructor`, is no value. */
export function cellOf(row: Line, key: string): unknown {
  return Object.hasOwn(row, key) ? row[key] : undefined;
}
