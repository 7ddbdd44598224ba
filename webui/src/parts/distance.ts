/** How two refs relate: their commits, their merge base, and how far they are apart. */

import { apiRead, type Read } from '../api/cache';
import type { Schemas } from '../api/client';

/** Return the read of how many commits only the one ref has, and how many only the other. */
export function readDistance(
  repository: string,
  ref: string,
  from: string,
): Read<Schemas['MergeBase']> {
  return apiRead('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
    path: { repository, sourceRef: ref, destinationBranch: from },
    query: { ahead_behind: true },
  });
}
