/** The rules that protect branches, and whether a branch has one. */

import { answer, api, Failure } from '../api/client';
import { useResource } from '../api/resource';
import { matchesGlob } from './glob';

/** Load the rules; a user who may not see them sees none, and the server decides. */
export function useRules(repository: string) {
  return useResource(['rules', repository], async signal => {
    const params = { path: { repository } };
    try {
      return await answer(
        api.GET('/repositories/{repository}/settings/branch_protection', { params, signal }),
      );
    } catch (error) {
      if (error instanceof Failure && [401, 403].includes(error.status)) return [];
      throw error;
    }
  });
}

export function isProtected(
  rules: readonly { pattern: string }[] | undefined,
  branch: string,
): boolean {
  return rules?.some(({ pattern }) => matchesGlob(pattern, branch)) ?? false;
}
