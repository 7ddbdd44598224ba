/** The table that Iceberg's clients know as `system.objects`: a row for each object of a commit. */

import { eachPage, type ObjectStats, type Place } from '../../api/objects';
import type { Reading } from './program';
import { type Column, integerOf, type SqlValue } from './values';

const COLUMNS: [column: Column, valueOf: (object: ObjectStats) => SqlValue][] = [
  [text('path'), ({ path }) => path],
  [
    { name: 'size', type: 'int64', holds: 'integers' },
    ({ size_bytes }) => integerOf(size_bytes ?? 0),
  ],
  [text('checksum'), ({ checksum }) => checksum],
  [text('content_type'), ({ content_type }) => content_type ?? ''],
  [text('last_modified', 'timestamp'), ({ mtime }) => timeText(mtime)],
  [text('user_metadata', 'map'), ({ metadata }) => JSON.stringify(metadata ?? {})],
  [text('physical_address'), ({ physical_address }) => physical_address],
];

function text(name: string, type = 'string'): Column {
  return { name, type, holds: 'others' };
}

/** Return the time in UTC, as SQLite's functions write it. */
function timeText(time_s: number): string {
  return new Date(time_s * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/** Return the table of the objects at the place, and tell how many rows are read. */
export function objectsTable({ repository, ref }: Place, onRows: (count: number) => void) {
  const rows = async function* ({ columns }: Reading) {
    for await (const page of eachPage(repository, ref, '')) {
      onRows(page.length);
      yield page.map(object => columns.map(at => COLUMNS[at]?.[1](object) ?? null));
    }
  };
  return { columns: COLUMNS.map(([column]) => column), rows };
}
