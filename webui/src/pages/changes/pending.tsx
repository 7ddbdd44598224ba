/** Counts what a commit, or an undo, will take: all that is uncommitted now, whoever wrote it. */

import { useResource } from '../../api/resource';
import { CountBadges } from '../../parts/diff/counts';
import { countRows, uncommittedSource } from '../../parts/diff/source';
import { Problem } from '../../parts/state';
import { countText } from '../../parts/words';

interface PendingProps {
  repository: string;
  branch: string;
  /** Only below this prefix. */
  prefix?: string;
}

export function Pending({ repository, branch, prefix = '' }: PendingProps) {
  const { data, failure, reload } = useResource(['pending', repository, branch, prefix], signal =>
    uncommittedSource(repository, branch).load({ prefix, after: '' }, signal),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  const { results = [], pagination } = data ?? {};
  return (
    <p class="bar" role="status">
      {data ? (
        <>
          <span>
            {pagination?.has_more && 'More than '}
            {countText(results.length, 'changed object')} on <b>{branch}</b> now, by all users
          </span>
          <CountBadges counts={countRows(results)} />
        </>
      ) : (
        <span class="quiet">Counting the changes…</span>
      )}
    </p>
  );
}
