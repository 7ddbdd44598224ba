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

interface Rule {
  pattern: string;
  /** The server leaves out none. */
  required_approvals?: number;
}

/** Return how many approvals a pull request into the branch needs; the greatest number counts. */
export function requiredApprovals(rules: readonly Rule[] | undefined, branch: string): number {
  const matching = rules?.filter(({ pattern }) => matchesGlob(pattern, branch)) ?? [];
  return Math.max(0, ...matching.map(({ required_approvals = 0 }) => required_approvals));
}

export function isProtected(
  rules: readonly { pattern: string }[] | undefined,
  branch: string,
): boolean {
  return rules?.some(({ pattern }) => matchesGlob(pattern, branch)) ?? false;
}
