/** The order and the filter of the page's table, which its address holds, and the first row that shows. */

import { useState } from 'preact/hooks';
import { useQuery } from './query';
import type { Arrangement } from './table-model';

/** How many rows of a table show at once. */
export const ROWS = 100;

export interface Arranging {
  arrangement: Arrangement;
  /** Without a name, the rows are in the order of the file. */
  sort: (name: string | undefined, isDescending?: boolean) => void;
  filter: (text: string) => void;
  start: number;
  goTo: (start: number) => void;
}

export function useArranging(): Arranging {
  const [{ sort, order, filter }, setQuery] = useQuery();
  const [at, setAt] = useState({ name: '', start: 0 });
  // Another order begins at its first row.
  const name = JSON.stringify([sort, order, filter]);
  return {
    arrangement: { sort, isDescending: order === 'desc', filter },
    sort: (sort, isDescending) =>
      setQuery({ sort, order: sort && isDescending ? 'desc' : undefined }, true),
    filter: filter => setQuery({ filter }, true),
    start: at.name === name ? at.start : 0,
    goTo: start => setAt({ name, start }),
  };
}
