/** Tables of a query: objects of the lake, read as far as the query needs them. */

import { type AsyncBuffer, cachedAsyncBuffer } from 'hyparquet';
import { Failure } from '../../api/client';
import {
  commitOf,
  eachPage,
  fetchRange,
  type ObjectStats,
  type Place,
  readText,
  stat,
} from '../../api/objects';
import { matchesGlob } from '../glob';
import { LIMITS } from '../limits';
import { integerText, sizeText } from '../words';
import { type File, isOut, linesFiles, parquetFile, rowsOf, type Text, textFiles } from './files';
import { apart, beginOf, formatOf, hiveOf, isGlob, isPart, OBJECTS, placeOf } from './names';
import type { Reading } from './program';
import { objectsTable } from './system';
import { type Column, columnOf, holdsOfTexts, isWide, type SqlValue, valueOfText } from './values';

// Of a folder of small texts, the way to the server takes the time.
const AT_ONCE = 8;

/** What a query has read so far. */
export interface Progress {
  bytes: number;
  rows: number;
}

export interface Table {
  columns: Column[];
  /** Give the rows, some at a time. Rows that the bounds rule out may be left out. */
  rows: (reading: Reading) => AsyncGenerator<SqlValue[][]>;
}

/** Finds the tables of one query: each ref is one commit for the whole of it. */
export class Lake {
  readonly progress: Progress = { bytes: 0, rows: 0 };
  private readonly commits = new Map<string, Promise<string>>();

  constructor(
    private readonly here: { repository: string; ref: string },
    private readonly onProgress: () => void,
  ) {}

  /** Return the commit of each ref that was read, by the address of the ref. */
  async pins(): Promise<[string, string][]> {
    return Promise.all(
      [...this.commits].map(
        async ([ref, commit]): Promise<[string, string]> => [ref, await commit],
      ),
    );
  }

  async open(name: string): Promise<Table> {
    const place = placeOf(name, this.here);
    const { repository, ref } = place;
    const address = `lakefs://${repository}/${ref}`;
    const commit = this.commits.get(address) ?? commitOf(repository, ref);
    this.commits.set(address, commit);
    const pinned = { ...place, ref: await commit };
    if (place.path === OBJECTS) return objectsTable(pinned, this.count);
    const { folder, objects } = await objectsOf(pinned, ref);
    return this.tableOf(pinned, folder, objects);
  }

  private readonly count = (rows: number) => {
    this.progress.rows += rows;
    this.onProgress();
  };

  private async tableOf(place: Place, folder: string, objects: ObjectStats[]): Promise<Table> {
    const first = objects[0] as ObjectStats;
    const format = formatOf(first.path);
    const other = objects.find(({ path }) => formatOf(path) !== format);
    if (other)
      throw new Failure(
        `${first.path} and ${other.path} have different formats. Query objects of one format: name them by a glob such as ${folder}*.csv.`,
        -1,
      );
    const parquet = (object: ObjectStats) =>
      parquetFile(this.file({ ...place, path: object.path }, object.size_bytes), object.path);
    // All values of a text decide what its columns hold; a Parquet file says it.
    const files =
      format === 'parquet'
        ? [await parquet(first)]
        : (format === 'text' ? textFiles : linesFiles)(await this.texts(place, objects));
    const opened = files[0] as File;
    const keys = [...hiveOf(first.path, folder).keys()].filter(
      key => !opened.columns.some(({ name }) => name === key),
    );
    const values = (key: string) => objects.map(({ path }) => hiveOf(path, folder).get(key));
    const added = keys.map(key => columnOf(key, holdsOfTexts(values(key))));
    const columns = [...opened.columns, ...added];
    const names = apart(columns.map(({ name }) => name));
    const own = opened.columns.length;
    const { count } = this;
    const rows = async function* (reading: Reading) {
      for (const [at, object] of objects.entries()) {
        const hive = hiveOf(object.path, folder);
        const values = added.map(({ name, holds }) => valueOfText(hive.get(name), holds));
        const isElsewhere = reading.bounds.some(
          bound => bound.column >= own && isOut(bound, values[bound.column - own] ?? null),
        );
        if (isElsewhere) continue;
        const file = files[at] ?? (await parquet(object));
        const places = placesOf(opened.columns, file.columns, object.path);
        yield* rowsOf(file, reading, places, values, count);
      }
    };
    const all = columns.map((column, at) => ({ ...column, name: names[at] as string }));
    return { columns: all, rows };
  }

