/** What is known of commits. A commit never changes, so it is asked for once and remembered. */

import { answer, api, type Schemas } from '../../api/client';
import { type Distance, distanceOf } from '../../parts/distance';

export type Commit = Schemas['CommitRow'];

const AT_ONCE = 8;

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

/** Count how far two commits are apart. */
export async function distanceOfCommits(
  repository: string,
  commit: string,
  from: string,
): Promise<Distance> {
  if (commit === from) return { base: commit, ahead: 0, behind: 0, isPart: false };
  return remember(`${repository} ${commit} ${from}`, () => distanceOf(repository, commit, from));
}
