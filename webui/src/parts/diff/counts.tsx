/** How many objects were added, changed and removed, with a sign and a word for each. */

import { useState } from 'preact/hooks';
import { useAction } from '../../api/resource';
import { Button } from '../button';
import { Problem } from '../state';
import { integerText } from '../words';
import styles from './counts.module.css';
import {
  type ChangeType,
  type Counts,
  countRows,
  type DiffRow,
  type DiffSource,
  SIGNS,
  TYPES,
} from './source';

const LOOKS: Record<ChangeType, string> = {
  added: 'green',
  changed: 'amber',
  removed: 'red',
  conflict: 'red',
};

export function Sign({ type }: { type: string }) {
  const known = type as ChangeType;
  return (
    <span class={`badge ${styles.sign} ${LOOKS[known] ?? ''}`} title={type}>
      <span aria-hidden="true">{SIGNS[known] ?? '~'}</span>
      <span class="visually-hidden">{type}</span>
    </span>
  );
}

export function CountBadges({ counts, isLeast }: { counts: Counts; isLeast?: boolean }) {
  return (
    <span class={`bar ${styles.counts}`}>
      {isLeast && <span class="small quiet">At least</span>}
      {TYPES.filter(type => counts[type] > 0).map(type => (
        <span key={type} class={`badge ${LOOKS[type]}`} title={type}>
          {SIGNS[type]}
          {integerText(counts[type])}
          <span class="visually-hidden">{type}</span>
        </span>
      ))}
    </span>
  );
}

/** Counts the objects of a folder when asked, one page at a time; `rows` has all of them already. */
export function FolderCounts({
  source,
  prefix,
  rows,
}: {
  source: DiffSource;
  prefix: string;
  rows?: readonly DiffRow[];
}) {
  const [found, setFound] = useState<DiffRow[]>([]);
  const [next, setNext] = useState<string | undefined>('');
  const { run, isBusy, failure } = useAction(async () => {
    const page = await source.load({ prefix, after: next ?? '' }, new AbortController().signal);
    setFound([...found, ...page.results]);
    setNext(page.pagination.has_more ? page.pagination.next_offset : undefined);
  });
  if (rows)
    return <CountBadges counts={countRows(rows.filter(({ path }) => path.startsWith(prefix)))} />;
  if (failure) return <Problem failure={failure} retry={run} />;
  return (
    <>
      {found.length > 0 && <CountBadges counts={countRows(found)} isLeast={next !== undefined} />}
      {next !== undefined && (
        <Button
          kind="ghost"
          isSmall
          isBusy={isBusy}
          onClick={run}
          aria-label={`Count the changes in ${prefix}`}
        >
          {found.length ? 'Count on' : 'Count'}
        </Button>
      )}
    </>
  );
}