  private async texts(place: Place, objects: readonly ObjectStats[]): Promise<Text[]> {
    const size = objects.reduce((total, { size_bytes }) => total + size_bytes, 0);
    if (size > LIMITS.query_text_bytes)
      throw new Failure(
        `The table has ${sizeText(size)} of text. A query reads at most ${sizeText(LIMITS.query_text_bytes)} of one table: name fewer objects by a glob, or write Parquet, of which only the needed columns are read.`,
        -1,
      );
    const texts: Text[] = [];
    const queue = objects.entries();
    const read = async () => {
      for (const [at, { path, size_bytes }] of queue) {
        texts[at] = [path, await readText({ ...place, path }, size_bytes, size_bytes)];
        this.progress.bytes += size_bytes;
        this.onProgress();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, read));
    return texts;
  }

  private file(place: Place, byteLength: number): AsyncBuffer {
    return cachedAsyncBuffer({
      byteLength,
      slice: async (start, end = byteLength) => {
        const { buffer } = await fetchRange(place, start, end);
        this.progress.bytes += buffer.byteLength;
        this.onProgress();
        return buffer;
      },
    });
  }
}

/** Return the objects of the table, and the folder that they are in. */
async function objectsOf(
  place: Place,
  ref: string,
): Promise<{ folder: string; objects: ObjectStats[] }> {
  const { repository, path } = place;
  if (isGlob(path)) {
    const begin = beginOf(path);
    const folder = begin.slice(0, begin.lastIndexOf('/') + 1);
    const objects = await listed({ ...place, path: begin }, folder, path);
    // An object's own name may have the signs of a glob.
    const own = objects.find(object => object.path === path);
    if (own) return { folder: path, objects: [own] };
    if (objects.length) return { folder, objects };
    throw new Failure(
      `No .parquet, .csv or .jsonl object matches ${path} at ${ref} of ${repository}.`,
      404,
    );
  }
  if (path && !path.endsWith('/')) {
    const found = await stat(place).catch(error => {
      if (error instanceof Failure && error.status === 404) return undefined;
      throw error;
    });
    if (found && !formatOf(path))
      throw new Failure(
        `${path} is no table: queries read .parquet, .csv, .tsv, .jsonl and .ndjson.`,
        -1,
      );
    if (found) return { folder: path, objects: [found] };
  }
  const folder = path && !path.endsWith('/') ? `${path}/` : path;
  const objects = await listed({ ...place, path: folder }, folder);
  if (objects.length) return { folder, objects };
  const isStaged = await stat({ ...place, ref }).then(
    () => true,
    () => false,
  );
  throw new Failure(
    isStaged
      ? `${path} is not committed to ${ref} yet, and a query reads commits. Commit it, then run the query again.`
      : `There is no table ${path || '/'} at ${ref} of ${repository}: name an object, or a folder of .parquet, .csv or .jsonl objects, in quotes.`,
    404,
  );
}

async function listed(
  { repository, ref, path }: Place,
  folder: string,
  glob?: string,
): Promise<ObjectStats[]> {
  const found: ObjectStats[] = [];
  for await (const page of eachPage(repository, ref, path)) {
    found.push(
      ...page.filter(
        each =>
          isPart(each.path, folder) &&
          each.size_bytes &&
          (!glob || each.path === glob || matchesGlob(glob, each.path)),
      ),
    );
    if (found.length > LIMITS.query_objects)
      throw new Failure(
        `${path} has more than ${integerText(LIMITS.query_objects)} objects: name a folder in it.`,
        -1,
      );
  }
  return found;
}

/**
 * Return where an object of a folder has the columns of the first one. Several may have one name, in this order.
 *
 * Raises a failure if it has other columns, or other types: the table has those of the first object.
 */
export function placesOf(
  columns: readonly Column[],
  own: readonly Column[],
  path: string,
): number[] {
  const taken = new Set<number>();
  const refuse = (what: string) => {
    throw new Failure(`${path} has ${what}. Query objects of one schema: name them by a glob.`, -1);
  };
  const places = columns.map(column => {
    const at = own.findIndex(({ name }, at) => name === column.name && !taken.has(at));
    const found = own[at];
    taken.add(at);
    if (!found) refuse(`no column ${column.name}, which other objects of the folder have`);
    else if (!isLike(found, column))
      refuse(
        `${found.type} in ${column.name}, of which other objects of the folder have ${column.type}`,
      );
    return at;
  });
  const extra = own.find((_, at) => !taken.has(at));
  if (extra) refuse(`a column ${extra.name}, which other objects of the folder have not`);
  return places;
}

/** Return whether the values of the object's column are of the type of the table's. */
function isLike(own: Column, column: Column): boolean {
  if (own.type === 'null') return true;
  if (own.holds === 'integers' && column.holds === 'fractions') return !isWide(own);
  // Times of other units are alike, and a text and a day are not.
  const kind = ({ type, holds }: Column) => holds === 'others' && type.replace(/[[(].*/, '');
  return own.holds === column.holds && isWide(own) === isWide(column) && kind(own) === kind(column);
}
