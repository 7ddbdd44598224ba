/** Every address of the page, and the module that shows it, loaded when it is first needed. */

import type { ComponentType } from 'preact';
import { lazy } from 'preact-iso';
import { exec } from 'preact-iso/router';
import { decoded, links } from './links';

interface Page {
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the router gives each page its own parameters
  component: ComponentType<any> & { preload: () => Promise<unknown> };
}

export const pages: readonly Page[] = [
  { path: '/repositories', component: lazy(() => import('./pages/repositories/list')) },
  { path: '/auth/*', component: lazy(() => import('./pages/access/frame')) },
];

/** The pages of a repository; their paths follow `/repositories/<name>`. */
export const repositoryPages: readonly Page[] = [
  { path: '/', component: lazy(() => import('./pages/objects/browser')) },
  { path: '/objects', component: lazy(() => import('./pages/objects/browser')) },
  { path: '/object', component: lazy(() => import('./pages/objects/object')) },
  { path: '/history', component: lazy(() => import('./pages/objects/history')) },
  { path: '/changes', component: lazy(() => import('./pages/changes/changes')) },
  { path: '/commits', component: lazy(() => import('./pages/commits/log')) },
  { path: '/commits/:id', component: lazy(() => import('./pages/commits/commit')) },
  { path: '/branches', component: lazy(() => import('./pages/refs/branches')) },
  { path: '/tags', component: lazy(() => import('./pages/refs/tags')) },
  { path: '/sql', component: lazy(() => import('./pages/sql/page')) },
  { path: '/tables', component: lazy(() => import('./pages/tables/list')) },
  { path: '/table', component: lazy(() => import('./pages/tables/table')) },
  { path: '/compare', component: lazy(() => import('./pages/compare/compare')) },
  { path: '/pulls', component: lazy(() => import('./pages/pulls/list')) },
  { path: '/pulls/new', component: lazy(() => import('./pages/pulls/create')) },
  { path: '/pulls/:id', component: lazy(() => import('./pages/pulls/pull')) },
  { path: '/actions', component: lazy(() => import('./pages/actions/runs')) },
  { path: '/actions/:id', component: lazy(() => import('./pages/actions/run')) },
  { path: '/tasks', component: lazy(() => import('./pages/tasks/tasks')) },
  { path: '/settings/*', component: lazy(() => import('./pages/settings/frame')) },
  { path: '/settings', component: lazy(() => import('./pages/settings/frame')) },
];

const IN_REPOSITORY = /^\/repositories\/[^/]+(\/.*)?$/;

/** Begin to load the module of the page at the path, while the server is asked who is logged in. */
export function preload(path: string): void {
  if (path === links.logIn() || decoded(path) === undefined) return;
  const inside = IN_REPOSITORY.exec(path);
  const [all, rest] = inside ? [repositoryPages, inside[1] ?? '/'] : [pages, path];
  const page = all.find(each => exec(rest, each.path));
  page?.component.preload().catch(() => {}); // the page tells it when it is shown
}
