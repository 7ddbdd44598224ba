/** What the stored values of Parquet's logical types read as. None passes through a number that would round it. */

import type { LogicalType, ParquetType, SchemaElement } from 'hyparquet';
import { hex } from '../hex';
import { integerText } from '../words';

/** As it is stored: an integer of 64 bits or more is a `bigint`, bytes are not decoded yet. */
export type Raw = boolean | number | bigint | string | Uint8Array;

export interface Kind {
  /** As the field writes it: `decimal(18,2)`. */
  name: string;
  text: (raw: never, bytes_max: number) => string;
  /** Return what sorts as the values do; nothing where the bytes have no order. */
  order?: (raw: never) => number | bigint | string | boolean;
  /** Whether JSON writes it without quotes. */
  isBare?: boolean;
}

const decoder = new TextDecoder();
const texts = new WeakMap<Uint8Array, string>();

/** Return all of the bytes, or the first ones. A dictionary has them once for many cells, and so has this. */
export function bytesText(bytes: Uint8Array, bytes_max = Number.POSITIVE_INFINITY): string {
  if (bytes.length > bytes_max)
    return `${hex(bytes.subarray(0, bytes_max))}… (${integerText(bytes.length)} bytes)`;
  const text = texts.get(bytes) ?? hex(bytes);
  texts.set(bytes, text);
  return text;
}

/** Return the integer of big-endian bytes in two's complement, or the one that is an integer already. */
function integerOf(raw: number | bigint | Uint8Array): bigint {
  if (!(raw instanceof Uint8Array)) return BigInt(raw);
  return raw.length ? BigInt.asIntN(8 * raw.length, BigInt(`0x${hex(raw)}`)) : 0n;
}

// More digits than any writer's decimals have; longer ones would take the page's time.
const DECIMAL_BYTES = 64;
const DECIMAL_SCALE = 200;

