/** The branch that a ref names, if it is one. */

import { answer, api, Failure } from '../api/client';
import { useResource } from '../api/resource';

/** Return the branch of this name; `null` if the ref is none, so nothing can be changed there. */
export function useBranch(repository: string, ref: string) {
  return useResource(['branch', repository, ref], async signal => {
    const params = { path: { repository, branch: ref } };
    try {
      return await answer(
        api.GET('/repositories/{repository}/branches/{branch}', { params, signal }),
      );
    } catch (error) {
      if (error instanceof Failure && [400, 404].includes(error.status)) return null;
      throw error;
    }
  });
}
