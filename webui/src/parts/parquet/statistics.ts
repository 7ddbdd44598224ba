/** The least and the greatest value that the row groups tell, as they are stored: the reader would round them. */

import type { AsyncBuffer, FileMetaData, ParquetType } from 'hyparquet';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import type { ColumnFacts } from '../column-facts';
import { type Most, type Type, textOf } from './types';
import type { Raw } from './values';

/** A writer may have left out any of it. */
export interface RawStatistics {
  /** Whether all values are nulls, so that none of them is the least. */
  isEmpty: boolean;
  nulls?: bigint;
  min?: Raw;
  max?: Raw;
}

/** What each row group says of one column. */
export type ColumnStatistics = readonly (RawStatistics | undefined)[];

// What the reader fetches first; a cached file has it.
const TAIL_BYTES = 1 << 19;
const END_BYTES = 8;

/** Return the statistics of each leaf, by row group. */
export async function rawStatistics(
  file: AsyncBuffer | ArrayBuffer,
  metadata: FileMetaData,
): Promise<(RawStatistics | undefined)[][]> {
  const end = file.byteLength;
  const length = metadata.metadata_length + END_BYTES;
  const tail = await file.slice(Math.max(0, end - Math.max(length, TAIL_BYTES)), end);
  const view = new DataView(tail, tail.byteLength - length, metadata.metadata_length);
  // The fields' numbers are those of parquet.thrift.
  const groups = deserializeTCompactProtocol({ view, offset: 0 }).field_4 as Thrift[];
  return groups.map(group =>
    (group.field_1 as Thrift[]).map(column => {
      const chunk = column.field_3 as Thrift | undefined;
      const statistics = chunk?.field_12 as Thrift | undefined;
      if (!statistics) return undefined;
      const isEmpty = statistics.field_3 === chunk?.field_5;
      return { isEmpty, ...statisticsOf(statistics, TYPES[Number(chunk?.field_1)]) };
    }),
  );
}

type Thrift = Record<`field_${number}`, unknown>;

const TYPES: readonly ParquetType[] = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
];

// Writers cut long values, which are only bounds then; not all of them say so.
const CUT_BYTES = 64;

function statisticsOf(
  statistics: Thrift,
  type: ParquetType | undefined,
): Omit<RawStatistics, 'isEmpty'> {
  const { field_1, field_2, field_3, field_5, field_6, field_7, field_8 } = statistics;
  const areBytes = type?.endsWith('BYTE_ARRAY');
  const read = (bytes: unknown, isExact: unknown) => {
    if (!(bytes instanceof Uint8Array) || !type) return undefined;
    const mayBeCut = areBytes && bytes.length >= CUT_BYTES;
    return (isExact ?? !mayBeCut) ? plainValue(bytes, type) : undefined;
  };
  // The older fields compare bytes as if they were signed.
  const older = (bytes: unknown) => (areBytes ? undefined : read(bytes, true));
  return {
    nulls: field_3 as bigint | undefined,
    max: read(field_5, field_7) ?? older(field_1),
    min: read(field_6, field_8) ?? older(field_2),
  };
}

const WIDTHS: { [Type in ParquetType]?: number } = {
  BOOLEAN: 1,
  INT32: 4,
  INT64: 8,
  FLOAT: 4,
  DOUBLE: 8,
};

/** Return the value; nothing of other bytes than such a value has. */
function plainValue(bytes: Uint8Array, type: ParquetType): Raw | undefined {
  if (type.endsWith('BYTE_ARRAY')) return bytes;
  if (bytes.length !== WIDTHS[type]) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type === 'INT32') return view.getInt32(0, true);
  if (type === 'INT64') return view.getBigInt64(0, true);
  if (type === 'FLOAT') return view.getFloat32(0, true);
  if (type === 'DOUBLE') return view.getFloat64(0, true);
  return bytes[0] === 1;
}

/** Return what all row groups say of the column. */
export function factsOf(
  { type, statistics = [] }: { type: Type; statistics?: ColumnStatistics },
  most: Most,
): ColumnFacts {
  const about = 'By the statistics of the row groups';
  const ofAll = <Value>(values: (Value | undefined)[]) =>
    values.every(value => value !== undefined) ? (values as Value[]) : undefined;
  const nulls = ofAll(statistics.map(group => group?.nulls));
  const facts = { type: type.name, about };
  if (type.is !== 'leaf' || !statistics.length) return facts;
  const { order } = type;
  const ordered = (values: Raw[] | undefined) =>
    order &&
    values
      ?.map(value => ({ value, key: order(value as never) }))
      .sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  const told = statistics.filter(group => !group?.isEmpty);
  const min = ordered(ofAll(told.map(group => group?.min)))?.at(0)?.value;
  const max = ordered(ofAll(told.map(group => group?.max)))?.at(-1)?.value;
  return {
    ...facts,
    nulls: nulls?.reduce((sum: number, each) => sum + Number(each), 0),
    min: textOf(type, min, most),
    max: textOf(type, max, most),
  };
}
