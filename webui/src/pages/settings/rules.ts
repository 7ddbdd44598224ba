/** Retention rules: read from text, told in words, compared. */

import type { Schemas } from '../../api/client';
import { countText, integerText } from '../../parts/words';

export type Rules = Schemas['Rules'];

export const EXAMPLE: Rules = {
  default_retention_days: 14,
  branches: [{ branch_id: 'main', retention_days: 21 }],
};

// The server stores them as 32-bit integers.
const DAYS_MAX = 2 ** 31 - 1;
const DAY_S = 86400;
// Later moments are no dates of JavaScript.
const DATE_DAYS_MAX = 3_000_000;

export function rulesText(rules: Rules): string {
  return JSON.stringify(rules, null, 2);
}

/** Return the rules that the text holds, or what is wrong with it. */
export function readRules(text: string): { rules: Rules } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}` };
  }
  const problem = problemOfRules(value);
  return problem ? { problem } : { rules: value as Rules };
}

/** Return what a form can show of the text: it may still have wrong names and numbers. */
export function draftOf(text: string): Rules | undefined {
  try {
    const value = JSON.parse(text);
    const isDraft = isObject(value) && Array.isArray(value.branches);
    return isDraft && (value.branches as unknown[]).every(isObject)
      ? (value as unknown as Rules)
      : undefined;
  } catch {
    return undefined;
  }
}

function problemOfRules(value: unknown): string | undefined {
  if (!isObject(value)) return 'Write an object with default_retention_days and branches.';
  const unknown = unknownField(value, ['default_retention_days', 'branches']);
  if (unknown) return unknown;
  const problem = problemOfDays(value.default_retention_days, 'default_retention_days');
  if (problem) return problem;
  if (!Array.isArray(value.branches)) return 'branches must be a list; [] if there are none.';
  const names = new Set<unknown>();
  for (const [index, rule] of value.branches.entries()) {
    const found = problemOfBranch(rule, `branches[${index}]`, names);
    if (found) return found;
  }
  return undefined;
}

function problemOfBranch(rule: unknown, place: string, names: Set<unknown>): string | undefined {
  if (!isObject(rule)) return `${place} must be an object with branch_id and retention_days.`;
  const unknown = unknownField(rule, ['branch_id', 'retention_days']);
  if (unknown) return unknown;
  if (typeof rule.branch_id !== 'string' || !rule.branch_id)
    return `${place} needs a branch_id: the name of a branch.`;
  if (names.has(rule.branch_id)) return `Branch ${rule.branch_id} has two rules: keep one.`;
  names.add(rule.branch_id);
  return problemOfDays(rule.retention_days, `retention_days of branch ${rule.branch_id}`);
}

export function isDays(days: unknown): boolean {
  return Number.isInteger(days) && (days as number) >= 0 && (days as number) <= DAYS_MAX;
}

function problemOfDays(days: unknown, name: string): string | undefined {
  return isDays(days) ? undefined : `${name} must be a whole number of days, 0 or more.`;
}

function unknownField(value: Record<string, unknown>, known: string[]): string | undefined {
  const unknown = Object.keys(value).find(name => !known.includes(name));
  return unknown && `There is no field ${unknown}. The fields are ${known.join(' and ')}.`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface Span {
  /** Empty for the branches without a rule of their own. */
  branch: string;
  days: number;
}

/** Return what each branch keeps: named branches first, then all others. */
export function spansOf(rules: Rules): Span[] {
  const named = rules.branches.map(({ branch_id: branch, retention_days: days }) => ({
    branch,
    days,
  }));
  return [...named, { branch: '', days: rules.default_retention_days }];
}

/** Return until when what is deleted now stays; nothing if that is beyond all calendars. */
export function endOf(days: number, now_s: number): number | undefined {
  return days > DATE_DAYS_MAX ? undefined : now_s + days * DAY_S;
}

/** Return whether the server keeps these as no rules at all. */
export function isNone({ default_retention_days, branches }: Rules): boolean {
  return default_retention_days === 0 && branches.length === 0;
}

export interface Change {
  text: string;
  /** Data may become unreadable sooner than before. */
  isShorter: boolean;
}

/** Return, in words, what saving the new rules changes. No rules keep everything. */
export function changesOf(before: Rules | undefined, after: Rules): Change[] {
  if (!before)
    return spansOf(after).map(({ branch, days }) => ({
      text: `${branch || 'All other branches'}: forever → ${countText(days, 'day')}`,
      isShorter: true,
    }));
  const names = new Set([...spansOf(before), ...spansOf(after)].map(({ branch }) => branch));
  return [...names].flatMap(name => {
    const [old, now] = [daysOf(before, name), daysOf(after, name)];
    if (old === now) return [];
    const text = `${name || 'All other branches'}: ${integerText(old)} → ${countText(now, 'day')}`;
    return [{ text, isShorter: now < old }];
  });
}

function daysOf(rules: Rules, name: string): number {
  const own = rules.branches.find(({ branch_id }) => branch_id === name);
  return own?.retention_days ?? rules.default_retention_days;
}
