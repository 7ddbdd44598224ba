/** The objects that two refs changed in different ways, and how to go on. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../../api/client';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { type Version, versionsOf } from '../../parts/diff/content';
import { type DiffRow, refsSource } from '../../parts/diff/source';
import type { Heads } from '../../parts/seen';
import { Notice, Problem, Skeleton } from '../../parts/state';
import { agoText, countText, shortId, sizeText } from '../../parts/words';
import styles from './conflicts.module.css';

/** Whose object is taken, by path. */
export type Resolutions = Schemas['Merge']['resolutions'];

/** The most that a merge takes. */
const ENOUGH = 1000;

/** Return the first conflicts of the two commits; their diff is read until there are enough. */
async function conflictsOf(
  repository: string,
  { source_commit_id, destination_commit_id }: Heads,
  signal: AbortSignal,
): Promise<{ rows: DiffRow[]; hasMore: boolean }> {
  const diff = refsSource(repository, destination_commit_id, source_commit_id, 'three_dot');
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
  /** The commits that were compared. */
  heads: Heads;
}

interface ChoiceProps extends ConflictsProps {
  /** What was chosen so far; also where no conflict is any more. */
  chosen: Resolutions;
  onChosen: (chosen: Resolutions) => void;
  /** Merge with the choices; each conflict has one. */
  onMerge: (resolutions: Resolutions) => void;
  isBusy: boolean;
  /** Why the merge with the choices failed. */
  children: ComponentChildren;
}

export function Conflicts({ chosen, onChosen, onMerge, isBusy, children, ...refs }: ChoiceProps) {
  const { repository, heads } = refs;
  const heading = useRef<HTMLDivElement>(null);
  const { data, failure, reload } = useResource(['conflicts', repository, heads], signal =>
    conflictsOf(repository, heads, signal),
  );
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'nearest' });
  }, [data]);
  const left = data?.rows.filter(({ path }) => !chosen[path]).length ?? 0;
  return (
    <div class="stack tight" ref={heading}>
      <Notice kind="danger">
        Nothing was merged: both sides changed the same objects in different ways. Choose above
        whose objects win, and merge again, or choose for each object below.
      </Notice>
      {children}
      <Problem failure={failure} retry={reload} />
      {!data && !failure && <Skeleton lines={3} />}
      {data && (
        <>
          <strong>
            {data.hasMore && 'At least '}
            {countText(data.rows.length, 'conflict')}
          </strong>
          <ul class={`rows ${styles.list}`} aria-label="Conflicts">
            {data.rows.map(({ path }) => (
              <Conflict
                key={path}
                {...refs}
                path={path}
                winner={data.hasMore ? undefined : (chosen[path] ?? '')}
                onWinner={winner => onChosen({ ...chosen, [path]: winner })}
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
              <Button
                kind="primary"
                icon="merge"
                disabled={left > 0}
                isBusy={isBusy}
                onClick={() =>
                  onMerge(
                    Object.fromEntries(data.rows.map(({ path }) => [path, chosen[path] as Winner])),
                  )
                }
              >
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

type Winner = Resolutions[string];

interface SidesProps extends ConflictsProps {
  path: string;
}

interface ConflictProps extends SidesProps {
  /** Empty before the choice; nothing where none can be made. */
  winner: Winner | '' | undefined;
  onWinner: (winner: Winner) => void;
}

function Conflict({ winner, onWinner, ...sides }: ConflictProps) {
  const { source, destination, path } = sides;
  const [isOpen, setOpen] = useState(false);
  return (
    <li class={`row ${styles.conflict}`}>
      <span class="grow wrap-anywhere mono">{path}</span>
      {isOpen ? (
        <ConflictSides {...sides} />
      ) : (
        <Button isSmall kind="ghost" onClick={() => setOpen(true)}>
          Show both sides
        </Button>
      )}
      {winner !== undefined && (
        <select
          class={`select ${styles.winner}`}
          aria-label={`Object to take at ${path}`}
          value={winner}
          onChange={event => onWinner(event.currentTarget.value as Winner)}
        >
          <option value="" disabled>
            Choose…
          </option>
          <option value="source-wins">Take {shortId(source)}</option>
          <option value="dest-wins">Keep {destination}</option>
        </select>
      )}
    </li>
  );
}

function ConflictSides({ repository, source, destination, heads, path }: SidesProps) {
  const sides = { left: heads.destination_commit_id, right: heads.source_commit_id };
  const { data, failure, reload } = useResource(['conflict', repository, sides, path], signal =>
    versionsOf(repository, sides, path, signal),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <span class="spinner" role="status" aria-label="Loading" />;
  const text = (name: string, { stats }: Version) =>
    stats
      ? `${name}: ${sizeText(stats.size_bytes)}, stored ${agoText(stats.mtime)}`
      : `${name}: deleted`;
  return (
    <span class="small quiet">
      {text(destination, data.left)}
      <br />
      {text(shortId(source), data.right)}
    </span>
  );
}
