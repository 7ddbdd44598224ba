/** Operands that are mistakes: SQLite takes a text as the number that it begins with, or else as 0. */

import { Failure } from '../../api/client';
import type { Step } from './program';
import { copiedBy, type Slot, setterOf } from './registers';
import { affinityOf, type Column } from './values';

type Use = 'number' | 'truth';

const CALCULATES = /^(Add|Subtract|Multiply|Divide|Remainder)$/;
/** Functions whose first argument is a number. */
const OF_NUMBERS = /^(sum|total|avg|median|stddev|abs|round)\(/;
/** Functions whose result is a day or a time. */
const OF_TIMES = /^(date|datetime|date_trunc)\(/;

function* operandsOf(program: readonly Step[]): Generator<[Slot, Use]> {
  for (const { address, code, p1, p2, p4 } of program) {
    const isNumber = CALCULATES.test(code);
    if (isNumber || /^(And|Or)$/.test(code))
      for (const register of [p1, p2]) yield [[address, register], isNumber ? 'number' : 'truth'];
    if (/^(If|IfNot|Not|IsTrue)$/.test(code)) yield [[address, p1], 'truth'];
    if (/^(AggStep|Function|PureFunc)$/.test(code) && OF_NUMBERS.test(String(p4)))
      yield [[address, p2], 'number'];
  }
}

/** Return the step that read or made the value of the register, through copies, sorters, tables of the program, `min` and `max`. */
function originOf(program: readonly Step[], [address, register]: Slot): Step | undefined {
  let slot: Slot | undefined = [address, register];
  for (let depth = 0; slot && depth < ORIGIN_STEPS; depth++) {
    const step = setterOf(program, slot);
    if (!step) return undefined;
    const source = sourceOf(program, step, slot[1]);
    if (!source) return step;
    slot = source;
  }
  return undefined;
}

const ORIGIN_STEPS = 20;

function sourceOf(program: readonly Step[], step: Step, register: number): Slot | undefined {
  const copied = copiedBy(step, register);
  if (copied !== undefined) return [step.address, copied];
  if (/^Agg(Final|Value)$/.test(step.code) && /^(min|max)\(1\)/.test(String(step.p4))) {
    const fed = program.findLast(({ code, p3 }) => code === 'AggStep' && p3 === step.p1);
    return fed && [fed.address, fed.p2];
  }
  return step.code === 'Column' ? writtenOf(program, step) : undefined;
}

/** Return where the column of a sorter, or of a table that the program fills, comes from. */
function writtenOf(program: readonly Step[], { p1, p2 }: Step): Slot | undefined {
  let cursor = p1;
  for (const step of program) {
    if (step.code === 'OpenDup' && step.p1 === cursor) cursor = step.p2;
    if (step.code === 'SorterData' && step.p3 === cursor) cursor = step.p1;
  }
  const isOfIt = (each: number) =>
    each === cursor ||
    program.some(({ code, p1, p2 }) => code === 'OpenDup' && p1 === each && p2 === cursor);
  const insert = program.find(
    ({ code, p1: into }) => /^(Sorter|Idx)?Insert$/.test(code) && isOfIt(into),
  );
  const record =
    insert &&
    program.findLast(
      ({ address, code, p3 }) =>
        code === 'MakeRecord' && address < insert.address && p3 === insert.p2,
    );
  return record && [record.address, record.p1 + p2];
}

/** Refuse texts where a number or a truth value is needed. `columnOf` finds a column by the first page of its table. */
export function checkOperands(
  program: readonly Step[],
  columnOf: (page: number, at: number) => Column | undefined,
): void {
  for (const [slot, use] of operandsOf(program)) {
    const origin = originOf(program, slot);
    if (origin?.code.endsWith('Func') || origin?.code === 'Function') {
      if (OF_TIMES.test(String(origin.p4))) throw new Failure(`A value is a time. ${TIME}`, -1);
      continue;
    }
    if (origin?.code !== 'Column') continue;
    const table = program.find(({ code, p1 }) => code === 'OpenRead' && p1 === origin.p1);
    const column = table && columnOf(table.p2, origin.p2);
    if (!column || affinityOf(column) !== 'TEXT') continue;
    throw new Failure(`${column.name} (${column.type}) ${adviceOn(column, use)}`, -1);
  }
}

const TIME =
  "SQLite has no numbers of times: a difference is julianday(later) - julianday(earlier), and another day is date(day, '+1 day').";

function adviceOn({ name, type }: Column, use: Use): string {
  if (/^(date|time)/.test(type)) return `is a time. ${TIME}`;
  return use === 'number'
    ? `is a text, and is used as a number. Write CAST(${name} AS REAL), in which a text that is no number is 0.`
    : `is a text, and is used as true or false. Compare it with its texts, as ${name} = 'true'.`;
}
