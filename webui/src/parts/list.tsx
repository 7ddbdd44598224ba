/** Lists that load page by page; the long ones draw only the rows in view. */

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { Pages } from '../api/resource';
import { Button } from './button';
import { ROW_PX } from './row';
import { Problem, Skeleton } from './state';
import { integerText } from './words';

interface ListProps<Item> {
  pages: Pages<Item>;
  /** The name of the list, read aloud. */
  label: string;
  row: (item: Item, index: number) => ComponentChildren;
  keyOf: (item: Item) => string;
  /** Shown instead of an empty list. */
  empty: ComponentChildren;
}

/** A list of some hundred items; a button at its end loads more. */
export function PagedList<Item>({ pages, label, row, keyOf, empty }: ListProps<Item>) {
  const { items, failure, isLoading, hasMore, more, reload } = pages;
  if (!items.length) {
    if (failure) return <Problem failure={failure} retry={reload} />;
    return isLoading ? <Skeleton /> : <>{empty}</>;
  }
  return (
    <div class="rows">
      <ul aria-label={label}>
        {items.map((item, index) => (
          <li class="row" key={keyOf(item)}>
            {row(item, index)}
          </li>
        ))}
      </ul>
      {(hasMore || failure) && (
        <div class="rows-foot">
          {failure ? (
            <Problem failure={failure} retry={more} />
          ) : (
            <Button isSmall isBusy={isLoading} onClick={more}>
              Load more
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

// The next page is asked for when so few rows are left below the view.
const ROWS_AHEAD = 200;

interface RowsProps<Item> extends Pick<ListProps<Item>, 'label' | 'row' | 'keyOf'> {
  items: readonly Item[];
  /** Whether further items follow, so that their number is not known yet. */
  isOpen?: boolean;
  /** The names of the columns; they stay above the rows that scroll. */
  head?: ComponentChildren;
  /** Told which of the items is the last one in view. */
  onLast?: (index: number) => void;
}

/** Rows of one height in a box that scrolls; only those in view exist. */
export function VirtualRows<Item>({
  items,
  label,
  row,
  keyOf,
  isOpen,
  head,
  onLast,
}: RowsProps<Item>) {
  const box = useRef<HTMLElement>(null);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const options = {
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(0),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLLIElement>(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useEffect(() => {
    virtualizer._willUpdate();
  });
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => onLast?.(last), [last]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus
    <section class="virtual" ref={box} tabIndex={0} aria-label={label}>
      {head && <div class="row-heads small quiet">{head}</div>}
      <ul
        aria-label={label}
        style={{ height: `${virtualizer.getTotalSize()}px`, position: 'relative' }}
      >
        {rows.map(({ index, start }) => {
          const item = items[index] as Item;
          return (
            <li
              class="row"
              key={keyOf(item)}
              aria-setsize={isOpen ? -1 : items.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
            >
              {row(item, index)}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

type VirtualListProps<Item> = ListProps<Item> & Pick<RowsProps<Item>, 'head' | 'onLast'>;

/** A list of any length, which loads further pages as the user scrolls. */
export function VirtualList<Item>({
  pages,
  label,
  row,
  keyOf,
  empty,
  head,
  onLast,
}: VirtualListProps<Item>) {
  const { items, failure, isLoading, hasMore, more, reload } = pages;
  const [last, setLast] = useState(0);
  const hasItems = items.length > 0;
  const isNearEnd =
    hasItems && hasMore && !isLoading && !failure && last > items.length - ROWS_AHEAD;
  useEffect(() => {
    onLast?.(last);
  }, [last]);
  useEffect(() => {
    if (isNearEnd) more();
  }, [isNearEnd, items.length]);

  if (!hasItems) {
    if (failure) return <Problem failure={failure} retry={reload} />;
    return isLoading ? <Skeleton lines={8} /> : <>{empty}</>;
  }
  return (
    <div class="rows">
      <VirtualRows {...{ items, label, row, keyOf, head }} isOpen={hasMore} onLast={setLast} />
      {(hasMore || failure) && (
        <div class="rows-foot small" role="status">
          {failure ? (
            <Problem failure={failure} retry={more} />
          ) : (
            `${integerText(items.length)} loaded; more follow as you scroll`
          )}
        </div>
      )}
    </div>
  );
}
