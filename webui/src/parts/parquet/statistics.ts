/** The least and the greatest value that the row groups tell, as they are stored: the reader would round them. */

import type { AsyncBuffer, FileMetaData, ParquetType } from 'hyparquet';
import type { ColumnFacts } from '../column-facts';
import { readStruct, type Struct } from './thrift';
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
  const groups = readStruct(view)[4] as Struct[];
  return groups.map(group =>
    (group[1] as Struct[]).map(column => {
      const chunk = column[3] as Struct | undefined;
      const statistics = chunk?.[12] as Struct | undefined;
      if (!statistics) return undefined;
      const isEmpty = statistics[3] === chunk?.[5];
      return { isEmpty, ...statisticsOf(statistics, TYPES[Number(chunk?.[1])]) };
    }),
  );
}

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
  statistics: Struct,
  type: ParquetType | undefined,
): Omit<RawStatistics, 'isEmpty'> {
  const areBytes = type?.endsWith('BYTE_ARRAY');
  const read = (bytes: unknown, isExact: unknown) => {
    if (!(bytes instanceof Uint8Array) || !type) return undefined;
    const mayBeCut = areBytes && bytes.length >= CUT_BYTES;
    return (isExact ?? !mayBeCut) ? plainValue(bytes, type) : undefined;
  };
  // The older fields compare bytes as if they were signed.
  const older = (bytes: unknown) => (areBytes ? undefined : read(bytes, true));
  return {
    nulls: statistics[3] as bigint | undefined,
    max: read(statistics[5], statistics[7]) ?? older(statistics[1]),
    min: read(statistics[6], statistics[8]) ?? older(statistics[2]),
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
  const groups = statistics.filter(group => !group?.isEmpty);
  const min = ordered(ofAll(groups.map(group => group?.min)))?.at(0)?.value;
  const max = ordered(ofAll(groups.map(group => group?.max)))?.at(-1)?.value;
  return {
    ...facts,
    nulls: nulls?.reduce((sum: number, each) => sum + Number(each), 0),
    min: textOf(type, min, most),
    max: textOf(type, max, most),
  };
}
