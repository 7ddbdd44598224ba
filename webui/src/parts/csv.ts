/** Rows of text whose values are separated, as CSV and TSV. */

import { dsvFormat } from 'd3-dsv';

const DELIMITERS = [',', '\t', ';', '|'];

/** Return the delimiter that the first line has most often. */
function delimiterOf(text: string): string {
  const line = text.slice(0, text.indexOf('\n') + 1 || text.length);
  const counts = DELIMITERS.map(each => line.split(each).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Return the names of the columns, and the rows. A value beyond the last name has a column without one. */
export function separated(path: string, text: string): { columns: string[]; rows: string[][] } {
  const delimiter = /\.tsv$/i.test(path) ? '\t' : delimiterOf(text);
  const [columns = [], ...rows] = dsvFormat(delimiter).parseRows(text.replace(/^\uFEFF/, ''));
  const most = rows.reduce((count, row) => Math.max(count, row.length), columns.length);
  return { columns: [...columns, ...Array<string>(most - columns.length).fill('')], rows };
}
