/** Two texts side by side, by line; one below the other on a narrow screen. Equal parts fold away. */

import { useMemo, useState } from 'preact/hooks';
import { useResource } from '../../api/resource';
import { Button } from '../button';
import { beginning, LIMITS } from '../limits';
import { Notice, Problem, Skeleton } from '../state';
import { timedWorker } from '../timed-worker';
import { countText } from '../words';
import styles from './text.module.css';
import {
  endsDiffer,
  type Fold,
  firstFolds,
  foldsOf,
  isSame,
  type Line,
  linesOf,
  pairsOf,
  type Run,
} from './text-lines';
import address from './text-worker?worker&url';

const SHOWN = 2000;

const ask = timedWorker<[string, string], Run[]>(address, LIMITS.compared_time_ms);

function isShort(text: string): boolean {
  return beginning(text, LIMITS.compared_lines, text.length).length === text.length;
}

interface TextDiffProps {
  /** Equal ones have equal texts. */
  id: string;
  before: string;
  after: string;
}

export function TextDiff({ id, before, after }: TextDiffProps) {
  const { data, failure, reload } = useResource(['text diff', id], async () =>
    isShort(before) && isShort(after) ? ask([before, after]) : null,
  );
  const folds = useMemo(
    () => data && foldsOf(pairsOf(linesOf(before, after, data))),
    [data, before, after],
  );
  const [most, setMost] = useState(SHOWN);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (folds === undefined) return <Skeleton />;
  if (!folds)
    return (
      <Notice>
        The texts are too long, or differ too much, to compare them line by line. Download both
        versions to compare them.
      </Notice>
    );
  const shown = firstFolds(folds, most);
  return (
    <section class={`table-box ${styles.text}`} aria-label="Changed lines">
      {shown.map((fold, index) => (
        <FoldView key={index} {...fold} />
      ))}
      {shown.length < folds.length && (
        <Button isSmall kind="ghost" icon="down" onClick={() => setMost(most + SHOWN)}>
          Show more changes
        </Button>
      )}
    </section>
  );
}

function FoldView({ isFolded, pairs }: Fold) {
  const [shown, setShown] = useState(isFolded ? 0 : SHOWN);
  const rest = pairs.length - shown;
  return (
    <>
      {pairs.slice(0, shown).map((pair, index) => (
        <div class={`${styles.pair} ${isSame(pair) ? styles.equal : ''}`} key={index}>
          <Half line={pair.left} number={pair.left?.left} hasEnd={endsDiffer(pair)} />
          <Half line={pair.right} number={pair.right?.right} hasEnd={endsDiffer(pair)} />
        </div>
      ))}
      {rest > 0 && (
        <div class={styles.fold}>
          <Button isSmall kind="ghost" icon="down" onClick={() => setShown(shown + SHOWN)}>
            {countText(rest, isFolded ? 'equal line' : 'more line')}
          </Button>
        </div>
      )}
    </>
  );
}

const SIGN = { same: ' ', added: '+', removed: '−' };

interface HalfProps {
  line: Line | undefined;
  number: number | undefined;
  /** Whether to say how the line ends. */
  hasEnd?: boolean;
}

function Half({ line, number, hasEnd }: HalfProps) {
  return (
    <div class={`${styles.half} ${styles[line?.kind ?? 'none'] ?? ''}`}>
      <span class={styles.number}>{number}</span>
      <span class={styles.sign}>
        <span aria-hidden="true">{line && SIGN[line.kind]}</span>
        {line && line.kind !== 'same' && <span class="visually-hidden">{line.kind}</span>}
      </span>
      <code>
        {line?.text}
        {hasEnd && line?.end && <i class="quiet"> {line.end}</i>}
      </code>
    </div>
  );
}
