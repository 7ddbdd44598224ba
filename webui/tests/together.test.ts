import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Together } from '../src/pages/objects/together';

test('what is asked for at one moment, or while a request is on its way, shares a request', async () => {
  const groups: number[][] = [];
  let release = () => {};
  const together = new Together<number, string>(async asked => {
    groups.push(asked);
    await new Promise<void>(resolve => {
      release = resolve;
    });
    return asked.map(String);
  });
  const first = [together.ask(1), together.ask(2)];
  await null;
  await null;
  const second = [together.ask(3), together.ask(4), together.ask(5)];
  release();
  assert.deepEqual(await Promise.all(first), ['1', '2']);
  release();
  assert.deepEqual(await Promise.all(second), ['3', '4', '5']);
  assert.deepEqual(groups, [
    [1, 2],
    [3, 4, 5],
  ]);
});

test('a failed request fails for those that shared it, and the next one is sent', async () => {
  let count = 0;
  const together = new Together<number, number>(async asked => {
    count += 1;
    if (count === 1) throw new Error('no answer');
    return asked;
  });
  const failed = [together.ask(1), together.ask(2)];
  for (const each of failed) await assert.rejects(each, /no answer/);
  assert.equal(await together.ask(3), 3);
  assert.equal(count, 2);
});
