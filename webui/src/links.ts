/** The page's addresses. They are lakeFS's, so bookmarks of its page keep working. */

type Query = Record<string, string | undefined>;

function address(path: string, query: Query = {}): string {
  const present = Object.entries(query).filter(([, value]) => value) as [string, string][];
  return present.length ? `${path}?${new URLSearchParams(present)}` : path;
}

function inRepository(repository: string, rest: string, query?: Query): string {
  return address(`/repositories/${encodeURIComponent(repository)}/${rest}`, query);
}

const segment = encodeURIComponent;

export const links = {
  repositories: () => '/repositories',
  setup: () => '/setup',
  logIn: (next?: string) => address('/auth/login', { next }),
  /** The objects under a path, which is empty or ends in a slash. */
  objects: (repository: string, ref?: string, path?: string) =>
    inRepository(repository, 'objects', { ref, path }),
  object: (repository: string, ref: string, path: string) =>
    inRepository(repository, 'object', { ref, path }),
  /** Who changed the object, by commit. */
  history: (repository: string, ref: string, path: string) =>
    inRepository(repository, 'history', { ref, path }),
  /** A query of the objects at the ref. */
  sql: (repository: string, ref?: string, query?: string) =>
    inRepository(repository, 'sql', { ref, query }),
  /** The Iceberg tables at the ref. */
  tables: (repository: string, ref?: string) => inRepository(repository, 'tables', { ref }),
  table: (repository: string, ref: string, name: string) =>
    inRepository(repository, 'table', { ref, name }),
  changes: (repository: string, ref?: string) => inRepository(repository, 'changes', { ref }),
  commits: (repository: string, ref?: string) => inRepository(repository, 'commits', { ref }),
  commit: (repository: string, id: string) => inRepository(repository, `commits/${segment(id)}`),
  branches: (repository: string) => inRepository(repository, 'branches'),
  tags: (repository: string) => inRepository(repository, 'tags'),
  /** What `compare` has that `ref` has not; lakeFS's names of the two. */
  compare: (repository: string, ref?: string, compare?: string) =>
    inRepository(repository, 'compare', { ref, compare }),
  pulls: (repository: string) => inRepository(repository, 'pulls'),
  newPull: (repository: string, source?: string, destination?: string) =>
    inRepository(repository, 'pulls/new', { source, destination }),
  pull: (repository: string, id: string) => inRepository(repository, `pulls/${segment(id)}`),
  /** One changed object of a pull request, with its comments. */
  pullChange: (repository: string, id: string, object: string) =>
    inRepository(repository, `pulls/${segment(id)}`, { tab: 'changes', object }),
  actions: (repository: string) => inRepository(repository, 'actions'),
  run: (repository: string, id: string) => inRepository(repository, `actions/${segment(id)}`),
  tasks: (repository: string) => inRepository(repository, 'tasks'),
  settings: (repository: string, room = 'general') => inRepository(repository, `settings/${room}`),
  credentials: () => '/auth/credentials',
  users: () => '/auth/users',
  user: (id: string) => `/auth/users/${segment(id)}`,
  groups: () => '/auth/groups',
  group: (id: string) => `/auth/groups/${segment(id)}`,
  policies: () => '/auth/policies',
  policy: (id: string) => `/auth/policies/${segment(id)}`,
  access: () => '/auth/access',
  audit: () => '/auth/audit',
};

/** Return the name of the repository whose page the path is; empty for other pages. */
export function repositoryOf(path: string): string {
  const [, room, name = ''] = path.split('/');
  return room === 'repositories' ? (decoded(name) ?? '') : '';
}

/** Return the path without escapes; nothing if it has a lone per cent sign. */
export function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** Return where to go after the log-in: a path of this page, never another site. */
export function safeNext(next: string | undefined): string {
  // The browser's own reading decides: it takes `/\` for `//`, and leaves out tabs.
  const here = 'https://this.invalid';
  if (!next?.startsWith('/') || !URL.canParse(next, here)) return links.repositories();
  const { origin, pathname, search, hash } = new URL(next, here);
  return origin === here && pathname !== links.logIn()
    ? pathname + search + hash
    : links.repositories();
}
