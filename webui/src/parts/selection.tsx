/** Chooses rows of a list by their check boxes; with Shift, all rows between two. */

import { useRef, useState } from 'preact/hooks';

export interface Selection {
  names: ReadonlySet<string>;
  /** Choose or drop the row; with `all`, every row from the last one that was chosen to this one. */
  toggle: (name: string, all?: readonly string[]) => void;
  clear: () => void;
}

export function useSelection(): Selection {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | undefined>(undefined);
  const toggle = (name: string, all?: readonly string[]) => {
    const changed = new Set(names);
    const isChosen = !names.has(name);
    for (const each of all && last.current ? between(all, last.current, name) : [name]) {
      if (isChosen) changed.add(each);
      else changed.delete(each);
    }
    last.current = name;
    setNames(changed);
  };
  return { names, toggle, clear: () => setNames(new Set()) };
}

function between(all: readonly string[], one: string, other: string): readonly string[] {
  const [first = 0, last = 0] = [all.indexOf(one), all.indexOf(other)].sort((a, b) => a - b);
  return first < 0 ? [other] : all.slice(first, last + 1);
}

interface RowCheckProps {
  name: string;
  selection: Selection;
  /** The names of all rows, in order. */
  all: readonly string[];
}

export function RowCheck({ name, selection, all }: RowCheckProps) {
  return (
    <input
      type="checkbox"
      class="row-check"
      aria-label={`Choose ${name}`}
      checked={selection.names.has(name)}
      onClick={event => selection.toggle(name, event.shiftKey ? all : undefined)}
    />
  );
}
