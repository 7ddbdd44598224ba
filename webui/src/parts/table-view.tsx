/** A table of data, a hundred rows at a time. */

import './table-view.css';
import { useState } from 'preact/hooks';
import { Button } from './button';
import { cellText } from './cell-text';
import { type Column, ColumnHead } from './column-head';
import { LIMITS } from './limits';
import { countText } from './words';

const ROWS = 100;

interface TableViewProps {
  /** All columns; the first of them show. */
  columns: readonly Column[];
  /** How many rows there are; without it, only those that are given. */
  count: number;
  /** Return the cells of the rows from `start` to `end`; `undefined` while they are being loaded. */
  rows: (start: number, end: number) => unknown[][] | undefined;
  /** Told when another page is shown. */
  onPage?: (start: number, end: number) => void;
  /** Whether there are more rows than `count` tells. */
  isCut?: boolean;
}

/** Shows the columns with their types, and pages through the rows. */
export function TableView({ columns, count, rows, onPage, isCut }: TableViewProps) {
  const [start, setStart] = useState(0);
  const end = Math.min(count, start + ROWS);
  const drawn = columns.slice(0, LIMITS.columns);
  const shown = rows(start, end);
  const go = (to: number) => {
    const from = Math.max(0, Math.min(to, count - 1));
    setStart(from);
    onPage?.(from, Math.min(count, from + ROWS));
  };
  return (
    <div class="stack tight">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus */}
      <section class="table-box data-table" tabIndex={0} aria-label="Rows" aria-busy={!shown}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col" class="number">
                <span class="visually-hidden">Row</span>
              </th>
              {drawn.map((column, index) => (
                <th scope="col" key={index}>
                  <ColumnHead column={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown?.map((cells, index) => (
              <tr key={start + index}>
                <th scope="row" class="number quiet">
                  {(start + index + 1).toLocaleString('en')}
                </th>
                {drawn.map((column, at) => (
                  <td key={at}>
                    <Cell value={cells[at]} isNumber={column.isNumber} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="bar small" role="status">
        <span class="quiet">
          {count
            ? `Rows ${(start + 1).toLocaleString('en')} to ${end.toLocaleString('en')} of ${count.toLocaleString('en')}${isCut ? ' loaded' : ''}`
            : 'No rows'}
          {columns.length > drawn.length &&
            `, and ${countText(columns.length - drawn.length, 'more column')}`}
          {!shown && ', loading…'}
        </span>
        <span class="push bar">
          <Button isSmall icon="left" disabled={start === 0} onClick={() => go(start - ROWS)}>
            Previous
          </Button>
          <Button isSmall disabled={end >= count} onClick={() => go(start + ROWS)}>
            Next
          </Button>
        </span>
      </div>
    </div>
  );
}

const SHOWN_CHARACTERS = 300;

function Cell({ value, isNumber }: { value: unknown; isNumber?: boolean }) {
  if (value === null || value === undefined) return <span class="null">null</span>;
  if (isNumber || typeof value === 'number' || typeof value === 'bigint')
    return <span class="number">{String(value)}</span>;
  const text = cellText(value);
  return text.length > SHOWN_CHARACTERS ? (
    <span title={text.slice(0, 4000)}>{text.slice(0, SHOWN_CHARACTERS)}…</span>
  ) : (
    <>{text}</>
  );
}
