import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Grant,
  type Grants,
  grantsOf,
  hasProblem,
  NEW_GRANT,
  policyNameOf,
  problemsOf,
  type Statement,
  statementsOf,
  wordsOf,
} from '../src/pages/access/grants';

const grant = (given: Partial<Grant>): Grant => ({ ...NEW_GRANT, repository: 'lake', ...given });
const given = (...grants: Grant[]): Grants => ({ grants, hasOwnKeys: false });
const GRANTS: Grant[][] = [
  [grant({})],
  [grant({ repository: '*' })],
  [grant({ prefix: 'reports/' })],
  [grant({ access: 'write' })],
  [grant({ access: 'write', repository: '*' })],
  [grant({ access: 'write', prefix: 'raw/', branch: 'dev-*' })],
  [grant({ access: 'write', branch: 'feature-x' })],
  [grant({ prefix: 'a/' }), grant({ prefix: 'b/' }), grant({ repository: 'other' })],
  [grant({ access: 'write', prefix: 'a/' }), grant({ access: 'write', prefix: 'b/' })],
  [
    grant({ access: 'write', prefix: 'a/', branch: 'dev' }),
    grant({ access: 'write', prefix: 'b/', branch: 'dev' }),
    grant({ prefix: 'c/' }),
  ],
  [
    grant({ access: 'write', prefix: 'a/', branch: 'one' }),
    grant({ access: 'write', repository: 'other', branch: 'two' }),
  ],
];

/** Return the actions that are allowed on a resource, by the rules of policies without wildcards inside. */
function allowed(statements: Statement[], arn: string): string[] {
  const covers = (pattern: string) =>
    pattern.endsWith('*') ? arn.startsWith(pattern.slice(0, -1)) : pattern === arn;
  const resources = ({ resource }: Statement): string[] =>
    resource.startsWith('[') ? JSON.parse(resource) : [resource];
  return statements
    .filter(each => resources(each).some(pattern => pattern !== '*' && covers(pattern)))
    .flatMap(({ action }) => action);
}

test('rights become statements, and these statements the same rights', () => {
  for (const grants of GRANTS)
    for (const hasOwnKeys of [false, true])
      assert.deepEqual(grantsOf(statementsOf({ grants, hasOwnKeys })), { grants, hasOwnKeys });
});

test('rights read from statements never give other statements', () => {
  const statements = statementsOf(given(grant({ access: 'write', prefix: 'a/', branch: 'dev' })));
  const changes: ((all: Statement[]) => unknown)[] = [
    all => all.pop(),
    all => all.reverse(),
    all => all.push({ effect: 'deny', action: ['fs:*'], resource: '*' }),
    all => all.push(all[0] as Statement),
    ([first]) => ((first as Statement).effect = 'deny'),
    ([first]) => (first as Statement).action.push('fs:ReadObject'),
    ([first]) => ((first as Statement).condition = { IpAddress: { SourceIp: ['10.0.0.1'] } }),
    all => ((all[2] as Statement).resource = 'arn:lakefs:fs:::repository/lake/object/a?/*'),
    all => all.splice(0),
  ];
  for (const change of changes) {
    const changed = structuredClone(statements);
    change(changed);
    assert.equal(grantsOf(changed), undefined, String(change));
  }
  assert.equal(grantsOf([{ effect: 'allow', action: ['fs:*'], resource: '*' }]), undefined);
});

test('the fields that the server adds to a statement do not keep it from the form', () => {
  const stored = statementsOf(given(grant({}))).map(each => ({ ...each, condition: {} }));
  assert.deepEqual(grantsOf(stored), given(grant({})));
});

test('a reader of a prefix reads its objects, and changes nothing', () => {
  const statements = statementsOf(given(grant({ prefix: 'reports/' })));
  const at = 'arn:lakefs:fs:::repository/lake';
  assert.deepEqual(allowed(statements, `${at}/object/reports/a`), ['fs:ReadObject']);
  assert.deepEqual(allowed(statements, `${at}/object/secret`), []);
  assert.deepEqual(allowed(statements, 'arn:lakefs:fs:::repository/lakes'), []);
  const all = statements.flatMap(({ action }) => action);
  assert.ok(
    all.every(each => /:(Read|List|Get)/.test(each)),
    all.join(),
  );
});

