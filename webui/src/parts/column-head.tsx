/** The head of a column: its name and type, and a button that tells what its values have in common, and sorts. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button';
import type { ColumnFacts } from './column-facts';
import styles from './column-head.module.css';
import { Icon } from './icon';
import { useOutside } from './menu';
import { Popover } from './popover';
import type { TableColumn } from './table-model';
import type { Arranging } from './table-query';
import { integerText } from './words';

/** What the values have in common, of each version if there are several. */
type Facts = readonly ColumnFacts[];

export interface Column extends TableColumn {
  /** Shown below the name in place of the type. */
  note?: string;
  look?: string;
  /** Asked when the user looks. */
  facts: () => Facts | Promise<Facts>;
}

interface HeadProps {
  column: Column;
  arranging: Arranging;
}

export function ColumnHead({ column, arranging }: HeadProps) {
  const { name, type, note = type, facts } = column;
  const { sort, isDescending } = arranging.arrangement;
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  useOutside(anchor, isOpen, () => setOpen(false));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what the button opened
    <div
      ref={anchor}
      onKeyDown={event => {
        if (event.key === 'Escape') setOpen(false);
      }}
    >
      <button
        type="button"
        class={styles.head}
        aria-expanded={isOpen}
        title={`Facts of column ${name}`}
        onClick={() => setOpen(!isOpen)}
      >
        {name || '(no name)'}
        {sort === name && <Icon name={isDescending ? 'down' : 'up'} />}
        {note && <span class={`quiet ${styles.type}`}>{note}</span>}
      </button>
      {isOpen && (
        <Popover
          anchor={anchor}
          class={styles.facts}
          edge="left"
          role="dialog"
          label={`Column ${name}`}
        >
          <Sorting name={name} arranging={arranging} />
          <FactList facts={facts} />
        </Popover>
      )}
    </div>
  );
}

/** A second press leaves the rows in the order of the file. */
function Sorting({
  name,
  arranging: { arrangement, sort },
}: {
  name: string;
  arranging: Arranging;
}) {
  const isSorted = arrangement.sort === name;
  const wayOf = (isDescending: boolean) => {
    const isPressed = isSorted && arrangement.isDescending === isDescending;
    return {
      isSmall: true,
      'aria-pressed': isPressed,
      onClick: () => sort(isPressed ? undefined : name, isDescending),
    };
  };
  return (
    <fieldset class="segments" aria-label="Sort">
      <Button icon="up" {...wayOf(false)}>
        Ascending
      </Button>
      <Button icon="down" {...wayOf(true)}>
        Descending
      </Button>
    </fieldset>
  );
}

function FactList({ facts }: { facts: Column['facts'] }) {
  const [all, setAll] = useState<Facts>([]);
  useEffect(() => {
    Promise.resolve(facts())
      .then(setAll)
      .catch(() => {}); // the table is readable without them
  }, []);
  const lines: [string, (facts: ColumnFacts) => string | undefined][] = [
    ['Type', ({ type }) => type],
    ['Nulls', ({ nulls }) => (nulls === undefined ? nulls : integerText(nulls))],
    ['Min', ({ min }) => min],
    ['Max', ({ max }) => max],
    ['Distinct', ({ distinct }) => (distinct === undefined ? distinct : integerText(distinct))],
  ];
  const histogram = all.at(-1)?.histogram ?? [];
  const highest = Math.max(1, ...histogram);
  return (
    <>
      <dl class="facts">
        {lines.map(([word, textOf]) => {
          const texts = all.flatMap(each => textOf(each)?.slice(0, 80) ?? []);
          return (
            texts.length > 0 && (
              <>
                <dt key={word}>{word}</dt>
                <dd>{[...new Set(texts)].join(' → ')}</dd>
              </>
            )
          );
        })}
      </dl>
      {histogram.length > 0 && (
        <div class={styles.histogram} aria-hidden="true">
          {histogram.map((count, at) => (
            <div key={at} style={{ height: `${(100 * count) / highest}%` }} />
          ))}
        </div>
      )}
      <p class="small quiet">{[...new Set(all.map(({ about }) => about))].join(', ')}</p>
    </>
  );
}
