/** Where the rows of a diff come from, and how they are counted and grouped into folders. */

import { answer, api, type Schemas } from '../../api/client';
import type { Page } from '../../api/resource';

export type DiffRow = Schemas['DiffRow'];
export type ChangeType = 'added' | 'changed' | 'removed' | 'conflict';

const CHANGES: readonly ChangeType[] = ['added', 'changed', 'removed'];
export const TYPES: readonly ChangeType[] = [...CHANGES, 'conflict'];
/** No meaning by colour alone: each type has a sign for the eye and a word for readers. */
export const SIGNS: Record<ChangeType, string> = {
  added: '+',
  changed: '~',
  removed: '−',
  conflict: '!',
};

/** The most rows that the server returns at once. */
const PAGE = 1000;

/** The two sides whose objects a row compares. */
export interface Sides {
  left: string;
  right: string;
}

export interface DiffSource {
  repository: string;
  /** Equal names have equal rows. */
  name: string;
  load: (
    query: { prefix: string; after: string; delimiter?: string },
    signal: AbortSignal,
  ) => Promise<Page<DiffRow>>;
  /** What a row may be. */
  types: readonly ChangeType[];
  /** The refs that hold an object before and after the change. */
  sides: Sides;
  /** Return what the two sides of the row are called above its content. */
  labels: (row: DiffRow | undefined) => Sides;
}

/** The uncommitted changes of a branch. */
export function uncommittedSource(repository: string, branch: string): DiffSource {
  return {
    repository,
    name: `uncommitted ${repository} ${branch}`,
    load: (query, signal) =>
      answer(
        api.GET('/repositories/{repository}/branches/{branch}/diff', {
          params: { path: { repository, branch }, query: { ...query, amount: PAGE } },
          signal,
        }),
      ),
    types: CHANGES,
    // `branch@` is the last commit, without what is staged.
    sides: { left: `${branch}@`, right: branch },
    labels: () => ({ left: 'Last commit', right: 'Uncommitted' }),
  };
}

export async function hasUncommitted(
  repository: string,
  branch: string,
  signal: AbortSignal,
): Promise<boolean> {
  const params = { path: { repository, branch }, query: { amount: 1 } };
  const { results } = await answer(
    api.GET('/repositories/{repository}/branches/{branch}/diff', { params, signal }),
  );
  return results.length > 0;
}

export type DiffKind = 'two_dot' | 'three_dot';

/** What `right` has that `left` has not; with three dots, since their merge base. */
export function refsSource(
  repository: string,
  left: string,
  right: string,
  kind: DiffKind,
  labels: Sides = { left, right },
): DiffSource {
  return {
    repository,
    name: `${kind} ${repository} ${left} ${right}`,
    load: (query, signal) =>
      answer(
        api.GET('/repositories/{repository}/refs/{leftRef}/diff/{rightRef}', {
          params: {
            path: { repository, leftRef: left, rightRef: right },
            query: { ...query, amount: PAGE, type: kind },
          },
          signal,
        }),
      ),
    types: kind === 'three_dot' ? TYPES : CHANGES,
    // Where only `right` changed an object, `left` has it as it was before: of crossed merges, no
    // single commit has all of that.
    sides: { left, right },
    labels: row =>
      kind === 'two_dot' || row?.type === 'conflict' ? labels : { ...labels, left: 'Before' },
  };
}

export type Counts = Record<ChangeType, number>;

export function countRows(rows: readonly DiffRow[]): Counts {
  const counts: Counts = { added: 0, changed: 0, removed: 0, conflict: 0 };
  for (const { type } of rows) if (type in counts) counts[type as ChangeType] += 1;
  return counts;
}

/** Return the rows below the prefix; those of its folders become one row for each. */
export function groupRows(rows: readonly DiffRow[], prefix: string): DiffRow[] {
  const grouped: DiffRow[] = [];
  for (const row of rows) {
    if (!row.path.startsWith(prefix)) continue;
    const end = row.path.indexOf('/', prefix.length);
    if (end < 0) {
      grouped.push(row);
      continue;
    }
    const path = row.path.slice(0, end + 1);
    if (grouped.at(-1)?.path !== path)
      grouped.push({ type: 'prefix_changed', path, path_type: 'common_prefix' });
  }
  return grouped;
}
