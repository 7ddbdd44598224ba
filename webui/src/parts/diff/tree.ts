/** The folders of a diff that are open, loaded part by part, as one flat list of rows. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Failure } from '../../api/client';
import { failureOf } from '../../api/client';
import { type DiffRow, type DiffSource, groupRows } from './source';

export interface Folder {
  rows: DiffRow[];
  /** Where the next page begins; nothing once all are loaded. */
  next?: string;
  isLoading: boolean;
  failure?: Failure;
}

export type TreeRow =
  | { kind: 'change'; row: DiffRow; depth: number; isOpen: boolean }
  | { kind: 'more'; prefix: string; depth: number; folder: Folder };

export interface Tree {
  rows: TreeRow[];
  toggle: (prefix: string) => void;
  loadMore: (prefix: string) => void;
}

/** So many changes are shown without folders that hide them. */
const FEW = 30;

/** Return the rows of a folder with those of its open folders below them; a folder that is not loaded has a row that says so. */
export function treeRows(
  root: string,
  isOpenAt: (prefix: string) => boolean,
  folderAt: (prefix: string) => Folder | undefined,
): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (prefix: string, depth: number) => {
    const folder: Folder = folderAt(prefix) ?? { rows: [], isLoading: true };
    for (const row of folder.rows) {
      // An object may be called like its folder, `a/` in `a/`: only the folder opens.
      const isOpen = row.path_type === 'common_prefix' && isOpenAt(row.path);
      rows.push({ kind: 'change', row, depth, isOpen });
      if (isOpen) add(row.path, depth + 1);
    }
    if (folder.isLoading || folder.failure || folder.next !== undefined)
      rows.push({ kind: 'more', prefix, depth, folder });
  };
  add(root, 0);
  return rows;
}

/** `all` has every row of the diff, if they are known: then folders open without a request. */
export function useTree(source: DiffSource, root: string, all: DiffRow[] | undefined): Tree {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [loaded, setLoaded] = useState<Record<string, Folder>>({});
  const abort = useRef(new AbortController());

  const load = (prefix: string, known: Folder | undefined) => {
    const { signal } = abort.current;
    const rows = known?.rows ?? [];
    const put = (folder: Folder) =>
      !signal.aborted && setLoaded(old => ({ ...old, [prefix]: folder }));
    put({ rows, next: known?.next, isLoading: true });
    source
      .load({ prefix, after: known?.next ?? '', delimiter: '/' }, signal)
      .then(({ results, pagination }) =>
        put({
          rows: [...rows, ...results],
          next: pagination.has_more ? pagination.next_offset : undefined,
          isLoading: false,
        }),
      )
      .catch(error =>
        put({ rows, next: known?.next, isLoading: false, failure: failureOf(error) as Failure }),
      );
  };
  const isLocal = all !== undefined;
  const startsOpen = isLocal && all.length <= FEW;
  useEffect(() => {
    abort.current = new AbortController();
    setLoaded({});
    if (!isLocal) load(root, undefined);
    return () => abort.current.abort();
  }, [source.name, root, isLocal]);

  const toggle = (prefix: string) => {
    const next = new Set(toggled);
    if (!next.delete(prefix)) next.add(prefix);
    setToggled(next);
    if (!isLocal && !loaded[prefix]) load(prefix, undefined);
  };
  const rows = treeRows(
    root,
    prefix => startsOpen !== toggled.has(prefix),
    prefix => (all ? { rows: groupRows(all, prefix), isLoading: false } : loaded[prefix]),
  );
  return { rows, toggle, loadMore: prefix => load(prefix, loaded[prefix]) };
}
