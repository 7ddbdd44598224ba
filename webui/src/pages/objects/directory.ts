/** One directory at a ref: what is in it, what is uncommitted, whether it can be changed. */

import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client';
import { type ObjectStats, PAGE } from '../../api/objects';
import { type Pages, usePages } from '../../api/resource';
import { links } from '../../links';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { useReadOnly, useUncommitted } from './uncommitted';

export interface Directory {
  repository: string;
  ref: string;
  /** Empty, or with a slash at its end. */
  path: string;
  /** What the names of the listing begin with. */
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
  const { path = '', filter = '' } = query;
  const { branch, ...state } = useReadOnly(ref);
  const changes = useUncommitted(repository, branch ? ref : undefined, path);
  const pages = usePages<ObjectStats>([repository, ref, path, filter], (after, signal) =>
    answer(
      api.GET('/repositories/{repository}/refs/{ref}/objects/ls', {
        params: {
          path: { repository, ref },
          query: { prefix: path + filter, delimiter: '/', after, amount: PAGE },
        },
        signal,
      }),
    ),
  );
  return {
    ...{ repository, ref, path, filter, pages, changes, ...state },
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
