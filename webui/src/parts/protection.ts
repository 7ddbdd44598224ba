/** The rules that protect branches, and whether a branch has one. */

import { apiRead } from '../api/cache';
import { useResource } from '../api/resource';
import { matchesGlob } from './glob';

/** Load the rules; a user who may not see them sees none, and the server decides. */
export function useRules(repository: string) {
  const path = { repository };
  const rules = useResource(
    apiRead('/repositories/{repository}/settings/branch_protection', { path }),
  );
  return [401, 403].includes(rules.failure?.status ?? 0)
    ? { ...rules, data: [], failure: undefined }
    : rules;
}

export function isProtected(
  rules: readonly { pattern: string }[] | undefined,
  branch: string,
): boolean {
  return rules?.some(({ pattern }) => matchesGlob(pattern, branch)) ?? false;
}
