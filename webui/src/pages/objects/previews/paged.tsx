/** Cells, or outputs of one, a page at a time. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../parts/button';
import { countText, integerText } from '../../../parts/words';
import { pageEnd } from './cells';

interface PagedProps {
  items: readonly unknown[];
  /** What one of them is called. */
  name: string;
  children: (shown: readonly unknown[]) => ComponentChildren;
}

export function Paged({ items, name, children }: PagedProps) {
  const [end, setEnd] = useState(() => pageEnd(items, 0));
  return (
    <>
      {children(items.slice(0, end))}
      {end < items.length && (
        <div class="bar small">
          <span class="quiet">
            The first {integerText(end)} of {countText(items.length, name)}
          </span>
          <Button isSmall onClick={() => setEnd(pageEnd(items, end))}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
