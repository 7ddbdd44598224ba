import './server'; // before the client is made

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../src/api/cache';
import { answer, api, Failure } from '../src/api/client';
import { readDistance } from '../src/parts/distance';
import { ifUnchanged, ifUnmoved, isMoved, onlyAt, readSetting } from '../src/parts/seen';
import { json, serve } from './server';

const ID = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

function refusalOf(message: string): Promise<Failure> {
  serve(() => json({ message }, 412));
  const path = { repository: 'lake', branch: 'main' };
  const reset = api.PUT('/repositories/{repository}/branches/{branch}/hard_reset', {
    params: { path, query: { ref: ID } },
  });
  return ifUnmoved(answer(reset)).then(
    () => assert.fail('it was taken'),
    error => error,
  );
}

test('a refusal for another commit says which ref has it; a refusal of a hook does not', async () => {
  for (const message of [
    `the head of branch 'main' is now ${ID}: look at it, and repeat`,
    `'main' is now commit ${ID}: look at it, and repeat`,
  ]) {
    const failure = await refusalOf(message);
    assert.ok(isMoved(failure));
    assert.match(failure.message, /^main has new commits since you looked/);
  }
  const hook = await refusalOf("pre-merge hook aborted, run id 'r1'");
  assert.deepEqual([isMoved(hook), hook.status], [false, 412]);
});

test('nothing is changed where it is unknown which commit was shown', () => {
  assert.deepEqual(onlyAt(ID), { 'If-Match': `"${ID}"` });
  assert.throws(() => onlyAt(undefined), isMoved);
});

const rules = () =>
  api.GET('/repositories/{repository}/settings/gc_rules', {
    params: { path: { repository: 'lake' } },
  });

test('a setting has the version that its answer names, and so has an absent one', async () => {
  const body = { default_retention_days: 1, branches: [] };
  serve(() => Response.json(body, { headers: { ETag: '"1"' } }));
  assert.deepEqual(await readSetting(rules(), null), { setting: body, version: '"1"' });
  serve(() => Response.json({ message: 'none' }, { status: 404, headers: { ETag: '"0"' } }));
  assert.deepEqual(await readSetting<unknown>(rules(), null), { setting: null, version: '"0"' });
  await assert.rejects(readSetting(rules()), { status: 404 });
});

test('a setting that others have changed is loaded again; another failure stays as it is', async () => {
  let loads = 0;
  const change = (status: number) =>
    ifUnchanged('the rules', Promise.reject(new Failure('no', status)), () => {
      loads += 1;
    });
  await assert.rejects(change(412), { message: /^Somebody has changed the rules meanwhile/ });
  assert.equal(loads, 1);
  await assert.rejects(change(403), { message: 'no' });
  assert.equal(loads, 1);
});

test('the distance of two commits is asked for once', async () => {
  const seen = serve(() => json({ base_commit_id: OTHER, ahead: 2, behind: 1, is_exact: true }));
  await answerOf(readDistance('lake', ID, OTHER));
  await answerOf(readDistance('lake', ID, OTHER));
  assert.deepEqual(
    seen.map(({ target }) => target),
    [`/repositories/lake/refs/${ID}/merge/${OTHER}?ahead_behind=true`],
  );
});
