/** What is uncommitted in a directory: one listing of differences, not one request for each row. */

import { answer, api } from '../../api/client';
import { PAGE } from '../../api/objects';
import { useResource } from '../../api/resource';
import { useBranch } from '../../parts/branch';
import { isProtected, useRules } from '../../parts/protection';
import { useRepository } from '../../parts/repository';

const PAGES_MAX = 10;

/** Return the branch that the ref names, if it is one, and why nothing can be changed at the ref. */
export function useReadOnly(ref: string) {
  const repository = useRepository();
  const branch = useBranch(repository.id, ref).data;
  const hasRule = isProtected(useRules(repository.id).data, ref) && Boolean(branch);
  let readOnly: string | undefined;
  if (repository.read_only) readOnly = 'This repository is read-only';
  else if (hasRule) readOnly = `${ref} is protected: change a branch of it, and merge that`;
  else if (!branch) readOnly = 'Choose a branch to change objects';
  return { branch, isProtected: hasRule, readOnly };
}

interface Uncommitted {
  /** The kind of change of each changed name: `added`, `changed`, `removed`, `prefix_changed`. */
  kinds: ReadonlyMap<string, string>;
  count: number;
  /** Whether there are more changes than were asked for. */
  isCut: boolean;
}

export function useUncommitted(repository: string, branch: string | undefined, prefix: string) {
  return useResource<Uncommitted>(['uncommitted', repository, branch, prefix], async signal => {
    const kinds = new Map<string, string>();
    let after = '';
    let hasMore = branch !== undefined;
    for (let page = 0; hasMore && page < PAGES_MAX; page += 1) {
      const query = { prefix, delimiter: '/', after, amount: PAGE };
      const params = { path: { repository, branch: branch ?? '' }, query };
      const { results, pagination } = await answer(
        api.GET('/repositories/{repository}/branches/{branch}/diff', { params, signal }),
      );
      for (const { path, type } of results) kinds.set(path, type);
      after = pagination.next_offset;
      hasMore = pagination.has_more;
    }
    return { kinds, count: kinds.size, isCut: hasMore };
  });
}
