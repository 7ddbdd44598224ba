/** How many uncommitted changes a branch has, in a tab: `3`, `100+`; nothing for none, or no branch. */

import { useEffect, useRef } from 'preact/hooks';
import { apiRead, changes } from '../api/cache';
import { useResource } from '../api/resource';
import { useBranch } from './branch';
import { useSettled } from './settled';

const COUNTED = 100;

interface CountProps {
  repository: string;
  branch: string;
}

export function UncommittedCount({ repository, branch }: CountProps) {
  return useBranch(repository, branch).data ? <Count {...{ repository, branch }} /> : null;
}

function Count({ repository, branch }: CountProps) {
  const { data, reload } = useResource(
    apiRead('/repositories/{repository}/branches/{branch}/diff', {
      path: { repository, branch },
      query: { amount: COUNTED },
    }),
  );
  // An upload of many files is many changes: count when they pause.
  const version = useSettled(String(changes.value));
  const counted = useRef(version);
  useEffect(() => {
    if (version !== counted.current) reload();
    counted.current = version;
  }, [version]);
  if (!data?.results.length) return null;
  return (
    <span class="badge amber">
      {data.results.length}
      {data.pagination.has_more && '+'}
    </span>
  );
}
