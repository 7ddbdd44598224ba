/** Registers of SQLite's programs, and the steps that set them. */

import type { Step } from './program';

/** A register, as it is at a step of the program. */
export type Slot = [address: number, register: number];

const SETS_P1 = /^(AggFinal|Cast)$/;
const SETS_P2 =
  /^(Integer|Int64|Real|String8|Blob|Null|Not|BitNot|Rowid|NewRowid|Sequence|Count|IsTrue|ZeroOrNull)$/;
const SETS_P3 =
  /^(Column|AggValue|Concat|And|Or|Bit.*|Function|PureFunc|Add|Subtract|Multiply|Divide|Remainder|MakeRecord)$/;

/** Return the register that the step copies to this one. */
export function copiedBy({ code, p1, p2, p3 }: Step, register: number): number | undefined {
  const more = { Copy: p3, SCopy: 0, Move: p3 - 1 }[code];
  const isCopied = more !== undefined && register >= p2 && register <= p2 + more;
  return isCopied ? p1 + register - p2 : undefined;
}

function isSetBy(step: Step, register: number): boolean {
  const { code, p1, p2, p3 } = step;
  return (
    (SETS_P1.test(code) && p1 === register) ||
    (SETS_P2.test(code) && p2 === register) ||
    (SETS_P3.test(code) && p3 === register) ||
    copiedBy(step, register) !== undefined
  );
}

/** Return the last step before that sets the register. */
export function setterOf(program: readonly Step[], [address, register]: Slot): Step | undefined {
  return program.findLast(step => step.address < address && isSetBy(step, register));
}
