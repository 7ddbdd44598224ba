import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectText, tableName, tablePath } from '../src/parts/iceberg-names';
import { tableChanges } from '../src/parts/table-changes';
import { changedText, readTable } from '../src/parts/table-metadata';

const PLAIN = '_lakefs_tables/iceberg/namespaces/sales/tables/orders';
const NESTED = '_lakefs_tables/iceberg/namespaces/sales/namespaces/eu/tables/orders';
const DOTTED = '_lakefs_tables/iceberg/namespaces/v1.0/tables/orders';

test('a table has the name of its namespace and its own', () => {
  assert.equal(tableName(PLAIN), 'sales.orders');
  assert.equal(tableName(NESTED), 'sales.eu.orders');
  assert.equal(objectText(PLAIN), 'table sales.orders');
});

test('a name leads back to its path, and with dots in a part it is the path', () => {
  for (const path of [PLAIN, NESTED, DOTTED]) assert.equal(tablePath(tableName(path)), path);
  assert.equal(tableName(DOTTED), DOTTED);
});

test('other objects are no tables', () => {
  for (const path of [
    'a.csv',
    '_lakefs_tables/iceberg/namespaces/sales/namespace.json',
    `${PLAIN}/more`,
    `x/${PLAIN}`,
    '_lakefs_tables/iceberg/namespaces/sales/tables/',
  ])
    assert.equal(tableName(path), '');
  assert.equal(objectText('dir/a.csv', 'a.csv'), 'a.csv');
});

const nested = {
  type: 'struct',
  'schema-id': 1,
  fields: [
    { id: 1, name: 'id', type: 'long', required: true, doc: 'the key' },
    {
      id: 2,
      name: 'lines',
      required: false,
      type: {
        type: 'list',
        'element-id': 3,
        'element-required': false,
        element: {
          type: 'struct',
          fields: [{ id: 4, name: 'sku', type: 'string', required: true }],
        },
      },
    },
    {
      id: 5,
      name: 'tags',
      required: false,
      type: {
        type: 'map',
        'key-id': 6,
        key: 'string',
        'value-id': 7,
        'value-required': false,
        value: 'long',
      },
    },
  ],
};

const metadata = {
  'format-version': 2,
  'table-uuid': 'u',
  location: 's3://lake/_iceberg/u',
  schemas: [{ type: 'struct', 'schema-id': 0, fields: [] }, nested],
  'current-schema-id': 1,
  'partition-specs': [
    {
      'spec-id': 0,
      fields: [{ 'field-id': 1000, 'source-id': 1, name: 'id_bucket', transform: 'bucket[4]' }],
    },
  ],
  'default-spec-id': 0,
  'sort-orders': [
    {
      'order-id': 1,
      fields: [
        {
          'source-id': 4,
          transform: 'identity',
          direction: 'asc',
          'null-order': 'nulls-first',
        },
      ],
    },
  ],
  'default-sort-order-id': 1,
  properties: { owner: 'ann' },
  'current-snapshot-id': 8,
  refs: { main: { type: 'branch', 'snapshot-id': 8 } },
  snapshots: [
    { 'snapshot-id': 7, 'timestamp-ms': 1000, summary: { operation: 'append' } },
    {
      'snapshot-id': 8,
      'timestamp-ms': 2000,
      summary: { operation: 'overwrite', 'added-records': '3', 'deleted-records': '1' },
    },
  ],
};

test('a table has the columns inside others, its partitions and its order by their names', () => {
  const table = readTable(JSON.stringify(metadata));
  assert.deepEqual(
    table.columns.map(({ id, name, type, isRequired }) => `${id} ${name} ${type} ${isRequired}`),
    [
      '1 id long true',
      '2 lines list false',
      '3 lines.element struct false',
      '4 lines.element.sku string true',
      '5 tags map false',
      '6 tags.key string true',
      '7 tags.value long false',
    ],
  );
  assert.equal(table.columns[0]?.doc, 'the key');
  assert.deepEqual(table.partitions, ['bucket[4](id) as id_bucket']);
  assert.deepEqual(table.order, ['identity(lines.element.sku) asc nulls-first']);
});