function decimalText(unscaled: bigint, scale: number): string {
  if (scale < 0 || scale > DECIMAL_SCALE) return `${unscaled}E${-scale}`;
  if (!scale) return String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Return the day so many days after 1970-01-01; a `Date` ends before the integers do. */
function dateText(days: number): string {
  // Counted from 1 March of year 0, in eras of 400 years, so that leap days end a year.
  const since = days + 719_468;
  const era = Math.floor(since / 146_097);
  const ofEra = since - era * 146_097;
  const leaps =
    Math.floor(ofEra / 1_460) - Math.floor(ofEra / 36_524) + Math.floor(ofEra / 146_096);
  const yearOfEra = Math.floor((ofEra - leaps) / 365);
  const dayOfYear =
    ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const sign = year < 0 ? '-' : year > 9_999 ? '+' : '';
  return `${sign}${padded(Math.abs(year), 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

function padded(number: number | bigint, width: number): string {
  return String(number).padStart(width, '0');
}

const UNITS = {
  MILLIS: { name: 'ms', digits: 3, perSecond: 1_000n },
  MICROS: { name: 'us', digits: 6, perSecond: 1_000_000n },
  NANOS: { name: 'ns', digits: 9, perSecond: 1_000_000_000n },
};
type Unit = keyof typeof UNITS;

/** Return the time of day; its fraction has all digits of the unit, unless there is none. */
function timeText(raw: number | bigint, unit: Unit): string {
  const { digits, perSecond } = UNITS[unit];
  const count = BigInt(raw);
  if (count < 0n) return `-${timeText(-count, unit)}`;
  const [seconds, fraction] = [count / perSecond, count % perSecond];
  const clock = [seconds / 3_600n, (seconds / 60n) % 60n, seconds % 60n];
  const text = clock.map(part => padded(part, 2)).join(':');
  return fraction ? `${text}.${padded(fraction, digits)}` : text;
}

/** Return the time in ISO 8601; it ends in `Z` only if it is UTC's. */
export function timestampText(count: bigint, unit: Unit, isUTC: boolean): string {
  const perDay = UNITS[unit].perSecond * 86_400n;
  const ofDay = ((count % perDay) + perDay) % perDay;
  const days = Number((count - ofDay) / perDay);
  return `${dateText(days)}T${timeText(ofDay, unit)}${isUTC ? 'Z' : ''}`;
}

function uuidText(bytes: Uint8Array): string {
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function halfOf(bytes: Uint8Array): number {
  const bits = ((bytes[1] ?? 0) << 8) | (bytes[0] ?? 0);
  const [exponent, fraction] = [(bits >> 10) & 31, (bits & 1_023) / 1_024];
  const sign = bits >> 15 ? -1 : 1;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
}

function numberText(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number);
}

/** Return the shortest text that is this number of 32 bits: 0.1, and not 0.10000000149011612. */
function floatText(number: number): string {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(number.toPrecision(digits));
    if (Object.is(Math.fround(short), number)) return numberText(short);
  }
  return numberText(number);
}

/** Return the months, days and milliseconds that the bytes count, as ISO 8601 writes them. */
function intervalText(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [months, days, millis] = [0, 4, 8].map(at => view.getUint32(at, true));
  return `P${months}M${days}DT${decimalText(BigInt(millis ?? 0), 3)}S`;
}

const same = <Value>(value: Value): Value => value;
const textOf = (raw: string | Uint8Array) => (typeof raw === 'string' ? raw : decoder.decode(raw));
const plainText = (name: string): Kind => ({ name, text: textOf, order: hex });
const number = (name: string, text: Kind['text'] = String): Kind => ({
  name,
  text,
  order: same,
  isBare: true,
});
const bytes = (name: string): Kind => ({ name, text: bytesText, order: hex });

function integer(bits: number, isSigned: boolean): Kind {
  if (isSigned) return number(`int${bits}`);
  const unsigned = (raw: number | bigint) => BigInt.asUintN(Math.max(bits, 32), BigInt(raw));
  const text = (raw: number | bigint) => String(unsigned(raw));
  return { name: `uint${bits}`, text, order: unsigned, isBare: true };
}

const PHYSICAL: Record<ParquetType, (length?: number) => Kind> = {
  BOOLEAN: () => number('boolean'),
  INT32: () => number('int32'),
  INT64: () => number('int64'),
  // Nobody says whether it is UTC's, and its statistics have no order.
  INT96: () => ({
    name: 'timestamp[ns]',
    text: (nanos: bigint) => timestampText(nanos, 'NANOS', false),
  }),
  FLOAT: () => number('float', floatText),
  DOUBLE: () => number('double', numberText),
  BYTE_ARRAY: () => bytes('binary'),
  FIXED_LEN_BYTE_ARRAY: length => bytes(`binary(${length})`),
};

const INTEGERS: readonly ParquetType[] = ['INT32', 'INT64'];
const BYTES: readonly ParquetType[] = ['BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY'];

type Of<Name> = Extract<LogicalType, { type: Name }>;
type Rule<Name> = [
  /** The physical types that it is stored as, and how long their bytes are. */
  types: readonly ParquetType[],
  kind: (logical: Of<Name>) => Kind,
  length?: number,
];

/** How the values of each logical type read; those without a rule read as what they are stored as. */
const LOGICAL: { [Name in LogicalType['type']]?: Rule<Name> } = {
  STRING: [BYTES, () => plainText('string')],
  ENUM: [BYTES, () => plainText('enum')],
  JSON: [BYTES, () => plainText('json')],
  BSON: [BYTES, () => bytes('bson')],
  UUID: [BYTES, () => ({ name: 'uuid', text: uuidText, order: hex }), 16],
  INTERVAL: [BYTES, () => ({ name: 'interval', text: intervalText }), 12],
  FLOAT16: [
    BYTES,
    () => ({
      name: 'float16',
      text: (raw: Uint8Array) => numberText(halfOf(raw)),
      order: halfOf,
      isBare: true,
    }),
    2,
  ],
  NULL: [[...INTEGERS, ...BYTES, 'BOOLEAN'], () => plainText('null')],
  INTEGER: [INTEGERS, ({ bitWidth, isSigned }) => integer(bitWidth, isSigned)],
  DATE: [['INT32'], () => ({ name: 'date', text: dateText, order: same })],
  DECIMAL: [
    [...INTEGERS, ...BYTES],
    ({ precision, scale }) => ({
      name: `decimal(${precision},${scale})`,
      text: (raw: number | bigint | Uint8Array, bytes_max) =>
        raw instanceof Uint8Array && raw.length > DECIMAL_BYTES
          ? bytesText(raw, bytes_max)
          : decimalText(integerOf(raw), scale),
      order: integerOf,
      isBare: true,
    }),
  ],
  TIME: [
    INTEGERS,
    ({ unit }) => ({
      name: `time[${UNITS[unit].name}]`,
      text: (raw: number | bigint) => timeText(raw, unit),
      order: same,
    }),
  ],
  TIMESTAMP: [
    ['INT64'],
    ({ unit, isAdjustedToUTC }) => ({
      name: `timestamp[${UNITS[unit].name}${isAdjustedToUTC ? ', UTC' : ''}]`,
      text: (raw: bigint) => timestampText(raw, unit, isAdjustedToUTC),
      order: same,
    }),
  ],
};

/** Return the logical type, which older writers give as a converted one. */
export function logicalOf(element: SchemaElement): LogicalType | undefined {
  const { logical_type, converted_type, precision = 0, scale = 0 } = element;
  if (logical_type?.type) return logical_type;
  const [, sign, bits] = /^(U?)INT_(\d+)$/.exec(converted_type ?? '') ?? [];
  if (bits) return { type: 'INTEGER', bitWidth: Number(bits), isSigned: !sign };
  const [, type, unit] = /^(TIME|TIMESTAMP)_(MILLIS|MICROS)$/.exec(converted_type ?? '') ?? [];
  if (type) return { type, unit, isAdjustedToUTC: true } as LogicalType;
  if (converted_type === 'DECIMAL') return { type: 'DECIMAL', precision, scale };
  if (converted_type === 'UTF8') return { type: 'STRING' };
  return converted_type && ({ type: converted_type } as LogicalType);
}

/** Return how the values of a column of this element read. */
export function kindOf(element: SchemaElement): Kind {
  const { type = 'BYTE_ARRAY', type_length } = element;
  const logical = logicalOf(element);
  const [types, kind, length] = ((logical && LOGICAL[logical.type]) ?? []) as Partial<Rule<string>>;
  const isLong =
    length === undefined || (type === 'FIXED_LEN_BYTE_ARRAY' && type_length === length);
  return types?.includes(type) && kind && isLong
    ? kind(logical as never)
    : PHYSICAL[type](type_length);
}
