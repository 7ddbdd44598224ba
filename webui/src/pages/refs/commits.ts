/** What is known of commits. A commit never changes, so each is asked for once. */

import { answerOf, apiRead, type Read } from '../../api/cache';
import type { Schemas } from '../../api/client';
import { type Distance, distanceOf } from '../../parts/distance';

export type Commit = Schemas['CommitRow'];

const AT_ONCE = 8;

export function readCommit(repository: string, commitId: string): Read<Commit> {
  return apiRead('/repositories/{repository}/commits/{commitId}', {
    path: { repository, commitId },
  });
}

/** Return the commits' times by their IDs, a few requests at once. */
export async function timesOf(
  repository: string,
  ids: string[],
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  const waiting = [...new Set(ids)];
  const work = async () => {
    for (let id = waiting.pop(); id; id = waiting.pop())
      times.set(id, (await answerOf(readCommit(repository, id), signal)).creation_date);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return times;
}

/** Return the read of how far two commits are apart. */
export function readDistance(repository: string, commit: string, from: string): Read<Distance> {
  return {
    name: JSON.stringify(['distance', repository, commit, from]),
    load: async signal =>
      commit === from
        ? { base: commit, ahead: 0, behind: 0, isPart: false }
        : distanceOf(repository, commit, from, signal),
    isLasting: true,
  };
}
