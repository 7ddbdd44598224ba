/** The retention policy as the server has it. */

import { answer, api, Failure } from '../../api/client';
import { type Rules, rulesText } from './rules';

const RULES = '/repositories/{repository}/settings/gc_rules';

/** Return the rules in force; null if the repository has none. */
export async function loadRules(repository: string, signal?: AbortSignal): Promise<Rules | null> {
  try {
    const params = { path: { repository } };
    return await answer(api.GET(RULES, { params, signal: signal ?? null }));
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return null;
    throw error;
  }
}

/** Put the rules in force; return whether the ones before were still those that their user saw. */
export async function replaceRules(
  repository: string,
  seen: Rules | null,
  rules: Rules,
): Promise<boolean> {
  const current = await loadRules(repository);
  if (textOf(current) !== textOf(seen)) return false;
  await answer(api.PUT(RULES, { params: { path: { repository } }, body: rules }));
  return true;
}

export async function deleteRules(repository: string): Promise<void> {
  await answer(api.DELETE(RULES, { params: { path: { repository } } }));
}

function textOf(rules: Rules | null): string {
  return rules ? rulesText(rules) : '';
}
