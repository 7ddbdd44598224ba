/** Rights in repositories as a form shows them, the statements that give them, and the way back. */

import type { Schemas } from '../../api/client';
import { problemOfName } from '../refs/names';

export type Statement = Pick<Schemas['StatementBody'], 'effect' | 'action' | 'resource'> &
  Partial<Schemas['StatementBody']>;

export const ALL = '*';

/** The right to read, or to read and write, in one repository or in all of them. */
export interface Grant {
  access: 'read' | 'write';
  /** A name, or `*` for all repositories; empty while it is not chosen. */
  repository: string;
  /** What the paths begin with; empty for all objects. */
  prefix: string;
  /** The branch that may be committed to, or a pattern of some; empty for all. */
  branch: string;
}

/** All that a form gives. */
export interface Grants {
  grants: readonly Grant[];
  /** Whether each user may manage their own access keys, which programs log in with. */
  hasOwnKeys: boolean;
}

export const NEW_GRANT: Grant = { access: 'read', repository: '', prefix: '', branch: '' };

// Programs ask for the settings of the storage before they upload. No narrower resource covers it.
const SETTINGS: Statement = { effect: 'allow', action: ['fs:ReadConfig'], resource: ALL };
// What the page and the command line ask for on the way to an object.
export const NAVIGATE = [
  'fs:ListRepositories',
  'fs:ReadRepository',
  'fs:ListObjects',
  'fs:ListBranches',
  'fs:ReadBranch',
  'fs:ListTags',
  'fs:ReadTag',
  'fs:ListCommits',
  'fs:ReadCommit',
  'branches:GetBranchProtectionRules',
  'pr:ListPullRequests',
  'pr:ReadPullRequest',
];
const READ = ['fs:ReadObject'];
const WRITE = [...READ, 'fs:WriteObject', 'fs:DeleteObject'];
const COMMIT = ['fs:CreateBranch', 'fs:CreateCommit'];
// A reset or a revert undoes changes of all paths, so it needs a grant for all of them.
const UNDO = ['fs:RevertBranch', 'fs:DeleteBranch'];
const TAG = ['fs:CreateTag', 'fs:DeleteTag'];
const PROPOSE = ['pr:WritePullRequest'];

const OWN_KEYS: Statement = {
  effect: 'allow',
  action: [
    'auth:CreateCredentials',
    'auth:DeleteCredentials',
    'auth:ListCredentials',
    'auth:ReadCredentials',
  ],
  resource: 'arn:lakefs:auth:::user/\u0024{user}',
};

const ROOT = 'arn:lakefs:fs:::repository/';

function allow(action: string[], ...resources: string[]): Statement {
  const resource = resources.length > 1 ? JSON.stringify(resources) : (resources[0] as string);
  return { effect: 'allow', action, resource };
}

function statementsOfOne({ access, repository, prefix, branch }: Grant): Statement[] {
  const at = ROOT + repository;
  const objects = `${at}/object/${prefix}*`;
  const reading = [SETTINGS, allow(NAVIGATE, at, `${at}/branch/*`, `${at}/tag/*`)];
  if (access === 'read') return [...reading, allow(READ, objects)];
  return [
    ...reading,
    allow(WRITE, objects),
    allow(prefix ? COMMIT : [...COMMIT, ...UNDO], `${at}/branch/${branch || ALL}`),
    ...(prefix || branch ? [] : [allow(TAG, `${at}/tag/*`)]),
    allow(PROPOSE, at),
  ];
}

/** Return the statements that give the rights, each of them once. */
export function statementsOf({ grants, hasOwnKeys }: Grants): Statement[] {
  const statements = [...grants.flatMap(statementsOfOne), ...(hasOwnKeys ? [OWN_KEYS] : [])];
  return [...new Map(statements.map(each => [JSON.stringify(each), each])).values()];
}

const OBJECTS = /^arn:lakefs:fs:::repository\/([^/]+)\/object\/(.*)\*$/;
const BRANCH = /^arn:lakefs:fs:::repository\/([^/]+)\/branch\/(.+)$/;

/** Return the rights that exactly these statements give; nothing if a form cannot show them. */
export function grantsOf(statements: readonly Statement[]): Grants | undefined {
  const grants: Grant[] = [];
  for (const [index, { action, resource }] of statements.entries()) {
    const [, repository, prefix] = OBJECTS.exec(resource) ?? [];
    if (repository === undefined || prefix === undefined) continue;
    const access = action.length === READ.length ? 'read' : 'write';
    // The statement of the branch follows; an equal one of before is not repeated.
    const [, owner, name = ''] = BRANCH.exec(statements[index + 1]?.resource ?? '') ?? [];
    const before = grants.findLast(
      each => each.access === 'write' && each.repository === repository,
    );
    const branch = owner === repository ? name : (before?.branch ?? '');
    const isLimited = access === 'write' && branch !== ALL;
    grants.push({ access, repository, prefix, branch: isLimited ? branch : '' });
  }
  const isAll = grants.length > 0 && grants.every(each => !hasProblem(each));
  const hasOwnKeys = statements.at(-1)?.resource === OWN_KEYS.resource;
  const found = { grants, hasOwnKeys };
  return isAll && textOf(statementsOf(found)) === textOf(statements) ? found : undefined;
}

