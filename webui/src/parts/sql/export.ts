/** A result as a file. */

import { apart } from './names';

interface Rows {
  columns: readonly { name: string; isNumber: boolean }[];
  rows: readonly (readonly (string | null)[])[];
}

/** Return whether a spreadsheet may run a text of the rows as a formula. */
export function hasFormulas({ columns, rows }: Rows): boolean {
  return rows.some(row =>
    row.some((value, at) => !columns[at]?.isNumber && /^[=+\-@\t\r]/.test(value ?? '')),
  );
}

/** Return the rows as CSV. A null is empty, and an empty text has quotes. */
export function csvOf({ columns, rows }: Rows): string {
  const cell = (value: string | null) =>
    value === null ? '' : /^$|[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  const lines = [columns.map(({ name }) => name), ...rows].map(row => row.map(cell).join(','));
  return `${lines.join('\r\n')}\r\n`;
}

/** Return the rows as JSON, an object a line. Numbers keep their digits. */
export function jsonOf({ columns, rows }: Rows): string {
  const names = apart(columns.map(({ name }) => name)).map(name => JSON.stringify(name));
  const cell = (value: string | null, at: number) => {
    const isNumber = columns[at]?.isNumber && /^-?\d/.test(value ?? '');
    return isNumber ? value : JSON.stringify(value);
  };
  const objects = rows.map(row => `{${row.map((value, at) => `${names[at]}:${cell(value, at)}`)}}`);
  return `[${objects.join(',\n')}]\n`;
}
