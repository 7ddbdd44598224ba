/** How many commits two refs are apart, counted from their merge base. */

import { answer, api } from '../api/client';

/** The most commits that the server returns at once. */
const COUNTED = 1000;

export interface Distance {
  /** The merge base. */
  base: string;
  ahead: number;
  behind: number;
  /** Whether there are more commits than were counted. */
  isPart: boolean;
}

/** Count the commits that one ref has and the other lacks, at most a thousand of each. */
export async function distanceOf(
  repository: string,
  ref: string,
  from: string,
  signal?: AbortSignal,
): Promise<Distance> {
  const params = { path: { repository, sourceRef: ref, destinationBranch: from } };
  const { base_commit_id: base } = await answer(
    api.GET('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
      params,
      signal,
    }),
  );
  const [ours, theirs] = await Promise.all([
    idsSince(repository, ref, base, signal),
    idsSince(repository, from, base, signal),
  ]);
  return {
    base,
    ahead: [...ours.ids].filter(id => !theirs.ids.has(id)).length,
    behind: [...theirs.ids].filter(id => !ours.ids.has(id)).length,
    isPart: ours.hasMore || theirs.hasMore,
  };
}

/** Return the commits of a ref; without its base only if that is among them. */
async function idsSince(repository: string, ref: string, base: string, signal?: AbortSignal) {
  const params = { path: { repository, ref }, query: { amount: COUNTED, stop_at: base } };
  const { results, pagination } = await answer(
    api.GET('/repositories/{repository}/refs/{ref}/commits', { params, signal }),
  );
  const ids = new Set(results.map(({ id }) => id));
  ids.delete(base);
  return { ids, hasMore: pagination.has_more };
}
