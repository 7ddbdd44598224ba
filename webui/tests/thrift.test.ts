import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStruct } from '../src/parts/parquet/thrift';

function struct(hex: string) {
  return readStruct(
    new DataView(Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex')).buffer),
  );
}

test('each type of a field is read', () => {
  const fields = [
    '11', // 1: true
    '12', // 2: false
    '13 ff', // 3: a byte, -1
    '15 03', // 4: an integer of 32 bits, -2
    '16 ffffffffffffffffff01', // 5: the least integer of 64 bits
    '17 000000000000f03f', // 6: a double, 1
    '18 02 c3a9', // 7: two bytes
    '19 25 02 04', // 8: a list of two integers
    '19 12 01', // 9: a list of a boolean
    '1c 15 02 00', // 10: a struct
    '05 28 02', // 20, by its number: 1
    '00',
  ];
  assert.deepEqual(struct(fields.join('')), {
    1: true,
    2: false,
    3: -1n,
    4: -2n,
    5: -(2n ** 63n),
    6: 1,
    7: Uint8Array.of(0xc3, 0xa9),
    8: [1n, 2n],
    9: [true],
    10: { 1: 1n },
    20: 1n,
  });
});

test('a list of more than fourteen values has its length after its head', () => {
  assert.deepEqual(struct(`19 f5 10 ${'02'.repeat(16)} 00`)[1], Array(16).fill(1n));
});

test('bytes that end too early are refused, and so is a type that Parquet does not have', () => {
  for (const cut of ['', '15', '18 05 61', '19 f5 ffffffff0f 02'])
    assert.throws(() => struct(cut), cut);
  assert.throws(() => struct('1b 00 00'), /type 11/);
});
