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
import { type File, isOut, linesFile, parquetFile, rowsOf, textFile } from './files';
import { apart, beginOf, formatOf, hiveOf, isGlob, isPart, placeOf } from './names';
import type { Reading } from './program';
import { type Column, columnOf, holdsOfTexts, type SqlValue, valueOfText } from './values';

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
    const { folder, objects } = await objectsOf({ ...place, ref: await commit }, ref);
    return this.tableOf({ ...place, ref: await commit }, folder, objects);
  }

  private async tableOf(place: Place, folder: string, objects: ObjectStats[]): Promise<Table> {
    const read = (object: ObjectStats) => this.read({ ...place, path: object.path }, object);
    const first = objects[0] as ObjectStats;
    const opened = await read(first);
    const keys = [...hiveOf(first.path, folder).keys()].filter(
      key => !opened.columns.some(({ name }) => name === key),
    );
    const values = (key: string) => objects.map(({ path }) => hiveOf(path, folder).get(key));
    const added = keys.map(key => columnOf(key, holdsOfTexts(values(key))));
    const columns = [...opened.columns, ...added];
    const names = apart(columns.map(({ name }) => name));
    const count = (rows: number) => {
      this.progress.rows += rows;
      this.onProgress();
    };
    const own = opened.columns.length;
    const rows = async function* (reading: Reading) {
      for (const object of objects) {
        const hive = hiveOf(object.path, folder);
        const values = added.map(({ name, holds }) => valueOfText(hive.get(name), holds));
        const isElsewhere = reading.bounds.some(
          bound => bound.column >= own && isOut(bound, values[bound.column - own] ?? null),
        );
        if (isElsewhere) continue;
        const file = object === first ? opened : await read(object);
        const places = placesOf(opened.columns, file.columns, object.path);
        yield* rowsOf(file, reading, places, values, count);
      }
    };
    const all = columns.map((column, at) => ({ ...column, name: names[at] as string }));
    return { columns: all, rows };
  }

  private async read(place: Place, { size_bytes, path }: ObjectStats): Promise<File> {
    const format = formatOf(path);
    if (format === 'parquet') return parquetFile(this.file(place, size_bytes), path);
    if (size_bytes > LIMITS.query_text_bytes)
      throw new Failure(
        `${path} has ${sizeText(size_bytes)} of text. A query reads at most ${sizeText(LIMITS.query_text_bytes)} of one: write it as Parquet, of which only the needed columns are read.`,
        -1,
      );
    const text = await readText(place, size_bytes, size_bytes);
    this.progress.bytes += size_bytes;
    this.onProgress();
    return format === 'lines' ? linesFile(text) : textFile(path, text);
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

/** Return where an object of a folder has the columns of the first one. Several may have one name, in this order. */
export function placesOf(
  columns: readonly Column[],
  own: readonly Column[],
  path: string,
): number[] {
  const taken = new Set<number>();
  return columns.map(({ name, holds }) => {
    const at = own.findIndex((each, at) => each.name === name && !taken.has(at));
    taken.add(at);
    const isSame = own[at]?.holds === holds || own[at]?.holds === 'integers' || holds === 'others';
    if (isSame) return at;
    throw new Failure(
      at < 0
        ? `${path} has no column ${name}, which other objects of the folder have. Query objects of one schema: name them by a glob.`
        : `${path} has another type in ${name} than other objects of the folder. Query objects of one schema: name them by a glob.`,
      -1,
    );
  });
}
