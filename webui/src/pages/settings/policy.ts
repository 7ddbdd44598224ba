/** The retention policy as the server has it; null is none. */

import { answer, api } from '../../api/client';
import { readSetting, type Versioned } from '../../parts/seen';
import type { Rules } from './rules';

const RULES = '/repositories/{repository}/settings/gc_rules';

export type Policy = Versioned<Rules | null>;

export function loadPolicy(repository: string, signal: AbortSignal): Promise<Policy> {
  const params = { path: { repository } };
  return readSetting<Rules | null>(api.GET(RULES, { params, signal }), null);
}

/** Put the rules in force, null for none, if the policy is still the one that was read. */
export async function replacePolicy(
  repository: string,
  { version }: Policy,
  rules: Rules | null,
): Promise<void> {
  const params = { path: { repository }, header: { 'If-Match': version } };
  if (rules) await answer(api.PUT(RULES, { params, body: rules }));
  else await answer(api.DELETE(RULES, { params }));
}
