/** The frame of a repository's pages: it is loaded once, and its tabs lead everywhere. */

import { Route, Router, useLocation, useRoute } from 'preact-iso';
import { apiRead } from '../api/cache';
import { useResource } from '../api/resource';
import { links } from '../links';
import { LinkButton } from '../parts/button';
import type { IconName } from '../parts/icon';
import { Nav } from '../parts/nav';
import { Current } from '../parts/repository';
import { Empty, Notice, Problem, Skeleton } from '../parts/state';
import { UncommittedCount } from '../parts/uncommitted-count';
import { repositoryPages } from '../routes';
import { NotFound } from './not-found';
import { RepositoryKeys } from './repository-keys';

interface Tab {
  room: string;
  text: string;
  icon: IconName;
  /** The key that leads there after `g`. */
  key: string;
  /** Where it is; a ref that is looked at now is looked at there as well. */
  href: (repository: string, ref?: string) => string;
}

export const TABS: readonly Tab[] = [
  { room: 'object', key: 'o', text: 'Objects', icon: 'folder', href: links.objects },
  { room: 'changes', key: 'u', text: 'Uncommitted', icon: 'changes', href: links.changes },
  { room: 'commits', key: 'c', text: 'Commits', icon: 'commit', href: links.commits },
  { room: 'branches', key: 'b', text: 'Branches', icon: 'branch', href: links.branches },
  { room: 'tags', key: 't', text: 'Tags', icon: 'tag', href: links.tags },
  { room: 'compare', key: 'd', text: 'Compare', icon: 'compare', href: links.compare },
  { room: 'table', key: 'i', text: 'Tables', icon: 'layers', href: links.tables },
  { room: 'sql', key: 'q', text: 'SQL', icon: 'table', href: links.sql },
  { room: 'pulls', key: 'p', text: 'Pull requests', icon: 'pull', href: links.pulls },
  { room: 'actions', key: 'a', text: 'Actions', icon: 'action', href: links.actions },
  { room: 'tasks', key: 'k', text: 'Tasks', icon: 'task', href: links.tasks },
  {
    room: 'settings',
    key: 's',
    text: 'Settings',
    icon: 'settings',
    href: name => links.settings(name),
  },
];

// The pages that change what is uncommitted; others need not ask for it.
const COUNTING = /^(objects?|changes)$/;

export function RepositoryFrame() {
  const { repository: name = '' } = useRoute().params as { repository?: string };
  const { path, query } = useLocation();
  const { data, failure, reload } = useResource(
    apiRead('/repositories/{repository}', { path: { repository: name } }),
  );
  const room = path.split('/')[3] ?? '';
  return (
    <>
      <Nav
        label="Repository"
        look="tabs repository-tabs"
        links={TABS.map(({ text, icon, href, ...tab }) => ({
          text,
          icon,
          href: href(name, query.ref),
          count: tab.room === 'changes' && data && COUNTING.test(room) && (
            <UncommittedCount
              key={path}
              repository={name}
              branch={query.ref || data.default_branch}
            />
          ),
          isHere: room.startsWith(tab.room) || (tab.room === 'object' && room === 'history'),
        }))}
      />
      <main id="main" tabIndex={-1}>
        {failure?.status === 404 ? (
          <Empty
            icon="repository"
            title={`There is no repository ${name}`}
            actions={<LinkButton href={links.repositories()}>All repositories</LinkButton>}
          >
            It may have been deleted, or the name is different.
          </Empty>
        ) : (
          <Problem failure={failure} retry={reload} />
        )}
        {!data && !failure && <Skeleton />}
        {data && (
          <Current.Provider value={data}>
            {data.read_only && (
              <Notice kind="warning">
                This repository is read-only: its objects and refs cannot be changed.
              </Notice>
            )}
            <RepositoryKeys />
            <Router>
              {repositoryPages.map(page => (
                <Route key={page.path} path={page.path} component={page.component} />
              ))}
              <Route default component={NotFound} />
            </Router>
          </Current.Provider>
        )}
      </main>
    </>
  );
}
