/** What differs between two versions of an Iceberg table. */

import { changedText, readTable, type Table } from './table-metadata';

export interface TableChange {
  type: 'added' | 'removed' | 'changed';
  /** Such as `Column 3`. */
  what: string;
  left: string;
  right: string;
}

const PLACES = [
  'Column',
  'Partitions',
  'Sort order',
  'Records',
  'Snapshot',
  'Ref',
  'Property',
  'Format version',
  'UUID',
];
const placeOf = (what: string) => PLACES.findIndex(kind => what.startsWith(kind));

/** Return the differences of two metadata files; that of a table that does not exist is ''. */
export function tableChanges(before: string, after: string): TableChange[] {
  const [left, right] = [before, after].map(text => (text ? textsOf(readTable(text)) : new Map()));
  const all = new Set<string>([...(left?.keys() ?? []), ...(right?.keys() ?? [])]);
  const sorted = [...all].sort((one, other) => placeOf(one) - placeOf(other));
  return sorted.flatMap(what => {
    const [old, now] = [left?.get(what), right?.get(what)];
    if (old === now) return [];
    const type = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
    return { type, what, left: old ?? '', right: now ?? '' };
  });
}

/** Return what is compared by its name; columns keep their ID when their name changes. */
function textsOf(table: Table): Map<string, string> {
  const { columns, snapshots, current, refs, properties } = table;
  const texts: [string, string][] = [
    ...columns.map(({ id, name, type, isRequired, doc }): [string, string] => [
      `Column ${id}`,
      `${name} ${type}${isRequired ? ' required' : ''}${doc ? ` (${doc})` : ''}`,
    ]),
    ['Partitions', table.partitions.join(', ')],
    ['Sort order', table.order.join(', ')],
    ['Records', current?.summary['total-records'] ?? ''],
    ...snapshots.map((each): [string, string] => [
      `Snapshot ${each.id}`,
      `${each.summary.operation}, records ${changedText(each, 'records')}, files ${changedText(each, 'data-files')}`,
    ]),
    ...refs.map(([name, ref]): [string, string] => [`Ref ${name}`, ref]),
    ...properties.map(([key, value]): [string, string] => [`Property ${key}`, value]),
    ['Format version', table.formatVersion],
    ['UUID', table.uuid],
  ];
  return new Map(texts.filter(([, text]) => text));
}
