import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hookRefusal } from '../src/parts/hook-refusal';

/** The server's message, as the page writes sentences; a hook is its action, its ID and its error. */
function refusal(event: string, ...hooks: [string, string, string][]): string {
  const errors = hooks.map(
    ([action, hook, error], number) =>
      `hook run id '000${number}_0000' failed on action '${action}' hook '${hook}': action failed: ${error}`,
  );
  return `${event} hook aborted, run id '4ola2a': errors occurred:\n\t* ${errors.join('\n\t* ')}.`;
}

test('a refusal names the check, what it stopped, the reason and the run', () => {
  for (const [event, error, line] of [
    ['Pre-commit', "no answer from 'h'", "this commit: no answer from 'h'."],
    ['Prepare-commit', 'id is missing\nin 2 files', 'this commit: id is missing\nin 2 files.'],
    [
      'Update branch main: pre-merge',
      'no answer in 2 s: context deadline exceeded',
      'this merge: no answer in 2 s.',
    ],
    [
      'Pre-cherry-pick',
      'webhook request failed (status code: 403)',
      'this cherry-pick: the answer was 403.',
    ],
    ['Pre-create-tag', 'no', 'the creation of this tag: no.'],
    ['Pre-delete-branch', 'no', 'the deletion of this branch: no.'],
  ] as const)
    assert.deepEqual(hookRefusal(refusal(event, ['gate', 'check_schema', error])), {
      run: '4ola2a',
      line: `The check "check_schema" stopped ${line}`,
    });
});

test('a refusal names all checks that failed', () => {
  const hooks: [string, string, string][] = [
    ['gate', 'check', 'no'],
    ['sizes', 'check', 'status code (401): airflow hook request failed'],
  ];
  assert.equal(
    hookRefusal(refusal('Pre-merge', ...hooks))?.line,
    '2 checks stopped this merge: "check" of "gate": no; "check" of "sizes": the answer was 401.',
  );
});

test('a message of another form stays as it is', () => {
  assert.equal(hookRefusal('Precondition failed.'), undefined);
  const message = "Pre-commit hook aborted, run id '4ola2a': why.";
  assert.deepEqual(hookRefusal(message), { run: '4ola2a', line: message });
});

test('a long message is understood at once', { timeout: 60_000 }, () => {
  // These took minutes each: a test that hangs has failed.
  const reason = `no${' '.repeat(500_000)}x`;
  assert.equal(
    hookRefusal(refusal('Pre-commit', ['gate', 'check', reason]))?.line,
    `The check "check" stopped this commit: ${reason}.`,
  );
  assert.equal(hookRefusal('pre-'.repeat(200_000)), undefined);
  const begun = "Pre-commit hook aborted, run id 'a': ".concat(
    "\n\t* hook run id 'a' failed on action 'a".repeat(50_000),
  );
  assert.deepEqual(hookRefusal(begun), { run: 'a', line: begun });
});
