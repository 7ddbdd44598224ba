/** What is known of commits. A commit never changes, so it is asked for once and remembered. */

import { answer, api, type Schemas } from '../../api/client';

export type Commit = Schemas['CommitRow'];

const AT_ONCE = 8;
const COUNTED = 1000;

const remembered = new Map<string, Promise<unknown>>();

/** Return what `load` returned for the key before; a failure is forgotten. */
function remember<Data>(key: string, load: () => Promise<Data>): Promise<Data> {
  const known = remembered.get(key) as Promise<Data> | undefined;
  if (known) return known;
  const loading = load();
  remembered.set(key, loading);
  loading.catch(() => remembered.delete(key));
  return loading;
}

export function commitOf(repository: string, commitId: string): Promise<Commit> {
  const params = { path: { repository, commitId } };
  return remember(`${repository} ${commitId}`, () =>
    answer(api.GET('/repositories/{repository}/commits/{commitId}', { params })),
  );
}

/** Return the commits' times by their IDs, a few requests at once. */
export async function timesOf(repository: string, ids: string[]): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  const waiting = [...new Set(ids)];
  const work = async () => {
    for (let id = waiting.pop(); id; id = waiting.pop())
      times.set(id, (await commitOf(repository, id)).creation_date);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return times;
}

export interface Distance {
  ahead: number;
  behind: number;
  /** Whether there are more commits than were counted. */
  isPart: boolean;
}

/** Count the commits that one has and the other lacks, at most a thousand of each. */
export function distanceOf(repository: string, commit: string, from: string): Promise<Distance> {
  return remember(`${repository} ${commit} ${from}`, async () => {
    if (commit === from) return { ahead: 0, behind: 0, isPart: false };
    const path = { repository, sourceRef: commit, destinationBranch: from };
    const { base_commit_id: base } = await answer(
      api.GET('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
        params: { path },
      }),
    );
    const [ours, theirs] = await Promise.all([
      idsSince(repository, commit, base),
      idsSince(repository, from, base),
    ]);
    return {
      ahead: [...ours.ids].filter(id => id !== base && !theirs.ids.has(id)).length,
      behind: [...theirs.ids].filter(id => id !== base && !ours.ids.has(id)).length,
      isPart: ours.hasMore || theirs.hasMore,
    };
  });
}

async function idsSince(repository: string, ref: string, base: string) {
  const params = { path: { repository, ref }, query: { amount: COUNTED, stop_at: base } };
  const { results, pagination } = await answer(
    api.GET('/repositories/{repository}/refs/{ref}/commits', { params }),
  );
  return { ids: new Set(results.map(({ id }) => id)), hasMore: pagination.has_more };
}
