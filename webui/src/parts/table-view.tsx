/** A table of data, a hundred rows at a time, with their order and a filter. */

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Button } from './button';
import { cellText } from './cell-text';
import { factsOf } from './column-facts';
import { type Column, ColumnHead } from './column-head';
import { LIMITS } from './limits';
import { SearchBox } from './search-box';
import { useSettled } from './settled';
import { areNumbers, arrange, mistakeOf, type Read } from './table-model';
import { type Arranging, ROWS, useArranging } from './table-query';
import styles from './table-view.module.css';
import { countText, integerText } from './words';

export interface TableRow {
  /** The place of the row in its file, from 1. */
  number: number;
}

interface TableViewProps<Row extends TableRow> {
  label?: string;
  /** All columns; the first of them show. */
  columns: readonly Column[];
  arranging: Arranging;
  /** The rows that show; `undefined` while they are being loaded. */
  rows: readonly Row[] | undefined;
  /** How many rows there are, or pass the filter. */
  count: number;
  /** What is sorted and searched, unless that is all: `the 500 rows that are loaded`. */
  among?: string;
  cell: (row: Row, at: number) => ComponentChildren;
  /** Shown beside the number of the row. */
  mark?: (row: Row) => ComponentChildren;
  classOf?: (row: Row) => string | undefined;
  /** Shown in place of rows. */
  empty?: string;
  /** Shown beside the filter. */
  children?: ComponentChildren;
}

/** Shows the columns with their types, and pages through the rows. */
export function TableView<Row extends TableRow>(props: TableViewProps<Row>) {
  const { label = 'Rows', columns, arranging, rows, cell, mark, classOf, children } = props;
  const { sort, isDescending, filter = '' } = arranging.arrangement;
  const drawn = columns.slice(0, LIMITS.columns);
  return (
    <div class="stack tight">
      <div class="bar">
        <Filter text={filter} onText={arranging.filter} />
        {children}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus */}
      <section class={`table-box ${styles.box}`} tabIndex={0} aria-label={label} aria-busy={!rows}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col" class="number">
                <span class="visually-hidden">Row</span>
              </th>
              {drawn.map((column, at) => (
                <th
                  scope="col"
                  key={at}
                  class={classesOf(column)}
                  aria-sort={
                    sort === column.name ? (isDescending ? 'descending' : 'ascending') : undefined
                  }
                >
                  <ColumnHead column={column} arranging={arranging} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows?.map((row, index) => (
              <tr key={index} class={classOf?.(row)}>
                <th scope="row" class="number quiet">
                  {mark?.(row)}
                  {integerText(row.number)}
                </th>
                {drawn.map((column, at) => (
                  <td key={at} class={classesOf(column)}>
                    {cell(row, at)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Pager {...props} more={columns.length - drawn.length} />
    </div>
  );
}

function classesOf({ isNumber, look }: Column): string | undefined {
  return [isNumber && 'number', look].filter(Boolean).join(' ') || undefined;
}

function Filter({ text, onText }: { text: string; onText: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  const settled = useSettled(typed);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (settled === typed && settled !== text) onText(settled);
  }, [settled]);
  return (
    <SearchBox
      label="Show only rows that contain a text, or meet a condition such as amount > 20"
      placeholder="Filter: a text, or amount > 20"
      value={typed}
      onText={setTyped}
    />
  );
}

type PagerProps = Pick<
  TableViewProps<TableRow>,
  'arranging' | 'columns' | 'count' | 'among' | 'empty'
> & {
  rows: readonly unknown[] | undefined;
  /** How many columns do not show. */
  more: number;
};

function Pager({ arranging, columns, rows, count, among, empty = 'No rows', more }: PagerProps) {
  const { arrangement, goTo } = arranging;
  const start = Math.min(arranging.start, Math.max(0, count - 1));
  const end = Math.min(count, start + ROWS);
  const mistake = rows && !count && arrangement.filter && mistakeOf(columns, arrangement.filter);
  const parts = [
    count
      ? `Rows ${integerText(start + 1)} to ${integerText(end)} of ${integerText(count)}`
      : empty,
    arrangement.filter && (count ? ' that match' : ' that match the filter'),
    among && `, among ${among}`,
    more > 0 && `, and ${countText(more, 'more column')}`,
    !rows && ', loading…',
    mistake && `. ${mistake}`,
  ];
  return (
    <div class="bar small">
      <span class="quiet" role="status">
        {parts.filter(Boolean).join('')}
      </span>
      <span class="push bar">
        <Button isSmall icon="left" disabled={start === 0} onClick={() => goTo(start - ROWS)}>
          Previous
        </Button>
        <Button isSmall disabled={end >= count} onClick={() => goTo(start + ROWS)}>
          Next
        </Button>
      </span>
    </div>
  );
}

const SHOWN_CHARACTERS = 300;

export function Cell({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <i class="quiet">null</i>;
  const text = cellText(value);
  return text.length > SHOWN_CHARACTERS ? (
    <span title={text.slice(0, 4000)}>{text.slice(0, SHOWN_CHARACTERS)}…</span>
  ) : (
    <>{text}</>
  );
}

interface LoadedProps<Row> {
  names: readonly string[];
  rows: readonly Row[];
  read: Read<Row>;
  /** Whether the file has more rows than are loaded. */
  isCut: boolean;
}

/** A table whose rows are loaded. */
export function LoadedTable<Row>({ names, rows, read, isCut }: LoadedProps<Row>) {
  const arranging = useArranging();
  const { arrangement, start } = arranging;
  const loaded = isCut ? `the ${countText(rows.length, 'row')} that are loaded` : undefined;
  const columns = useMemo(
    () =>
      names.map((name, at): Column => {
        const values = () => rows.map(row => read(row, at));
        const isNumber = at < LIMITS.columns && areNumbers(values());
        const about = `Of ${loaded ?? countText(rows.length, 'row')}`;
        return { name, isNumber, facts: () => [factsOf(values(), about, { isNumber })] };
      }),
    [names, rows],
  );
  const places = useMemo(
    () => arrange(columns, rows, arrangement, read),
    [columns, arrangement.sort, arrangement.isDescending, arrangement.filter],
  );
  return (
    <TableView
      columns={columns}
      arranging={arranging}
      count={places.length}
      rows={places.slice(start, start + ROWS).map(place => ({ number: place + 1, place }))}
      cell={({ place }, at) => <Cell value={read(rows[place] as Row, at)} />}
      among={loaded}
    />
  );
}
