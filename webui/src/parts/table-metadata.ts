/** What the metadata file of an Iceberg table says, as texts to show and to compare. */

import { Failure } from '../api/client';
import { type Place, readText, stat } from '../api/objects';
import { parseExactly } from './json-lines';

type Json = Record<string, unknown>;

export interface Column {
  id: string;
  /** That of a column inside another one is `lines.element`. */
  name: string;
  type: string;
  isRequired: boolean;
  doc: string;
}

export interface Snapshot {
  id: string;
  at_s: number;
  /** `operation`, `added-records` and others. */
  summary: Record<string, string>;
  /** The branches and tags of the table that name it. */
  refs: string[];
}

export interface Table {
  uuid: string;
  formatVersion: string;
  location: string;
  schemaId: string;
  columns: Column[];
  /** Of each field, as `day(at) as at_day`. */
  partitions: string[];
  /** Of each field, as `identity(id) asc nulls-first`. */
  order: string[];
  properties: [string, string][];
  refs: [string, string][];
  /** The newest one first. */
  snapshots: Snapshot[];
  /** Nothing before the first rows. */
  current: Snapshot | undefined;
}

/** Load the table whose object is at the place. */
export async function loadTable(place: Place, signal: AbortSignal) {
  const stats = await stat(place, signal);
  const text = await readText(place, stats.size_bytes, stats.size_bytes, signal);
  return { stats, table: readTable(text) };
}

/** Return the table of a metadata file; fail with words for a person if it is none. */
export function readTable(text: string): Table {
  try {
    return tableOf(object(parseExactly(text)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`The metadata file of this table is broken: ${why}.`, -1);
  }
}

// A file may hold anything: what is not as Iceberg writes it ends the reading, or is a text.

function object(value: unknown): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${JSON.stringify(value)?.slice(0, 40)} is no object`);
  return value as Json;
}

function list(value: unknown): Json[] {
  if (!Array.isArray(value)) throw new TypeError('a list is missing');
  return value.map(object);
}

function text(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value ?? '');
}

function texts(value: unknown): [string, string][] {
  return Object.entries(object(value ?? {}))
    .map(([key, each]): [string, string] => [key, text(each)])
    .sort();
}

/** Return the one of the list that is current. */
function byId(found: Json[], name: string, id: unknown): Json {
  const one = found.find(each => text(each[name]) === text(id));
  if (!one) throw new TypeError(`there is no ${name} ${text(id)}`);
  return one;
}

function tableOf(metadata: Json): Table {
  // Files of the first format version may have one schema, and one list of partition fields.
  const schemas = list(metadata.schemas ?? [metadata.schema]);
  const schema = metadata.schemas
    ? byId(schemas, 'schema-id', metadata['current-schema-id'])
    : object(schemas[0]);
  const spec = metadata['partition-specs']
    ? byId(list(metadata['partition-specs']), 'spec-id', metadata['default-spec-id']).fields
    : metadata['partition-spec'];
  const order = metadata['sort-orders']
    ? byId(list(metadata['sort-orders']), 'order-id', metadata['default-sort-order-id']).fields
    : [];
  const columns = [...columnsOf(schema)];
  const names = new Map(columns.map(({ id, name }) => [id, name]));
  const transformed = (each: Json) => {
    const source = text(each['source-id'] ?? each['source-ids']);
    return `${text(each.transform)}(${names.get(source) ?? source})`;
  };
  const current = text(metadata['current-snapshot-id']);
  const refs = Object.entries(object(metadata.refs ?? {})).map(([name, ref]) => ({
    name,
    type: text(object(ref).type),
    id: text(object(ref)['snapshot-id']),
  }));
  const snapshots = list(metadata.snapshots ?? [])
    .map(each => snapshotOf(each, refs))
    .sort((one, other) => other.at_s - one.at_s);
  return {
    uuid: text(metadata['table-uuid']),
    formatVersion: text(metadata['format-version']),
    location: text(metadata.location),
    schemaId: text(schema['schema-id']),
    columns,
    partitions: list(spec).map(each => `${transformed(each)} as ${text(each.name)}`),
    order: list(order).map(
      each => `${transformed(each)} ${text(each.direction)} ${text(each['null-order'])}`,
    ),
    properties: texts(metadata.properties),
    refs: refs.map(({ name, type, id }) => [name, `${type} ${id}`]),
    snapshots,
    current: snapshots.find(({ id }) => id === current),
  };
}

function snapshotOf(found: Json, refs: { name: string; id: string }[]): Snapshot {
  const id = text(found['snapshot-id']);
  const at_s = Number(found['timestamp-ms']) / 1000;
  if (Number.isNaN(new Date(at_s * 1000).getTime()))
    throw new TypeError(`snapshot ${id} has no time`);
  return {
    id,
    at_s,
    summary: Object.fromEntries(texts(found.summary)),
    refs: refs.filter(ref => ref.id === id).map(({ name }) => name),
  };
}

/** Give the columns of a struct, each with those inside it behind it. */
function* columnsOf(kind: Json, prefix = ''): Generator<Column> {
  const parts = kind.fields
    ? list(kind.fields)
    : ['element', 'key', 'value']
        .filter(name => name in kind)
        .map(name => ({
          id: kind[`${name}-id`],
          name,
          type: kind[name],
          required: kind[`${name}-required`] ?? true, // a map's key always is
        }));
  for (const each of parts as Json[]) {
    const name = `${prefix}${text(each.name)}`;
    const inner = typeof each.type === 'string' ? undefined : object(each.type);
    yield {
      id: text(each.id),
      name,
      type: text(inner ? inner.type : each.type),
      isRequired: each.required === true,
      doc: text(each.doc),
    };
    if (inner) yield* columnsOf(inner, `${name}.`);
  }
}

/** Return how many records, or data files, the snapshot added and deleted: `+3 −1`. */
export function changedText({ summary }: Snapshot, what: 'records' | 'data-files'): string {
  return `+${summary[`added-${what}`] ?? 0} −${summary[`deleted-${what}`] ?? 0}`;
}
