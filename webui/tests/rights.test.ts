import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statementsOf } from '../src/pages/access/grants';
import { type HeldPolicy, type Right, resourcesOf, rightsOf } from '../src/pages/access/rights';

function held(id: string, ...statement: [effect: string, action: string[], resource: string][]) {
  return {
    policy: {
      id,
      creation_date: 0,
      statement: statement.map(([effect, action, resource]) => ({
        effect,
        action,
        resource,
        condition: {},
      })),
    },
    isDirect: true,
    groups: [],
  } satisfies HeldPolicy;
}

const AT = 'arn:lakefs:fs:::repository/';

function shown(all: HeldPolicy[]): Record<string, string[]> {
  const text = ({ isAllowed, may, what, number, held: { policy } }: Right) =>
    `${isAllowed ? '+' : '-'} ${may.join(', ')} | ${what} | ${policy.id} ${number}`;
  return Object.fromEntries(rightsOf(all).map(({ title, rights }) => [title, rights.map(text)]));
}

test('a pattern that begins before the name of a repository is of what is in all of them', () => {
  for (const resource of ['arn:lakefs:fs:::*', 'arn:lakefs:fs:::repo*']) {
    const places = shown([held('All', ['deny', ['fs:ReadObject', 'fs:DeleteObject'], resource])]);
    assert.match(places['All repositories']?.[0] ?? '', /^- read, delete \|/);
  }
  const inside = shown([held('Some', ['allow', ['fs:ReadObject'], `${AT}l*e`])]);
  assert.deepEqual(inside, { 'l*e': ['+ read |  | Some 1'] });
});

test('whatever leads to further rights is named beside other actions', () => {
  for (const action of ['UpdatePolicy', 'AddGroupMember', 'DetachPolicy']) {
    const places = shown([held('Few', ['allow', ['auth:ListUsers', `auth:${action}`], '*'])]);
    const [told] = places['Users, groups and policies'] ?? [];
    assert.match(told ?? '', /see users, (write policies|give rights) /);
  }
});

test('rights are listed by repository, with what denies them, and the statement that says so', () => {
  const all = [
    held('Reports', ['allow', ['fs:ReadObject'], `${AT}lake/object/reports/*`]),
    held(
      'Team',
      ['allow', ['fs:Read*', 'fs:List*'], JSON.stringify([`${AT}lake`, `${AT}lake/*`])],
      ['deny', ['fs:*'], `${AT}lake/object/secret/*`],
      ['allow', ['fs:CreateCommit'], `${AT}archive/branch/dev`],
    ),
  ];
  assert.deepEqual(shown(all), {
    archive: ['+ commit and merge | branch dev | Team 3'],
    lake: [
      '+ read | reports/* | Reports 1',
      '+ see, read |  | Team 1',
      '- read, write, delete | secret/* | Team 2',
    ],
  });
});

test('a star is about all repositories, about users, and about the storage', () => {
  const found = shown([
    held('All', ['allow', ['fs:*'], '*']),
    held('Auth', ['allow', ['auth:*'], '*']),
  ]);
  assert.deepEqual(Object.keys(found), [
    'All repositories',
    'Storage',
    'Users, groups and policies',
  ]);
  assert.match(found['All repositories']?.[0] ?? '', /see.*delete the repository.*read, write/);
  assert.match(found['Users, groups and policies']?.[0] ?? '', /give rights/);
});

test('a pattern of repositories covers what is in them, and a name does not', () => {
  const both = (resource: string) => shown([held('p', ['allow', ['fs:*'], `${AT}${resource}`])]);
  assert.match(both('sales*')['sales*']?.[0] ?? '', /see.*read/);
  assert.doesNotMatch(both('sales').sales?.[0] ?? '', /read/);
  assert.match(both('*/branch/main')['All repositories']?.[0] ?? '', /branch main/);
});

test('actions that have no word are shown themselves', () => {
  assert.deepEqual(shown([held('p', ['deny', ['ci:ReadAction'], `${AT}lake`])]), {
    lake: ['- ci:ReadAction |  | p 1'],
  });
});

test('an action without a word is shown beside those that have one', () => {
  const actions = ['fs:ReadObject', 'fs:ReadBranch', 'ci:*'];
  assert.deepEqual(shown([held('p', ['allow', actions, `${AT}lake/*`])]), {
    lake: ['+ read, ci:* |  | p 1'],
  });
});

test('actions that give nothing are left out', () => {
  assert.deepEqual(shown([held('p', ['allow', ['catalog:*', 'fs:ReadConfig'], '*'])]), {});
});

test('what the form gives is shown without a remainder', () => {
  const grant = { access: 'write', repository: 'lake', prefix: 'raw/', branch: 'dev' } as const;
  const statement = statementsOf({ grants: [grant], hasOwnKeys: true }).map(each => ({
    ...each,
    condition: {},
  }));
  const found = rightsOf([{ ...held('p'), policy: { id: 'p', creation_date: 0, statement } }]);
  const words = found.flatMap(({ rights }) => rights.flatMap(({ may }) => may));
  assert.ok(
    words.every(word => !word.includes(':')),
    words.join(),
  );
});

test('a resource that is a broken list is shown as it is', () => {
  assert.deepEqual(resourcesOf('["a", "b"]'), ['a', 'b']);
  assert.deepEqual(resourcesOf('["a"'), ['["a"']);
  assert.deepEqual(rightsOf([held('p', ['allow', ['fs:*'], '["a"'])]).length, 1);
});
