/** How many commits two refs are apart, counted from their merge base. */

import { answer, api, Failure } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Problem } from '../../parts/state';
import { countText, shortId } from '../../parts/words';

const MOST = 1000;

/** Return whether the ref is a branch; false while nobody knows. */
export function useBranch(repository: string, ref: string): boolean {
  const { data } = useResource(['is branch', repository, ref], async signal => {
    try {
      const params = { path: { repository, branch: ref } };
      await answer(api.GET('/repositories/{repository}/branches/{branch}', { params, signal }));
      return true;
    } catch (error) {
      // A name that no branch can have gets 400.
      if (error instanceof Failure && (error.status === 404 || error.status === 400)) return false;
      throw error;
    }
  });
  return data ?? false;
}

interface Count {
  commits: number;
  isLeast: boolean;
}

/** Count the commits of a ref that another one lacks: its log up to a commit of that one's log. */
async function logOf(repository: string, ref: string, stop_at: string, signal: AbortSignal) {
  const params = { path: { repository, ref }, query: { amount: MOST, stop_at } };
  const { results, pagination } = await answer(
    api.GET('/repositories/{repository}/refs/{ref}/commits', { params, signal }),
  );
  return { ids: new Set(results.map(({ id }) => id)), hasMore: pagination.has_more };
}

type Logged = Awaited<ReturnType<typeof logOf>>;

function countOf(own: Logged, other: Logged): Count {
  const commits = [...own.ids].filter(id => !other.ids.has(id)).length;
  return { commits, isLeast: own.hasMore };
}

interface ApartProps {
  repository: string;
  destination: string;
  source: string;
}

export function Apart({ repository, destination, source }: ApartProps) {
  const { data, failure, reload } = useResource(
    ['apart', repository, destination, source],
    async signal => {
      const params = { path: { repository, sourceRef: source, destinationBranch: destination } };
      const { base_commit_id: base } = await answer(
        api.GET('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
          params,
          signal,
        }),
      );
      const [theirs, ours] = await Promise.all([
        logOf(repository, source, base, signal),
        logOf(repository, destination, base, signal),
      ]);
      return { base, ahead: countOf(theirs, ours), behind: countOf(ours, theirs) };
    },
  );
  // The diff below tells of a ref that does not exist.
  if (failure?.status === 404) return null;
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <p class="small quiet">Counting commits…</p>;
  const text = ({ commits, isLeast }: Count) =>
    `${isLeast ? 'at least ' : ''}${countText(commits, 'commit')}`;
  return (
    <p class="small quiet">
      <strong>{shortId(source)}</strong> is {text(data.ahead)} ahead of{' '}
      <strong>{shortId(destination)}</strong>, and {text(data.behind)} behind. They parted at{' '}
      <a class="mono" href={links.commit(repository, data.base)}>
        {data.base.slice(0, 8)}
      </a>
      .
    </p>
  );
}
