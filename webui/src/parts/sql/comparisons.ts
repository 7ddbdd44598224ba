/** Comparisons that are mistakes: for SQLite a text never equals a number, nor a day the midnight that it begins with. */

import { Failure } from '../../api/client';
import { AFFINITY, type Bound, constantOf, constantsOf, type Step, TEXT } from './program';
import { type Slot, setterOf } from './registers';
import { type Column, isWide } from './values';

interface Comparison {
  side: Slot;
  other: Slot;
  /** What SQLite converts both sides to. */
  affinity: number;
  asks: Asks;
}

/** What is asked of a side: to equal the other, to be at its beginning or later (or not), or at its end. */
type Asks = 'equality' | 'begin' | 'end';

/** What each step asks of the register `p3`, and of the register `p1`. */
const ASKS: Record<string, [Asks, Asks]> = {
  Eq: ['equality', 'equality'],
  Ne: ['equality', 'equality'],
  Lt: ['begin', 'end'],
  Ge: ['begin', 'end'],
  Gt: ['end', 'begin'],
  Le: ['end', 'begin'],
};

function* comparisonsOf(program: readonly Step[]): Generator<Comparison> {
  for (const { code, address, p1, p3, p5 } of program) {
    const left: Slot = [address, p3];
    const right: Slot = [address, p1];
    const affinity = p5 & AFFINITY;
    const asks = ASKS[code];
    if (asks) {
      yield { side: left, other: right, affinity, asks: asks[0] };
      yield { side: right, other: left, affinity, asks: asks[1] };
    }
    // The values of a longer IN are in a table of its own.
    if (/Found$/.test(code))
      for (const insert of program.filter(step => step.code === 'IdxInsert' && step.p1 === p1)) {
        const affinity = String(program[insert.address - 1]?.p4).charCodeAt(0) & AFFINITY;
        yield { side: left, other: [insert.address, insert.p3], affinity, asks: 'equality' };
      }
  }
}

/** Steps that always set a text, and those that always set a number, with the functions that they call. */
const TEXTS =
  /^Concat|^\w+ (strftime|(date)?time|date|date_trunc|substr(ing)?|lower|upper|[lr]?trim|replace|printf|format)\(/;
const NUMBERS =
  /^(Add|Subtract|Multiply|Divide|Remainder) |^\w+ (count|sum|total|avg|median|stddev|abs|length|round|instr|julianday|unixepoch)\(/;

/** Refuse comparisons with values that a column never has. `columnOf` finds a column by the first page of its table. */
export function checkComparisons(
  program: readonly Step[],
  columnOf: (page: number, at: number) => Column | undefined,
): void {
  const constants = constantsOf(program);
  const actOf = (step: Step | undefined) => `${step?.code} ${step?.p4}`;
  for (const { side, other, affinity, asks } of comparisonsOf(program)) {
    const setter = setterOf(program, other);
    const constant = constants.get(other[1]) ?? (setter && constantOf(setter));
    const value = constant ?? (NUMBERS.test(actOf(setter)) ? Number.NaN : undefined);
    if (value === undefined) continue;
    const read = setterOf(program, side);
    const table = program.find(({ code, p1 }) => code === 'OpenRead' && p1 === read?.p1);
    const column = read?.code === 'Column' && table ? columnOf(table.p2, read.p2) : undefined;
    const isText = affinity === TEXT || TEXTS.test(actOf(read));
    // A column converts the texts of numbers, and a result does not.
    const isNumber = affinity > TEXT ? !NUMBER.test(String(value)) : NUMBERS.test(actOf(read));
    const advice =
      (typeof value === 'string'
        ? isNumber && NUMBER_ADVICE
        : isText && textAdvice(column?.name ?? 'value')) ||
      (column && adviceOn(column, value, asks));
    if (!advice) continue;
    const shown =
      typeof value === 'string' ? `'${value}'` : Number.isNaN(value) ? 'a number' : value;
    const name = column ? `${column.name} (${column.type})` : 'A value';
    throw new Failure(`${name} ${advice[0]}, and is compared with ${shown}. ${advice[1]}`, -1);
  }
}

const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;

/** What the compared value is, and what to write. */
type Advice = [is: string, write: string];

const NUMBER_ADVICE: Advice = [
  'is a number',
  'Write a number without quotes, IS NULL for a missing one, and 1 or 0 for a boolean.',
];
const textAdvice = (name: string): Advice => [
  'is a text',
  `Write what the text says in quotes, or CAST(${name} AS REAL), for which other texts are 0.`,
];

const FORMS: Record<string, string> = {
  date: '2026-01-31',
  time: '12:34:56',
  timestamp: '2026-01-31 12:34:56',
};

/** Return what to write in place of a time of another form, or of a number of another length. */
function adviceOn(column: Column, value: Bound['value'], asks: Asks): Advice | undefined {
  const isText = typeof value === 'string';
  const kind = column.type.replace(/\[.*/, '');
  const form = FORMS[kind];
  // The beginning of a time is before all that begin with it.
  if (isText && form && !hasForm(asks === 'begin' ? value + form.slice(value.length) : value, form))
    return [
      `has the form '${form}'`,
      kind === 'timestamp'
        ? `A whole day is ${column.name} >= '2026-01-31' AND ${column.name} < '2026-02-01'.`
        : 'Write the same form.',
    ];
  if (isWide(column) && (isText !== isLong(column, value) || (isText && asks !== 'equality')))
    return [
      'is a number, or a text if it is too long for SQLite',
      'Write a long number in quotes with all its digits, and others without.',
    ];
  return undefined;
}

function hasForm(value: string, form: string): boolean {
  const fraction = form.includes(':') ? '(\\.\\d*[1-9])?' : '';
  return new RegExp(`^${form.replace(/\d/g, '\\d')}${fraction}$`).test(value);
}

/** Return whether the column has the number as a text; one that is a text already has to have all digits. */
function isLong({ type, holds }: Column, value: Bound['value']): boolean {
  const scale = Number(/,(\d+)\)/.exec(type)?.[1] ?? 0);
  const all = new RegExp(`^-?\\d+${scale ? `\\.\\d{${scale}}` : ''}$`);
  const least = holds === 'decimals' ? 10 ** (15 - scale) : 2 ** 63;
  return Math.abs(Number(value)) >= least && (typeof value !== 'string' || all.test(value));
}
