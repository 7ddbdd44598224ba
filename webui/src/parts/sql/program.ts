/**
 * What SQLite's program for a query reads: which columns, which rows, and whether it may stop early.
 *
 * EXPLAIN returns the program. SQLite has found the names and left out what it does not need, so no other parser has to.
 */

export interface Step {
  address: number;
  code: string;
  p1: number;
  p2: number;
  p3: number;
  p4: unknown;
  p5: number;
}

export type Sign = '<' | '<=' | '>' | '>=' | '=';

/** What the program asks of each row that it uses. */
export interface Bound {
  column: number;
  sign: Sign;
  value: number | bigint | string;
}

export interface Reading {
  columns: number[];
  bounds: Bound[];
}

/** The comparison that skips a row, and so what is true of the others. */
const KEPT: Record<string, Sign> = { Lt: '>=', Le: '>', Gt: '<=', Ge: '<', Ne: '=' };

/** Return what is read of the table whose rows begin at the page; nothing if it is not read. */
export function readingOf(program: readonly Step[], page: number): Reading | undefined {
  const cursors = program
    .filter(({ code, p2 }) => code === 'OpenRead' && p2 === page)
    .map(({ p1 }) => p1);
  if (!cursors.length) return undefined;
  const read = program.filter(({ code, p1 }) => code === 'Column' && cursors.includes(p1));
  const columns = [...new Set(read.map(({ p2 }) => p2))].sort((left, right) => left - right);
  const [cursor, ...more] = cursors;
  // A row that is left out would move the others.
  const isNumbered = program.some(({ code, p1 }) => code === 'Rowid' && p1 === cursor);
  const isOpen = cursor === undefined || more.length > 0 || isNumbered;
  return { columns, bounds: isOpen ? [] : boundsOf(program, cursor) };
}

// A comparison with a null skips the row as well.
const IF_NULL = 0x10;
// What values are converted to before they are compared: texts, or, if it is more, numbers.
export const AFFINITY = 0x47;
export const TEXT = 0x42;

/** Return the comparisons that each row meets first. A row that fails one of them has no other effect. */
function boundsOf(program: readonly Step[], cursor: number): Bound[] {
  const [begin, ...more] = program.filter(({ code, p1 }) => code === 'Rewind' && p1 === cursor);
  if (!begin || more.length) return [];
  const first = begin.address + 1;
  const next = program.find(({ code, p1, p2 }) => code === 'Next' && p1 === cursor && p2 === first);
  const constants = constantsOf(program);
  const bounds: Bound[] = [];
  let column: Step | undefined;
  for (const step of program.slice(first)) {
    const sign = KEPT[step.code];
    if (step.code === 'Column' && step.p1 === cursor) column = step;
    else if (sign && isSkip(step) && step.p2 === next?.address && step.p3 === column?.p3) {
      const value = constants.get(step.p1);
      const affinity = step.p5 & AFFINITY;
      const isConverted = typeof value === 'string' ? affinity > TEXT : affinity === TEXT;
      if (value !== undefined && !isConverted) bounds.push({ column: column.p2, sign, value });
    } else if (step.code !== 'RealAffinity') break;
  }
  return bounds;
}

function isSkip({ p4, p5 }: Step): boolean {
  return (p5 & IF_NULL) !== 0 && String(p4).startsWith('BINARY');
}

/** Return the values that the program sets before it begins, by their registers: those that it does not convert afterwards. */
export function constantsOf(program: readonly Step[]): Map<number, Bound['value']> {
  const begin = program.findIndex(({ code }) => code === 'Transaction');
  const constants = new Map<number, Bound['value']>();
  for (const step of program.slice(begin)) {
    if (step.code === 'Cast') constants.delete(step.p1);
    const value = constantOf(step);
    if (value !== undefined) constants.set(step.p2, value);
  }
  return constants;
}

/** Return the value that the step sets. */
export function constantOf({ code, p1, p3, p4 }: Step): Bound['value'] | undefined {
  if (code === 'Integer') return p1;
  if (code === 'String8') return String(p4);
  // 64 bits are shown as their lower and their upper half.
  const bits = new DataView(new ArrayBuffer(8));
  bits.setInt32(0, p3);
  bits.setInt32(4, p1);
  if (code === 'Int64') return bits.getBigInt64(0);
  return code === 'Real' ? bits.getFloat64(0) : undefined;
}

/** What a program has that uses its rows one by one, each without the others. */
const ONE_BY_ONE =
  /^(Init|Transaction|Goto|Halt|Explain|Once|Integer|Int64|Real|String8|Null|Blob|MustBeInt|OffsetLimit|IfPos|OpenRead|Rewind|Next|Column|Rowid|ResultRow|DecrJumpZero|Eq|Ne|Lt|Le|Gt|Ge|If|IfNot|IsNull|NotNull|IsTrue|And|Or|Not|Add|Subtract|Multiply|Divide|Remainder|Negative|BitAnd|BitOr|BitNot|Concat|Cast|Affinity|RealAffinity|Function|PureFunc|Copy|SCopy|Move|ZeroOrNull)$/;

/**
 * Return after how many rows of its result the program ends, if its result of the first rows of its only table is
 * the beginning of its whole result; nothing for other programs.
 */
export function endOf(program: readonly Step[]): number | undefined {
  const count = (name: string) => program.filter(({ code }) => code === name).length;
  const isOne = count('OpenRead') === 1 && count('Rewind') === 1 && count('Next') === 1;
  if (!isOne || count('ResultRow') !== 1 || !program.every(({ code }) => ONE_BY_ONE.test(code)))
    return undefined;
  const last = program.find(({ code }) => code === 'DecrJumpZero');
  if (!last) return Number.POSITIVE_INFINITY;
  const set = program.filter(({ code, p2 }) => code === 'Integer' && p2 === last.p1);
  const [limit, ...more] = set.map(({ p1 }) => p1);
  if (limit === undefined || more.length) return undefined;
  // A negative limit is none.
  return limit < 0 ? Number.POSITIVE_INFINITY : limit;
}

/** Return whether the program changes a table. */
export function isWriting(program: readonly Step[]): boolean {
  return program.some(({ code, p2 }) => code === 'Transaction' && p2 !== 0);
}

/** Return whether all that is asked for is how many rows there are. */
export function isCount(program: readonly Step[]): boolean {
  const codes = program.map(({ code }) => code).join(' ');
  return codes === 'Init OpenRead Count Close Copy ResultRow Halt Transaction Goto';
}
