/** Two texts side by side, by line; one below the other on a narrow screen. Equal parts fold away. */

import { diffLines } from 'diff';
import { useMemo, useState } from 'preact/hooks';
import { Button } from '../button';
import { beginning, LIMITS } from '../limits';
import { Notice } from '../state';
import { countText } from '../words';

interface Line {
  kind: 'same' | 'added' | 'removed';
  text: string;
  left?: number;
  right?: number;
}

interface Pair {
  left?: Line;
  right?: Line;
}

const TIMEOUT_MS = 3000;
/** Lines that are shown around a change. */
const AROUND = 3;
const SHOWN = 2000;

function isShort(text: string): boolean {
  return beginning(text, LIMITS.compared_lines, text.length).length === text.length;
}

/** Return the lines of both texts; nothing if it would take too long to find them. */
function linesOf(before: string, after: string): Line[] | undefined {
  if (!isShort(before) || !isShort(after)) return undefined;
  const parts = diffLines(before, after, { timeout: TIMEOUT_MS });
  if (!parts) return undefined;
  const lines: Line[] = [];
  let left = 1;
  let right = 1;
  for (const part of parts) {
    const texts = part.value.split('\n');
    if (texts.at(-1) === '') texts.pop();
    for (const text of texts) {
      if (part.added) lines.push({ kind: 'added', text, right: right++ });
      else if (part.removed) lines.push({ kind: 'removed', text, left: left++ });
      else lines.push({ kind: 'same', text, left: left++, right: right++ });
    }
  }
  return lines;
}

/** Put removed lines beside the added ones that follow them. */
function pairsOf(lines: readonly Line[]): Pair[] {
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

interface FoldProps {
  isFolded: boolean;
  pairs: Pair[];
}

const isSame = (pair: Pair) => pair.left?.kind === 'same';

/** Return runs of pairs: those near a change to show, the others to fold. */
function foldsOf(pairs: readonly Pair[]): FoldProps[] {
  const isNear = new Uint8Array(pairs.length);
  pairs.forEach((pair, index) => {
    if (!isSame(pair)) isNear.fill(1, Math.max(0, index - AROUND), index + AROUND + 1);
  });
  const folds: FoldProps[] = [];
  pairs.forEach((pair, index) => {
    const isFolded = !isNear[index];
    const last = folds.at(-1);
    if (last?.isFolded === isFolded) last.pairs.push(pair);
    else folds.push({ isFolded, pairs: [pair] });
  });
  return folds;
}

export function TextDiff({ before, after }: { before: string; after: string }) {
  const folds = useMemo(() => {
    const lines = linesOf(before, after);
    return lines && foldsOf(pairsOf(lines));
  }, [before, after]);
  const [most, setMost] = useState(SHOWN);
  if (!folds)
    return (
      <Notice>
        The texts are too long, or differ too much, to compare them line by line. Download both
        versions to compare them.
      </Notice>
    );
  const shown = foldsOfLines(folds, most);
  return (
    <section class="table-box text-diff" aria-label="Changed lines">
      {shown.map((fold, index) => (
        <Fold key={index} {...fold} />
      ))}
      {shown.length < folds.length && (
        <Button isSmall kind="ghost" icon="down" onClick={() => setMost(most + SHOWN)}>
          Show more changes
        </Button>
      )}
    </section>
  );
}

/** Return the first folds, until they show so many lines. */
function foldsOfLines(folds: readonly FoldProps[], most: number): readonly FoldProps[] {
  let lines = 0;
  const end = folds.findIndex(({ isFolded, pairs }) => {
    lines += isFolded ? 1 : pairs.length;
    return lines > most;
  });
  return end < 0 ? folds : folds.slice(0, end + 1);
}

function Fold({ isFolded, pairs }: FoldProps) {
  const [shown, setShown] = useState(isFolded ? 0 : SHOWN);
  const rest = pairs.length - shown;
  return (
    <>
      {pairs.slice(0, shown).map((pair, index) => (
        <div class={`text-pair${isSame(pair) ? ' same' : ''}`} key={index}>
          <Half line={pair.left} number={pair.left?.left} />
          <Half line={pair.right} number={pair.right?.right} />
        </div>
      ))}
      {rest > 0 && (
        <div class="text-fold">
          <Button isSmall kind="ghost" icon="down" onClick={() => setShown(shown + SHOWN)}>
            {countText(rest, isFolded ? 'equal line' : 'more line')}
          </Button>
        </div>
      )}
    </>
  );
}

const SIGN = { same: ' ', added: '+', removed: '−' };

function Half({ line, number }: { line: Line | undefined; number: number | undefined }) {
  return (
    <div class={`text-half ${line?.kind ?? 'none'}`}>
      <span class="text-number">{number}</span>
      <span class="text-sign">
        <span aria-hidden="true">{line && SIGN[line.kind]}</span>
        {line && line.kind !== 'same' && <span class="visually-hidden">{line.kind}</span>}
      </span>
      <code>{line?.text}</code>
    </div>
  );
}
