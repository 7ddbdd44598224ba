/** Which branches are protected, by the repository's rules. */

import { answer, api } from '../../api/client';
import { useResource } from '../../api/resource';

/** Return the patterns of protected branches; none for tags, or while they are unknown. */
export function useProtection(repository: string, kind: 'branch' | 'tag'): readonly string[] {
  const { data } = useResource(['protection', repository, kind], async signal => {
    if (kind === 'tag') return [];
    const params = { path: { repository } };
    const rules = await answer(
      api.GET('/repositories/{repository}/settings/branch_protection', { params, signal }),
    );
    return rules.map(({ pattern }) => pattern);
  });
  return data ?? [];
}

/** Whether a pattern matches the name: `*` stands for any text, `?` for one character. */
export function isProtected(name: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => {
    const text = pattern
      .replace(/[.+^${}()|\\]/g, '\\$&')
      .replace(/\*/g, '.*')
      .replace(/\?/g, '.');
    try {
      return new RegExp(`^${text}$`).test(name);
    } catch {
      return false; // a set of characters that JavaScript reads in another way
    }
  });
}
