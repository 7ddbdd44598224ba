import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lanes } from '../src/pages/commits/lanes';

function commits(...rows: string[]) {
  return rows.map(row => {
    const [id = '', ...parents] = row.split(' ');
    return { id, parents };
  });
}

/** A row as text: its lane of its width, then its lines, without colours. */
function drawn(lanes: Lanes): string[] {
  return lanes.rows.map(({ lane, width, lines }) => {
    const parts = lines.map(({ from, to, part }) => `${part} ${from}-${to}`);
    return [`${lane}/${width}`, ...parts].join(', ');
  });
}

function laid(...rows: string[]): Lanes {
  const lanes = new Lanes();
  lanes.add(commits(...rows));
  return lanes;
}

test('a history in a row is one lane of one colour', () => {
  const lanes = laid('c b', 'b a', 'a');
  assert.deepEqual(drawn(lanes), ['0/1, out 0-0', '0/1, into 0-0, out 0-0', '0/1, into 0-0']);
  assert.deepEqual(new Set(lanes.rows.map(({ colour }) => colour)), new Set([0]));
});

test('a merge opens a lane, which ends at the common parent', () => {
  const lanes = laid('m b x', 'b a', 'x a', 'a');
  assert.deepEqual(drawn(lanes), [
    '0/2, out 0-0, out 0-1',
    '0/2, into 0-0, through 1-1, out 0-0',
    '1/2, through 0-0, into 1-1, out 1-1',
    '0/2, into 0-0, into 1-0',
  ]);
  assert.deepEqual(
    lanes.rows.map(({ colour }) => colour),
    [0, 0, 1, 0],
  );
});

test('a second parent that a lane leads to already is met there', () => {
  assert.deepEqual(drawn(laid('m b x', 'b a x', 'x a', 'a')).slice(0, 2), [
    '0/2, out 0-0, out 0-1',
    '0/2, into 0-0, through 1-1, out 0-0, out 0-1',
  ]);
});

test('a lane that has ended is used again', () => {
  const lanes = laid('r', 'q p', 'p');
  assert.deepEqual(drawn(lanes), ['0/1', '0/1, out 0-0', '0/1, into 0-0']);
  assert.deepEqual(
    lanes.rows.map(({ colour }) => colour),
    [0, 1, 1],
  );
});

test('a lane that has ended between others is used again', () => {
  assert.deepEqual(drawn(laid('m b x', 'b', 'n p', 'x', 'p')).slice(2, 3), [
    '0/2, through 1-1, out 0-0',
  ]);
});

test('no line leads down to a parent that is shown above', () => {
  assert.deepEqual(drawn(laid('a', 'b a')), ['0/1', '0/1']);
});

test('pages add rows only, and those of before stay as they are', () => {
  const all = commits('m b x', 'b a', 'x a', 'a');
  const lanes = new Lanes();
  lanes.add(all.slice(0, 2));
  const first = [...lanes.rows];
  lanes.add(all);
  assert.deepEqual(lanes.rows.slice(0, 2), first);
  assert.deepEqual(drawn(lanes), drawn(laid('m b x', 'b a', 'x a', 'a')));
});
