/** What narrows the audit, as the address holds it and as the server is asked. */

import type { Schemas } from '../../api/client';
import { decoded } from '../../links';

export type AuditRecord = Schemas['AuditRow'];

export const OUTCOMES = {
  succeeded: 'Succeeded',
  failed: 'Failed or refused',
  unknown: 'Unknown',
} as const;

type Outcome = keyof typeof OUTCOMES;
type Query = Record<string, string | undefined>;

const DAY_MS = 86_400_000;

/** Return the moment that so many days follow the beginning of the day; nothing if it is no day. */
function dayText(day: string | undefined, days: number): string | undefined {
  const start_ms = Date.parse(`${day}T00:00:00`);
  if (!Number.isFinite(start_ms)) return undefined;
  // The server counts whole seconds, and its end is part of the time.
  return new Date(start_ms + days * DAY_MS - (days ? 1000 : 0)).toISOString();
}

/** Return the server's parameters for the address's query; days are those of the browser's time zone. */
export function auditQuery({ user, operation, outcome, since, until }: Query) {
  return {
    user: user || undefined,
    operation: operation || undefined,
    outcome: outcome && outcome in OUTCOMES ? (outcome as Outcome) : undefined,
    since: dayText(since, 0),
    until: dayText(until, 1),
  };
}

/** Return what was tried, from the operation's name: `attachPolicyToUser` is `Attach policy to user`. */
export function operationText(operation: string): string {
  const words = operation
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');
  const [first = '', ...rest] = words
    .split(' ')
    .map(word => (/^[A-Z]{2}/.test(word) ? word : word.toLowerCase()));
  return [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(' ');
}

/** Return the names of what was changed: of the resources, and of what was attached to them. */
export function thingsOf({ resources, path }: AuditRecord): string {
  const names = resources.map(each => each.split(':').slice(5).join(':') || each);
  const added = /\/(?:policies|members|credentials)\/([^/]+)$/.exec(path)?.[1];
  const name = added && (decoded(added) ?? added);
  return [...names, ...(name && !names.some(each => each.endsWith(`/${name}`)) ? [name] : [])].join(
    ', ',
  );
}

/** Return what came of the request, in words. */
export function outcomeOf({ operation, status_code: status }: AuditRecord): string {
  if (!status) return 'Outcome unknown';
  if (status < 400) return 'Succeeded';
  if (operation === 'login' || operation === 'externalPrincipalLogin') return 'Failed log-in';
  return status === 401 || status === 403 ? 'Refused' : 'Failed';
}
