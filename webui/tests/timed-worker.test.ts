import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { timedWorker } from '../src/parts/timed-worker';

/** Workers that were started; each is ready once its module has loaded. */
const started: FakeWorker[] = [];
let isMissing = false;

class FakeWorker {
  onmessage = (_: { data: unknown }) => {};
  onerror = () => {};
  asked: unknown[] = [];
  isTerminated = false;

  constructor() {
    started.push(this);
    queueMicrotask(() => (isMissing ? this.onerror() : this.onmessage({ data: 'ready' })));
  }

  postMessage(question: unknown) {
    this.asked.push(question);
  }

  terminate() {
    this.isTerminated = true;
  }
}

const settled = () => new Promise(setImmediate);

beforeEach(t => {
  started.length = 0;
  isMissing = false;
  Object.assign(globalThis, { Worker: FakeWorker });
  mock.timers.enable({ apis: ['setTimeout'] });
  (t as { after: (act: () => void) => void }).after(() => mock.timers.reset());
});

test('one worker answers one question after the other', async () => {
  const ask = timedWorker<string, string>('/assets/a.js', 1_000);
  const answers = Promise.all([ask('first'), ask('second')]);
  await settled();
  assert.deepEqual(started[0]?.asked, ['first']);
  started[0]?.onmessage({ data: 'one' });
  await settled();
  assert.deepEqual(started[0]?.asked, ['first', 'second']);
  started[0]?.onmessage({ data: 'two' });
  assert.deepEqual(await answers, ['one', 'two']);
  assert.equal(started.length, 1);
});

for (const [name, fail] of [
  ['takes too long', () => mock.timers.tick(1_000)],
  ['fails', () => started[0]?.onerror()],
] as const)
  test(`a worker that ${name} is stopped, and another one answers the next question`, async () => {
    const ask = timedWorker<string, string>('/assets/a.js', 1_000);
    const first = ask('first');
    const second = ask('second');
    await settled();
    fail();
    assert.equal(await first, null);
    await settled();
    assert.equal(started[0]?.isTerminated, true);
    assert.deepEqual(started[1]?.asked, ['second']);
    started[1]?.onmessage({ data: 'two' });
    assert.equal(await second, 'two');
  });

test('the time of an answer begins when the module has loaded, and ends with the answer', async () => {
  const ask = timedWorker<string, string>('/assets/a.js', 1_000);
  const first = ask('first');
  mock.timers.tick(5_000);
  await settled();
  started[0]?.onmessage({ data: 'one' });
  assert.equal(await first, 'one');
  mock.timers.tick(5_000);
  assert.equal(started[0]?.isTerminated, false);
});

test('a module that does not load is told, and the next question tries again', async () => {
  const ask = timedWorker<string, string>('/assets/a.js', 1_000);
  isMissing = true;
  await assert.rejects(ask('first'), /did not load/);
  isMissing = false;
  const second = ask('second');
  await settled();
  started[1]?.onmessage({ data: 'two' });
  assert.equal(await second, 'two');
});
