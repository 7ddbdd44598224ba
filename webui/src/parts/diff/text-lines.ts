/** Two texts side by side, by line: equal lines far from a change fold away. */

type LineKind = 'same' | 'added' | 'removed';

/** So many lines of one kind in a row. */
export interface Run {
  kind: LineKind;
  count: number;
}

export interface Line {
  kind: LineKind;
  text: string;
  /** How the line ends, if not by a line feed alone. */
  end?: string;
  left?: number;
  right?: number;
}

export interface Pair {
  left?: Line;
  right?: Line;
}

export interface Fold {
  isFolded: boolean;
  pairs: Pair[];
}

/** Lines that are shown around a change. */
const AROUND = 3;

function linesIn(text: string): Pick<Line, 'text' | 'end'>[] {
  const lines = text.split('\n');
  const last = lines.pop();
  const ended = lines.map(line =>
    line.endsWith('\r') ? { text: line.slice(0, -1), end: 'CRLF' } : { text: line },
  );
  return last ? [...ended, { text: last, end: 'no line break' }] : ended;
}

/** Return the lines of the texts that differ in these runs. */
export function linesOf(before: string, after: string, runs: readonly Run[]): Line[] {
  const [old, texts] = [linesIn(before), linesIn(after)];
  let [left, right] = [0, 0];
  return runs.flatMap(({ kind, count }) =>
    Array.from({ length: count }, (): Line => {
      const line = { kind, text: '', ...(kind === 'removed' ? old[left] : texts[right]) };
      if (kind === 'removed') return { ...line, left: ++left };
      if (kind === 'added') return { ...line, right: ++right };
      return { ...line, left: ++left, right: ++right };
    }),
  );
}

/** Put removed lines beside the added ones that follow them. */
export function pairsOf(lines: readonly Line[]): Pair[] {
  const pairs: Pair[] = [];
  let free = 0;
  for (const line of lines) {
    const beside = line.kind === 'added' ? pairs[free] : undefined;
    if (line.kind === 'same') pairs.push({ left: line, right: line });
    else if (line.kind === 'removed') pairs.push({ left: line });
    else if (beside) beside.right = line;
    else pairs.push({ right: line });
    if (line.kind === 'same') free = pairs.length;
    else if (line.kind === 'added') free += 1;
  }
  return pairs;
}

export const isSame = (pair: Pair) => pair.left?.kind === 'same';

/** Return whether two lines beside each other differ in their ends, which do not show. */
export const endsDiffer = ({ left, right }: Pair) => left && right && left.end !== right.end;

/** Return runs of pairs: those near a change to show, the others to fold. */
export function foldsOf(pairs: readonly Pair[]): Fold[] {
  const isNear = new Uint8Array(pairs.length);
  pairs.forEach((pair, index) => {
    if (!isSame(pair)) isNear.fill(1, Math.max(0, index - AROUND), index + AROUND + 1);
  });
  const folds: Fold[] = [];
  pairs.forEach((pair, index) => {
    const isFolded = !isNear[index];
    const last = folds.at(-1);
    if (last?.isFolded === isFolded) last.pairs.push(pair);
    else folds.push({ isFolded, pairs: [pair] });
  });
  return folds;
}

/** Return the first folds, until they show so many lines. */
export function firstFolds(folds: readonly Fold[], most: number): readonly Fold[] {
  let lines = 0;
  const end = folds.findIndex(({ isFolded, pairs }) => {
    lines += isFolded ? 1 : pairs.length;
    return lines > most;
  });
  return end < 0 ? folds : folds.slice(0, end + 1);
}
