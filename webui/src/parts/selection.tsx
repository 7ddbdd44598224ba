/** Selects rows of a list by their check boxes; with Shift, all rows between two. */

import { useRef, useState } from 'preact/hooks';

export interface Selection {
  names: ReadonlySet<string>;
  /** Select or drop the row; with `all`, every row from the last one that was pressed to this one. */
  toggle: (name: string, all?: readonly string[]) => void;
  drop: (name: string) => void;
  clear: () => void;
}

export function useSelection(): Selection {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | undefined>(undefined);
  const toggle = (name: string, all?: readonly string[]) => {
    const rows = all && last.current ? between(all, last.current, name) : [name];
    last.current = name;
    setNames(old => toggled(old, name, rows));
  };
  const drop = (name: string) => setNames(old => new Set([...old].filter(each => each !== name)));
  return { names, toggle, drop, clear: () => setNames(new Set()) };
}

/** Return the names with the rows as the named one becomes: selected, or not. */
export function toggled(
  names: ReadonlySet<string>,
  name: string,
  rows: readonly string[],
): ReadonlySet<string> {
  return names.has(name)
    ? new Set([...names].filter(each => !rows.includes(each)))
    : new Set([...names, ...rows]);
}

/** Return the names from the one to the other, in the order of all. */
export function between(all: readonly string[], one: string, other: string): readonly string[] {
  const [first = 0, last = 0] = [all.indexOf(one), all.indexOf(other)].sort((a, b) => a - b);
  return first < 0 ? [other] : all.slice(first, last + 1);
}

interface RowCheckProps {
  name: string;
  /** How the row is called, read aloud; without it, its name. */
  label?: string;
  selection: Selection;
  /** The names of all rows, in order. */
  all?: readonly string[];
  /** Why the row cannot be selected. */
  reason?: string;
}

export function RowCheck({ name, label = name, selection, all, reason }: RowCheckProps) {
  return (
    <input
      type="checkbox"
      class="row-check"
      aria-label={`Select ${label}`}
      checked={selection.names.has(name)}
      disabled={reason !== undefined}
      title={reason}
      onClick={event => selection.toggle(name, event.shiftKey ? all : undefined)}
    />
  );
}
