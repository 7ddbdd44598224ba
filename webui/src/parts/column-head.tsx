/** The head of a column: its name and type, and a button that tells what its values have in common. */

import { useRef, useState } from 'preact/hooks';
import { cellText } from './cell-text';
import type { ColumnFacts } from './column-facts';
import { useOutside } from './menu';
import { Popover } from './popover';

export interface Column {
  name: string;
  /** What the column holds: `int64`. */
  type?: string;
  /** Whether the texts of its cells are numbers. */
  isNumber?: boolean;
  /** Return what its values have in common; asked when the user looks. */
  facts?: () => ColumnFacts;
}

export function ColumnHead({ column: { name, type, facts } }: { column: Column }) {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  useOutside(anchor, isOpen, () => setOpen(false));
  if (!facts)
    return (
      <>
        {name}
        {type && <div class="quiet type">{type}</div>}
      </>
    );
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
        class="column-head"
        aria-expanded={isOpen}
        title={`Facts of column ${name}`}
        onClick={() => setOpen(!isOpen)}
      >
        {name || '(no name)'}
        {type && <span class="quiet type">{type}</span>}
      </button>
      {isOpen && (
        <Popover
          anchor={anchor}
          class="column-facts"
          edge="left"
          role="dialog"
          label={`Column ${name}`}
        >
          <Facts facts={facts()} />
        </Popover>
      )}
    </div>
  );
}

function Facts({
  facts: { type, about, nulls, min, max, distinct, histogram },
}: {
  facts: ColumnFacts;
}) {
  const lines: [string, unknown][] = [
    ['Type', type],
    ['Nulls', nulls?.toLocaleString('en')],
    ['Least', min],
    ['Greatest', max],
    ['Distinct', distinct?.toLocaleString('en')],
  ];
  const highest = Math.max(1, ...(histogram ?? []));
  return (
    <>
      <dl class="facts">
        {lines
          .filter(([, value]) => value !== undefined)
          .map(([word, value]) => (
            <>
              <dt key={word}>{word}</dt>
              <dd>{cellText(value).slice(0, 80)}</dd>
            </>
          ))}
      </dl>
      {histogram && histogram.length > 0 && (
        <div class="histogram" aria-hidden="true">
          {histogram.map((count, at) => (
            <div key={at} style={{ height: `${(100 * count) / highest}%` }} />
          ))}
        </div>
      )}
      <p class="small quiet">{about}</p>
    </>
  );
}
