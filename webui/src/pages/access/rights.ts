/** What the policies of a user allow and deny, by repository, in words. */

import type { Schemas } from '../../api/client';
import { matchesGlob } from '../../parts/glob';
import { NAVIGATE } from './grants';

type Policy = Schemas['PolicyRow'];

/** A policy of a user, and the ways by which the user has it. */
export interface HeldPolicy {
  policy: Policy;
  isDirect: boolean;
  groups: string[];
}

export interface Right {
  isAllowed: boolean;
  /** What it is: words such as `read`, or the actions if no word says it. */
  may: string[];
  /** On what, inside of the place; empty for all of it. */
  what: string;
  /** Whether it depends on the address of the request. */
  isConditional: boolean;
  /** The place of the statement in its policy, from 1. */
  number: number;
  held: HeldPolicy;
}

export interface Place {
  /** A repository's name or pattern; nothing for what is outside of repositories. */
  repository?: string;
  title: string;
  rights: Right[];
}

type Kind = 'repository' | 'object' | 'branch' | 'tag' | 'storage' | 'accounts';

// Each word, and the action that it stands for.
const WORDS: Record<Kind, [string, string][]> = {
  repository: [
    ['see', 'fs:ListObjects'],
    ['work on pull requests', 'pr:WritePullRequest'],
    ['administer', 'fs:UpdateRepository'],
    ['administer', 'branches:SetBranchProtectionRules'],
    ['administer', 'retention:SetGarbageCollectionRules'],
    ['delete the repository', 'fs:DeleteRepository'],
  ],
  object: [
    ['read', 'fs:ReadObject'],
    ['write', 'fs:WriteObject'],
    ['delete', 'fs:DeleteObject'],
  ],
  branch: [
    ['commit and merge', 'fs:CreateCommit'],
    ['create branches', 'fs:CreateBranch'],
    ['undo', 'fs:RevertBranch'],
    ['delete branches', 'fs:DeleteBranch'],
  ],
  tag: [
    ['create tags', 'fs:CreateTag'],
    ['delete tags', 'fs:DeleteTag'],
  ],
  storage: [
    ['import', 'fs:ImportFromStorage'],
    ['create repositories', 'fs:AttachStorageNamespace'],
  ],
  accounts: [
    ['see users', 'auth:ListUsers'],
    ['create users', 'auth:CreateUser'],
    ['delete users', 'auth:DeleteUser'],
    ['write policies', 'auth:CreatePolicy'],
    ['write policies', 'auth:UpdatePolicy'],
    ['write policies', 'auth:DeletePolicy'],
    ['give rights', 'auth:AttachPolicy'],
    ['give rights', 'auth:AddGroupMember'],
    // Whoever takes away a policy may take away a denial.
    ['give rights', 'auth:DetachPolicy'],
    ['give rights', 'auth:RemoveGroupMember'],
    ['manage groups', 'auth:CreateGroup'],
    ['manage groups', 'auth:DeleteGroup'],
    ['see access keys', 'auth:ListCredentials'],
    ['see access keys', 'auth:ReadCredentials'],
    ['manage access keys', 'auth:CreateCredentials'],
    ['manage access keys', 'auth:DeleteCredentials'],
    // Such a principal logs in as the user.
    ['manage access keys', 'auth:CreateUserExternalPrincipal'],
    ['manage access keys', 'auth:DeleteUserExternalPrincipal'],
  ],
};

// No operation needs the first ones; the other one shows which kind of storage the deployment has.
const NO_RIGHT = /^(catalog:.*|fs:ReadConfig)$/;

/** What a resource of a statement is about. */
interface Target {
  title: string;
  repository?: string;
  kinds: Kind[];
  what: string;
}

const IN_REPOSITORY: Kind[] = ['object', 'branch', 'tag'];
const WHOLE: Kind[] = ['repository', ...IN_REPOSITORY];
const EVERYTHING = 'All repositories';
const STORAGE: Target = { title: 'Storage', kinds: ['storage'], what: '' };
const ACCOUNTS: Target = { title: 'Users, groups and policies', kinds: ['accounts'], what: '' };

