/** Reads Thrift's compact protocol, in which a Parquet file says what it holds. */

/** The fields of a struct by their numbers. Integers are of type `bigint`, texts are bytes. */
export type Struct = { [field: number]: unknown };

const [STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, , STRUCT] = Array.from(
  { length: 13 },
  (_, type) => type,
);

/** Return the struct that the bytes begin with; throw if they end before it does. */
export function readStruct(view: DataView): Struct {
  let at = 0;

  const byte = () => view.getUint8(at++);

  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const part = byte();
      value |= BigInt(part & 127) << shift;
      if (part < 128) return value;
    }
  };

  const integer = (): bigint => {
    const zigzag = varint();
    return (zigzag >> 1n) ^ -(zigzag & 1n);
  };

  const bytes = (): Uint8Array => {
    const length = Number(varint());
    at += length;
    return new Uint8Array(view.buffer, view.byteOffset + at - length, length);
  };

  const double = (): number => {
    at += 8;
    return view.getFloat64(at - 8, true);
  };

  const list = (): unknown[] => {
    const head = byte();
    const items: unknown[] = [];
    let left = head >> 4 === 15 ? Number(varint()) : head >> 4;
    for (; left > 0; left -= 1) items.push(value(head & 15));
    return items;
  };

  const value = (type: number): unknown => {
    if (type === TRUE || type === FALSE) return byte() === 1;
    if (type === BYTE) return BigInt(view.getInt8(at++));
    if (type === I16 || type === I32 || type === I64) return integer();
    if (type === DOUBLE) return double();
    if (type === BINARY) return bytes();
    if (type === LIST || type === SET) return list();
    if (type === STRUCT) return struct();
    throw new Error(`Parquet has no values of Thrift's type ${type}`);
  };

  const struct = (): Struct => {
    const fields: Struct = {};
    for (let field = 0; ; ) {
      const head = byte();
      const type = head & 15;
      if (type === STOP) return fields;
      field = head >> 4 ? field + (head >> 4) : Number(integer());
      // A boolean outside of a list is its own type.
      fields[field] = type === TRUE || type === FALSE ? type === TRUE : value(type);
    }
  };

  return struct();
}
