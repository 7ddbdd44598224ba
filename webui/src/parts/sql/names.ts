/** What the names of tables mean: an object, a folder or a glob, of the query's ref or of another one. */

import { Failure } from '../../api/client';
import type { Place } from '../../api/objects';

/** The name of the table of all objects: no object of that name is a table. */
export const OBJECTS = 'system.objects';

const ADDRESS = /^lakefs:\/\/([^/]+)\/([^/]+)\/(.*)$/s;

/** Return where the table is: `tables/trips.parquet`, or `lakefs://lake/dev/tables/trips.parquet`. */
export function placeOf(name: string, { repository, ref }: Omit<Place, 'path'>): Place {
  if (!name.startsWith('lakefs://')) return { repository, ref, path: name };
  const [, otherRepository = '', otherRef = '', path = ''] = ADDRESS.exec(name) ?? [];
  if (otherRef) return { repository: otherRepository, ref: otherRef, path };
  throw new Failure(
    `${name} is no address of a table: write lakefs://repository/ref/path, or lakefs://repository/ref/ for all objects.`,
    -1,
  );
}

/** Return the name of the table in a query; quotes in a path are doubled. */
export function quoted(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}

const QUOTED = /"(?:[^"]|"")*"|`[^`]*`|'[^']*'|--[^\n]*|\/\*[\s\S]*?\*\//g;

/** Return the query, of the same length, with quotes in which SQLite sees names only: it takes "nam" for a text if nothing has the name. */
export function withNames(query: string): string {
  return query.replace(QUOTED, text =>
    /^"[^"`]*"$/.test(text) ? text.replaceAll('"', '`') : text,
  );
}

/** Return the query, of the same length, without texts and comments. */
export function withoutTexts(query: string): string {
  return query.replace(QUOTED, text => (/^["`]/.test(text) ? text : ' '.repeat(text.length)));
}

/** Return the query of the first rows of the object or folder. */
export function firstRows(path: string): string {
  return `SELECT * FROM ${quoted(path)} LIMIT 100`;
}

export function isGlob(path: string): boolean {
  return /[*?[{]/.test(path);
}

/** Return the beginning of the glob that all its paths have. */
export function beginOf(glob: string): string {
  return glob.slice(0, glob.search(/[*?[{\\]/));
}

export type Format = 'parquet' | 'text' | 'lines';

const FORMATS: [RegExp, Format][] = [
  [/\.(parquet|pq)$/i, 'parquet'],
  [/\.(csv|tsv)$/i, 'text'],
  [/\.(jsonl|ndjson)$/i, 'lines'],
];

/** Return how the object is read as a table; nothing if it cannot be. */
export function formatOf(path: string): Format | undefined {
  return FORMATS.find(([ending]) => ending.test(path))?.[1];
}

/** Return whether the object is one of a folder's table: marks such as `_SUCCESS` are none. */
export function isPart(path: string, folder: string): boolean {
  const hidden = path
    .slice(folder.length)
    .split('/')
    .some(name => /^[_.]/.test(name));
  return !hidden && formatOf(path) !== undefined;
}

// What Hive and Spark call the folder of nulls.
const HIVE_NULL = '__HIVE_DEFAULT_PARTITION__';

/** Return the values that folders below the table have in their names: `year=2024/`. */
export function hiveOf(path: string, folder: string): Map<string, string> {
  const folders = path.slice(folder.length).split('/').slice(0, -1);
  const pairs = folders.flatMap(name => {
    const [key, ...rest] = name.split('=');
    const value = unescaped(rest.join('='));
    return key && rest.length ? [[key, value === HIVE_NULL ? '' : value] as const] : [];
  });
  return new Map(pairs);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Return the names with a number behind those that SQLite takes for one before: it does not see capitals. */
export function apart(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map(name => {
    let own = name;
    for (let count = 2; taken.has(own.toLowerCase()); count += 1) own = `${name}_${count}`;
    taken.add(own.toLowerCase());
    return own;
  });
}
