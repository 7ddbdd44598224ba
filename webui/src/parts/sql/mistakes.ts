/** What is wrong with a query, and where. */

import { Failure } from '../../api/client';
import { withoutTexts } from './names';

/** Characters of the query. */
export interface Span {
  start: number;
  end: number;
}

export interface Mistake {
  message: string;
  at?: Span;
}

/** What other databases have, and SQLite writes in another way. */
const DIALECT: [RegExp, string][] = [
  [/\bilike\b/i, "ILIKE is lower(name) LIKE 'a%' here."],
  [/::/, 'A cast is CAST(value AS INTEGER) here.'],
  [/\bextract\s*\(/i, "EXTRACT is strftime('%Y', time) here."],
  [/\binterval\b/i, "A time moves by datetime(time, '+1 day') here, or date(day, '-1 month')."],
  [/\bqualify\b/i, 'QUALIFY is WHERE around a subquery here.'],
  [/\bgroup\s+by\s+all\b/i, 'GROUP BY names its columns here.'],
];

const CAST_TYPE =
  /\bas\s+(date|time|timestamp|datetime|bool(?:ean)?)\b[^(),]*(?:\(\d*\)[^(),]*)?\)/gi;

/** Refuse casts to types that SQLite has not: it takes them for numbers, so a day becomes its year. */
export function checkCasts(query: string): void {
  const code = withoutTexts(query);
  for (const { index, 0: found, 1: type = '' } of code.matchAll(CAST_TYPE)) {
    let start = index;
    for (let depth = 1; start > 0 && depth > 0; ) {
      start -= 1;
      if (code[start] === ')') depth += 1;
      else if (code[start] === '(') depth -= 1;
    }
    if (!/\bcast\s*$/i.test(code.slice(0, start))) continue;
    const advice = /^bool/i.test(type)
      ? "A truth value is 1 or 0 here: compare the text, as flag = 'true'."
      : 'A day is date(time) here, and a time datetime(time).';
    const at = { start: index, end: index + found.length - 1 };
    throw new Failure(`There is no type ${type}. ${advice}`, -1, at);
  }
}

/**
 * Return what SQLite says of the query, and the word that it is about. `told` returns what SQLite says of the beginning of the
 * query: at the word that is wrong, it says so for the first time.
 */
export function mistakeOf(
  said: string,
  query: string,
  told: (beginning: string) => string | undefined,
): Mistake {
  const near = /^near "(.*)": syntax error$|^unrecognized token: "(.*)"$/s.exec(said);
  const named =
    /^(?:no such (?:column|function|table)|ambiguous column name|wrong number of arguments to function|misuse of (?:aggregate|window function|aliased aggregate)):? "?([^"]*?)"?(?:\(\))?$/.exec(
      said,
    );
  const word = near?.[1] ?? near?.[2] ?? named?.[1];
  // A name is not in a text or a comment.
  const spans = word ? spansOf(near ? query : withoutTexts(query), word) : [];
  const at = near ? spans.find(({ end }) => told(query.slice(0, end)) === said) : spans[0];
  if (said === 'incomplete input')
    return { message: 'The query ends too early.', at: { start: query.length, end: query.length } };
  const hint = near && DIALECT.find(([pattern]) => pattern.test(query))?.[1];
  return { message: `${sentence(said)}${hint ? ` ${hint}` : ''}`, at };
}

/** Return where the word is in the query: as a whole, if it is one. */
function spansOf(query: string, word: string): Span[] {
  const whole = /^[\w.]+$/.test(word) ? `(?<![\\w.])${escaped(word)}(?![\\w])` : escaped(word);
  return [...query.matchAll(new RegExp(whole, 'gi'))].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }));
}

/** Return the text as a pattern of itself. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const WORDS: [RegExp, string][] = [
  [/^near "(.*)": syntax error$/s, 'The query is not understood at $1.'],
  [/^unrecognized token: "(.*)"$/s, 'The query is not understood at $1.'],
  [/^no such column: (.*)$/, 'There is no column $1. A text has single quotes.'],
  [
    /^object name reserved for internal use: (.*)$/,
    "SQLite keeps names that begin with sqlite_ for itself: write 'lakefs://repository/ref/$1'.",
  ],
  [/^no such function: (.*)$/, 'There is no function $1.'],
  [/^ambiguous column name: (.*)$/, '$1 is a column of several tables: write the table before it.'],
];

function sentence(said: string): string {
  const [pattern, words] = WORDS.find(([each]) => each.test(said)) ?? [];
  if (pattern && words) return said.replace(pattern, words);
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** Return the line of the query with signs below the characters. */
export function pointed(query: string, { start, end }: Span): { line: number; text: string } {
  const from = query.lastIndexOf('\n', start - 1) + 1;
  const [shown = ''] = query.slice(from).split('\n');
  const count = Math.max(1, Math.min(end, from + shown.length) - start);
  const line = query.slice(0, from).split('\n').length;
  return { line, text: `${shown}\n${' '.repeat(start - from)}${'^'.repeat(count)}` };
}