test('a writer of a prefix may commit to its branch alone, and undoes nothing of others', () => {
  const statements = statementsOf(given(grant({ access: 'write', prefix: 'raw/', branch: 'dev' })));
  const at = 'arn:lakefs:fs:::repository/lake';
  assert.ok(allowed(statements, `${at}/branch/dev`).includes('fs:CreateCommit'));
  assert.ok(!allowed(statements, `${at}/branch/main`).includes('fs:CreateCommit'));
  assert.ok(!allowed(statements, `${at}/branch/dev`).includes('fs:RevertBranch'));
  assert.ok(!allowed(statements, `${at}/object/x`).includes('fs:WriteObject'));
  // Together on the repository itself, they would allow a restore of its refs.
  assert.ok(!allowed(statements, at).includes('fs:CreateCommit'));
});

test('what a form cannot say is refused in words', () => {
  assert.deepEqual(problemsOf(grant({ prefix: 'raw/', branch: 'dev-*' })), {});
  assert.match(problemsOf(grant({ repository: 'Lake*' })).repository ?? '', /lower-case/);
  for (const prefix of ['a*', 'a?', '\u0024{user}/'])
    assert.match(problemsOf(grant({ prefix })).prefix ?? '', /JSON/);
  for (const branch of ['*', 'dev/*', 'a b', '-x', 'dev-?'])
    assert.ok(problemsOf(grant({ access: 'write', branch })).branch, branch);
  const everywhere = problemsOf(grant({ repository: '*', prefix: 'a/', branch: 'dev' }));
  assert.deepEqual(Object.keys(everywhere), ['prefix', 'branch']);
  assert.ok(hasProblem(NEW_GRANT));
  assert.deepEqual(problemsOf(NEW_GRANT), {});
});

test('a right is told in words, with what its user may not expect', () => {
  const { allows, notes } = wordsOf(
    given(grant({ access: 'write', prefix: 'raw/', branch: 'dev' })),
  );
  assert.match(allows.join('\n'), /Read, write and delete objects below raw\//);
  assert.match(allows.join('\n'), /Commit to, merge into and create the branch dev/);
  assert.equal(notes.length, 2);
  assert.match(
    wordsOf(given(grant({ prefix: 'raw' }))).allows.join(),
    /whose paths begin with raw,/,
  );
  assert.match(wordsOf(given(grant({ repository: '*' }))).allows.join(), /every repository/);
});

test('the notes are about all rights together: none says what another right makes false', () => {
  const write = (changes: Partial<Grant>) => grant({ access: 'write', ...changes });
  const notes = (...grants: Grant[]) => wordsOf(given(...grants)).notes;
  assert.deepEqual(notes(write({ branch: 'one' }), write({ branch: 'two' })), [
    'In lake, uploads to other branches are possible, but commits only to one and two.',
  ]);
  assert.deepEqual(notes(write({ branch: 'one', prefix: 'a/' }), write({})), []);
  assert.deepEqual(notes(write({ branch: 'one' }), write({ repository: '*' })), []);
  assert.equal(notes(write({ branch: 'one' }), grant({ repository: '*' })).length, 1);
});

test('a user who needs keys for programs may make them, and those of nobody else', () => {
  const statements = statementsOf({ grants: [grant({})], hasOwnKeys: true });
  assert.equal(statements.at(-1)?.resource, 'arn:lakefs:auth:::user/\u0024{user}');
  const { allows } = wordsOf({ grants: [grant({})], hasOwnKeys: true });
  assert.equal(allows.at(-1), 'Create and delete their own access keys');
});

test('a policy is named after what it allows', () => {
  assert.equal(policyNameOf([NEW_GRANT]), '');
  assert.equal(policyNameOf([grant({ prefix: 'reports/2026/' })]), 'Read-lake-reports-2026');
  assert.equal(policyNameOf([grant({ repository: '*', access: 'write' })]), 'Write-all');
  assert.equal(
    policyNameOf([grant({ access: 'write', branch: 'dev/*' }), grant({})]),
    'Write-lake-on-dev-and-more',
  );
});
