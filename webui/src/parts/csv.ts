/** Rows of text whose values are separated, as CSV and TSV. */

import { dsvFormat } from 'd3-dsv';

const DELIMITERS = [',', '\t', ';', '|'];

/** Return the delimiter that the first line has most often. */
function delimiterOf(text: string): string {
  const line = text.slice(0, text.indexOf('\n') + 1 || text.length);
  const counts = DELIMITERS.map(each => line.split(each).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

interface Separated {
  columns: string[];
  rows: string[][];
  /** The line of a quote that is not closed: all behind it is one value. */
  open?: number;
}

/** Return the names of the columns, and the rows. A value beyond the last name has a column without one. */
export function separated(path: string, text: string): Separated {
  const delimiter = /\.tsv$/i.test(path) ? '\t' : delimiterOf(text);
  const at = openQuote(text, delimiter);
  const open = at === undefined ? {} : { open: text.slice(0, at).split('\n').length };
  const [columns = [], ...rows] = dsvFormat(delimiter).parseRows(text.replace(/^\uFEFF/, ''));
  const most = rows.reduce((count, row) => Math.max(count, row.length), columns.length);
  return { columns: [...columns, ...Array<string>(most - columns.length).fill('')], rows, ...open };
}

/** Return where a value begins with a quote that is not closed; nothing if there is none. */
function openQuote(text: string, delimiter: string): number | undefined {
  const end = new RegExp(`[${delimiter}\\n\\r]`, 'g');
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at < text.length; ) {
    const begin = at;
    while (text[at] === '"') {
      at = text.indexOf('"', at + 1) + 1;
      if (!at) return begin;
    }
    end.lastIndex = at;
    at = (end.exec(text)?.index ?? text.length) + 1;
  }
  return undefined;
}
