/** One directory at a ref: what is in it, what is uncommitted, whether it can be changed. */

import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { apiRead } from '../../api/cache';
import { type ObjectStats, PAGE } from '../../api/objects';
import { type Pages, usePages } from '../../api/resource';
import { links } from '../../links';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { useSettled } from '../../parts/settled';
import { foldersFirst } from './order';
import { useReadOnly, useUncommitted } from './uncommitted';

export interface Directory {
  repository: string;
  ref: string;
  /** Empty, or with a slash at its end. */
  path: string;
  /** What is typed of the names, and what those of the listing begin with. */
  typed: string;
  filter: string;
  pages: Pages<ObjectStats>;
  changes: ReturnType<typeof useUncommitted>;
  /** Why nothing can be changed here; `undefined` on a branch that can be written. */
  readOnly: string | undefined;
  isProtected: boolean;
  reload: () => void;
  /** Show another ref or filter of it. */
  goTo: (to: { ref?: string; filter?: string }, isReplacing?: boolean) => void;
}

/** Return the directory that the address names. */
export function useDirectory(): Directory {
  const { id: repository } = useRepository();
  const { query, route } = useLocation();
  const ref = useCurrentRef();
  const { path = '', filter: typed = '' } = query;
  const filter = useSettled(typed);
  const { branch, ...state } = useReadOnly(ref);
  const changes = useUncommitted(repository, branch ? ref : undefined, path);
  const listed = usePages<ObjectStats>(after =>
    apiRead('/repositories/{repository}/refs/{ref}/objects/ls', {
      path: { repository, ref },
      query: { prefix: path + filter, delimiter: '/', after, amount: PAGE },
    }),
  );
  const items = useMemo(
    () => foldersFirst(listed.items, listed.hasMore),
    [listed.items, listed.hasMore],
  );
  const pages = { ...listed, items };
  return {
    ...{ repository, ref, path, typed, filter, pages, changes, ...state },
    reload: () => {
      pages.reload();
      changes.reload();
    },
    goTo: (to, isReplacing = false) => {
      const href = links.objects(repository, to.ref ?? ref, path);
      const rest = to.filter ? `&${new URLSearchParams({ filter: to.filter })}` : '';
      route(href + rest, isReplacing);
    },
  };
}