test('snapshots come newest first, with what they changed and the refs that name them', () => {
  const { snapshots, current } = readTable(JSON.stringify(metadata));
  assert.deepEqual(
    snapshots.map(each => [each.id, changedText(each, 'records'), each.refs.join()]),
    [
      ['8', '+3 −1', 'main'],
      ['7', '+0 −0', ''],
    ],
  );
  assert.equal(current, snapshots[0]);
});

test('the ID of a snapshot keeps all its digits', () => {
  const text = JSON.stringify(metadata).replaceAll(':8', ':8204981235123456789');
  assert.equal(readTable(text).current?.id, '8204981235123456789');
});

test('a file of the first format version has one schema and no refs', () => {
  const table = readTable(
    JSON.stringify({
      'format-version': 1,
      schema: nested,
      'partition-spec': [],
      'current-snapshot-id': -1,
    }),
  );
  assert.equal(table.columns.length, 7);
  assert.equal(table.current, undefined);
});

test('what is no metadata file is refused with words', () => {
  const broken = [
    '',
    'null',
    '[]',
    '{}',
    '{"schemas": 1}',
    JSON.stringify({ ...metadata, 'current-schema-id': 9 }),
    JSON.stringify({ ...metadata, 'partition-specs': {} }),
    JSON.stringify({ ...metadata, snapshots: [{ 'snapshot-id': 1 }] }),
    JSON.stringify({ ...metadata, snapshots: [{ 'snapshot-id': 1, 'timestamp-ms': 1e300 }] }),
    JSON.stringify({ ...metadata, refs: { main: null } }),
  ];
  for (const text of broken)
    assert.throws(() => readTable(text), {
      message: /^The metadata file of this table is broken: /,
    });
});

test('values of another kind than Iceberg writes are shown as texts', () => {
  const strange = { ...metadata, properties: { a: { b: [1] }, c: null } };
  assert.deepEqual(readTable(JSON.stringify(strange)).properties, [
    ['a', '{"b":[1]}'],
    ['c', 'null'],
  ]);
});

const changesTo = (changed: object) =>
  tableChanges(JSON.stringify(metadata), JSON.stringify({ ...metadata, ...changed })).map(
    ({ type, what, left, right }) => `${type} ${what}: ${left} -> ${right}`,
  );

test('a column is the same one under another name; another ID is another column', () => {
  const [id, ...others] = nested.fields;
  const renamed = { ...nested, fields: [{ ...id, name: 'key', doc: '' }, ...others] };
  assert.deepEqual(changesTo({ schemas: [renamed] }), [
    'changed Column 1: id long required (the key) -> key long required',
    'changed Partitions: bucket[4](id) as id_bucket -> bucket[4](key) as id_bucket',
  ]);
  const added = { id: 9, name: 'note', type: 'string', required: false };
  assert.deepEqual(changesTo({ schemas: [{ ...nested, fields: [...nested.fields, added] }] }), [
    'added Column 9:  -> note string',
  ]);
});

test('snapshots, refs and properties of either side are named', () => {
  const changed = {
    snapshots: metadata.snapshots.slice(1),
    properties: { owner: 'bob', team: 'x' },
    refs: {},
    schemas: [{ ...nested, fields: [...nested.fields, { ...nested.fields[0], id: 9 }] }],
  };
  assert.deepEqual(changesTo(changed), [
    'added Column 9:  -> id long required (the key)',
    'removed Snapshot 7: append, records +0 −0, files +0 −0 -> ',
    'removed Ref main: branch 8 -> ',
    'changed Property owner: ann -> bob',
    'added Property team:  -> x',
  ]);
  assert.deepEqual(changesTo({ 'last-updated-ms': 5 }), []);
});

test('of a new table everything is added, and of a dropped one removed', () => {
  const text = JSON.stringify(metadata);
  const types = (before: string, after: string) =>
    new Set(tableChanges(before, after).map(({ type }) => type));
  assert.deepEqual(types('', text), new Set(['added']));
  assert.deepEqual(types(text, ''), new Set(['removed']));
});