function targetsOf(resource: string): Target[] {
  if (resource === '*')
    return [{ title: EVERYTHING, repository: '*', kinds: WHOLE, what: '' }, ACCOUNTS, STORAGE];
  const [, , service, , , ...rest] = resource.split(':');
  const named = rest.join(':');
  if (service !== 'fs')
    return [{ ...ACCOUNTS, what: named === 'user/\u0024{user}' ? 'the user’s own' : named }];
  const [kind, repository = '', room, ...path] = named.split('/');
  // `*` and `repo*` match all that is in repositories, and perhaps places of the storage.
  if (/[*?]/.test(kind ?? '')) {
    const what = named === '*' ? '' : named;
    return [
      { title: EVERYTHING, repository: '*', kinds: WHOLE, what },
      { ...STORAGE, what },
    ];
  }
  if (kind !== 'repository') return [{ ...STORAGE, what: named.replace(/^namespace\//, '') }];
  const title = repository === '*' ? EVERYTHING : repository;
  // A star also matches slashes, and so what is in a repository.
  if (room === undefined)
    return [
      { title, repository, kinds: repository.includes('*') ? WHOLE : ['repository'], what: '' },
    ];
  const found = IN_REPOSITORY.find(each => each === room);
  if (!found) return [{ title, repository, kinds: IN_REPOSITORY, what: '' }];
  const name = path.join('/');
  const what = name === '*' ? '' : found === 'object' ? name : `${found} ${name}`;
  return [{ title, repository, kinds: [found], what }];
}

/** Return the resources of a statement: several are a JSON list in the string. */
export function resourcesOf(resource: string): string[] {
  if (!resource.startsWith('[')) return [resource];
  try {
    const value = JSON.parse(resource);
    return Array.isArray(value) ? value.map(String) : [resource];
  } catch {
    return [resource];
  }
}

// To see a repository is to see what leads through it.
const NAMED = [
  ...Object.values(WORDS).flatMap(words => words.map(([, action]) => action)),
  ...NAVIGATE,
];

function hasWord(pattern: string): boolean {
  return NAMED.some(action => matchesGlob(pattern, action));
}

type Part = Target & { may: string[] };

/** Return the parts of a statement: one for all that it says of a place and the same things in it. */
function partsOf(actions: readonly string[], resource: string): Part[] {
  const targets = resourcesOf(resource).flatMap(targetsOf);
  const parts = new Map<string, Part>();
  for (const target of targets) {
    const words = target.kinds
      .flatMap(kind => WORDS[kind])
      .filter(([, action]) => actions.some(pattern => matchesGlob(pattern, action)))
      .map(([word]) => word);
    const key = JSON.stringify([target.title, target.what]);
    const may = [...new Set([...(parts.get(key)?.may ?? []), ...words])];
    if (may.length) parts.set(key, { ...target, may });
  }
  const [first = targets[0] && { ...targets[0], may: [] }, ...others] = parts.values();
  if (!first) return [];
  const wordless = actions.filter(
    action => !NO_RIGHT.test(action) && !(parts.size && hasWord(action)),
  );
  const all = [{ ...first, may: [...first.may, ...wordless] }, ...others];
  return all.filter(({ may }) => may.length);
}

/** Return what the policies allow and deny, by place: all repositories, each one, what is outside. */
export function rightsOf(all: readonly HeldPolicy[]): Place[] {
  const places = new Map<string, Place>();
  for (const held of all)
    for (const [index, statement] of held.policy.statement.entries())
      for (const { title, repository, what, may } of partsOf(
        statement.action,
        statement.resource,
      )) {
        const place = places.get(title) ?? { repository, title, rights: [] };
        places.set(title, place);
        const isAllowed = statement.effect === 'allow';
        const isConditional = Object.keys(statement.condition ?? {}).length > 0;
        place.rights.push({ isAllowed, may, what, isConditional, number: index + 1, held });
      }
  const rank = ({ repository }: Place) => (repository === '*' ? 0 : repository ? 1 : 2);
  return [...places.values()].sort(
    (one, other) => rank(one) - rank(other) || (one.title < other.title ? -1 : 1),
  );
}
