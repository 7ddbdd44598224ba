/** The branch that a ref names, if it is one. */

import { apiRead } from '../api/cache';
import type { Schemas } from '../api/client';
import { type Resource, useResource } from '../api/resource';

/** Return the branch of this name; `null` if the ref is none, so nothing can be changed there. */
export function useBranch(repository: string, ref: string): Resource<Schemas['Ref'] | null> {
  const path = { repository, branch: ref };
  const found = useResource<Schemas['Ref'] | null>(
    apiRead('/repositories/{repository}/branches/{branch}', { path }),
  );
  return [400, 404].includes(found.failure?.status ?? 0)
    ? { ...found, data: null, failure: undefined }
    : found;
}
