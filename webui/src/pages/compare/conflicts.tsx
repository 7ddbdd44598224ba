/** The objects that two refs changed in different ways, and how to go on. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { type Version, versionsOf } from '../../parts/diff/content';
import { type DiffRow, refsSource } from '../../parts/diff/source';
import { Notice, Problem, Skeleton } from '../../parts/state';
import { agoText, countText, shortId, sizeText } from '../../parts/words';
import type { Winner, Winners } from './resolve';

const ENOUGH = 100;

/** Return the first conflicts; a diff is looked through until there are enough. */
async function conflictsOf(
  { repository, source, destination }: ConflictsProps,
  signal: AbortSignal,
): Promise<{ rows: DiffRow[]; hasMore: boolean }> {
  const diff = refsSource(repository, destination, source, 'three_dot');
  const rows: DiffRow[] = [];
  let after = '';
  while (true) {
    const page = await diff.load({ prefix: '', after }, signal);
    rows.push(...page.results.filter(({ type }) => type === 'conflict'));
    after = page.pagination.next_offset;
    if (!page.pagination.has_more || rows.length >= ENOUGH)
      return { rows: rows.slice(0, ENOUGH), hasMore: page.pagination.has_more };
  }
}

interface ConflictsProps {
  repository: string;
  source: string;
  destination: string;
}

interface ChoiceProps extends ConflictsProps {
  winners: Winners;
  onWinners: (winners: Winners) => void;
  /** Merge with the choices; each conflict has one. */
  onMerge: () => void;
  isBusy: boolean;
}

export function Conflicts({ winners, onWinners, onMerge, isBusy, ...refs }: ChoiceProps) {
  const { repository, source, destination } = refs;
  const heading = useRef<HTMLDivElement>(null);
  const { data, failure, reload } = useResource(
    ['conflicts', repository, source, destination],
    signal => conflictsOf(refs, signal),
  );
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'nearest' });
  }, [data]);
  const left = data?.rows.filter(({ path }) => !winners[path]).length ?? 0;
  return (
    <div class="stack tight" ref={heading}>
      <Notice kind="danger">
        Nothing was merged: both sides changed the same objects in different ways. Choose above
        whose objects win, and merge again, or choose for each object below.
      </Notice>
      <Problem failure={failure} retry={reload} />
      {!data && !failure && <Skeleton lines={3} />}
      {data && (
        <>
          <strong>
            {data.hasMore && 'At least '}
            {countText(data.rows.length, 'conflict')}
          </strong>
          <ul class="rows conflicts" aria-label="Conflicts">
            {data.rows.map(({ path }) => (
              <Conflict
                key={path}
                {...refs}
                path={path}
                winner={data.hasMore ? undefined : (winners[path] ?? '')}
                onWinner={winner => onWinners({ ...winners, [path]: winner })}
              />
            ))}
          </ul>
          {data.hasMore ? (
            <p class="small quiet">
              These are too many to choose for each. Choose a strategy for all, or merge a part
              first.
            </p>
          ) : (
            <div class="bar">
              <Button icon="merge" disabled={left > 0} isBusy={isBusy} onClick={onMerge}>
                Merge with these choices
              </Button>
              {left > 0 && <span class="small quiet">{countText(left, 'choice')} to make</span>}
            </div>
          )}
        </>
      )}
    </div>
  );
}

interface ConflictProps extends ConflictsProps {
  path: string;
  /** Empty before the choice; nothing where none can be made. */
  winner: Winner | '' | undefined;
  onWinner: (winner: Winner) => void;
}

function Conflict({ winner, onWinner, path, ...refs }: ConflictProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class="row conflict">
      <span class="grow wrap-anywhere mono">{path}</span>
      {isOpen ? (
        <ConflictSides {...refs} path={path} />
      ) : (
        <Button isSmall kind="ghost" onClick={() => setOpen(true)}>
          Show both sides
        </Button>
      )}
      {winner !== undefined && (
        <select
          class="select conflict-winner"
          aria-label={`Object to take at ${path}`}
          value={winner}
          onChange={event => onWinner(event.currentTarget.value as Winner)}
        >
          <option value="" disabled>
            Choose…
          </option>
          <option value="source">Take {shortId(refs.source)}</option>
          <option value="destination">Keep {refs.destination}</option>
        </select>
      )}
    </li>
  );
}

function ConflictSides({
  repository,
  source,
  destination,
  path,
}: ConflictsProps & { path: string }) {
  const { data, failure, reload } = useResource(
    ['conflict', repository, source, destination, path],
    signal => versionsOf(repository, { left: destination, right: source }, path, signal),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <span class="spinner" role="status" aria-label="Loading" />;
  const text = ({ ref, stats }: Version) =>
    stats
      ? `${shortId(ref)}: ${sizeText(stats.size_bytes)}, stored ${agoText(stats.mtime)}`
      : `${shortId(ref)}: deleted`;
  return (
    <span class="small quiet">
      {text(data.left)}
      <br />
      {text(data.right)}
    </span>
  );
}