function textOf(statements: readonly Statement[]): string {
  return JSON.stringify(
    statements.map(({ effect, action, resource, condition = {} }) => [
      effect,
      action,
      resource,
      condition,
    ]),
  );
}

type Problems = Partial<Record<'repository' | 'prefix' | 'branch', string>>;

/** Return what is wrong with each field, in words; an empty name has none. */
export function problemsOf({ repository, prefix, branch }: Grant): Problems {
  const problems: Problems = {};
  if (repository && repository !== ALL && !/^[a-z0-9][a-z0-9-]*$/.test(repository))
    problems.repository = 'A repository’s name has lower-case letters, digits and hyphens.';
  if (/[*?]|\$\{/.test(prefix))
    problems.prefix = 'This covers all that begins so. For wildcards, write the policy as JSON.';
  // A star also matches slashes: `repository/*/object/a/*` covers `secret/object/a/b` as well.
  if (repository === ALL && prefix) problems.prefix = 'Choose one repository to limit the objects.';
  // Of a pattern, a branch that it matches has a good name.
  const problem = branch ? problemOfName('branch', branch.replaceAll('*', 'x')) : undefined;
  if (problem) problems.branch = problem;
  if (/^\*+$/.test(branch)) problems.branch = 'Leave this empty for every branch.';
  if (repository === ALL && branch)
    problems.branch = 'Choose one repository to limit the branches.';
  return problems;
}

export function hasProblem(grant: Grant): boolean {
  return !grant.repository || Object.keys(problemsOf(grant)).length > 0;
}

/** Return what a right allows, in words. */
function wordsOfOne({ access, repository, prefix, branch }: Grant): string[] {
  const where = repository === ALL ? 'every repository' : `the repository ${repository}`;
  const objects = !prefix
    ? 'all objects'
    : `objects ${prefix.endsWith('/') ? 'below' : 'whose paths begin with'} ${prefix}`;
  const allows = [`See ${where}: names of all objects, branches, tags, commits, pull requests`];
  if (access === 'read') return [...allows, `Read ${objects}, at every branch, tag and commit`];
  const branches = branch ? `the branch ${branch}` : 'every branch';
  return [
    ...allows,
    `Read, write and delete ${objects}, on every branch`,
    `Commit to, merge into and create ${branches}${prefix ? '' : '; undo changes there, and delete it'}`,
    ...(prefix || branch ? [] : ['Create and delete tags']),
    'Open, review and change pull requests',
  ];
}

/** Return what the rights allow, in words, and what their user may not expect of all of them together. */
export function wordsOf({ grants, hasOwnKeys }: Grants): { allows: string[]; notes: string[] } {
  const allows = new Set(grants.flatMap(wordsOfOne));
  if (hasOwnKeys) allows.add('Create and delete their own access keys');
  const writes = grants.filter(({ access }) => access === 'write');
  const notes = [...new Set(writes.map(each => each.repository))].flatMap(repository => {
    const own = writes.filter(each => [repository, ALL].includes(each.repository));
    // One right without a limit lifts those of the others.
    const limits = (of: 'prefix' | 'branch') =>
      own.every(each => each[of]) ? [...new Set(own.map(each => each[of]))].join(' and ') : '';
    const [prefix, branch] = [limits('prefix'), limits('branch')];
    return [
      prefix &&
        `In ${repository}, a commit or merge takes all changes of a branch, also those outside ${prefix}.`,
      branch &&
        `In ${repository}, uploads to other branches are possible, but commits only to ${branch}.`,
    ];
  });
  return { allows: [...allows], notes: notes.filter(Boolean) };
}

/** Return a name for the policy of these rights, such as `Read-lake-reports`. */
export function policyNameOf(grants: readonly Grant[]): string {
  const [first] = grants;
  if (!first?.repository) return '';
  const { access, repository, prefix, branch } = first;
  const words = [
    access === 'read' ? 'Read' : 'Write',
    repository === ALL ? 'all' : repository,
    prefix,
    branch && `on-${branch}`,
    grants.length > 1 && 'and-more',
  ];
  return words
    .filter(Boolean)
    .join('-')
    .replace(/[^\w.-]+/g, '-')
    .replace(/-+/g, '-')
    .replace(/-$/, '');
}
