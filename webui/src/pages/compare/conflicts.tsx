/** The objects that two refs changed in different ways, and whose of them a merge takes. */

import { useState } from 'preact/hooks';
import type { Schemas } from '../../api/client';
import { type Resource, useResource } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { type Version, versionsOf } from '../../parts/diff/content';
import { type DiffRow, refsSource } from '../../parts/diff/source';
import { SelectField } from '../../parts/field';
import { objectText, tableName } from '../../parts/iceberg-names';
import type { Heads } from '../../parts/seen';
import { Notice, Problem } from '../../parts/state';
import { agoText, countText, shortId, sizeText } from '../../parts/words';
import styles from './conflicts.module.css';

/** Whose object is taken, by path. */
export type Resolutions = NonNullable<Schemas['Merge']['resolutions']>;
type Winner = Resolutions[string];

/** The most that a merge takes. */
const CONFLICTS_MAX = 1000;

export interface FoundConflicts {
  rows: DiffRow[];
  /** Whether there may be more of them. */
  hasMore: boolean;
}

/** Load the first conflicts of the two commits, from so many pages of their diff at most. */
export function useConflicts(
  repository: string,
  heads: Heads | undefined,
  pages = Number.POSITIVE_INFINITY,
): Resource<FoundConflicts | undefined> {
  return useResource(['conflicts', repository, heads, pages], async signal =>
    heads ? conflictsOf(repository, heads, pages, signal) : undefined,
  );
}

async function conflictsOf(
  repository: string,
  { source_commit_id, destination_commit_id }: Heads,
  pages: number,
  signal: AbortSignal,
): Promise<FoundConflicts> {
  const diff = refsSource(repository, destination_commit_id, source_commit_id, 'three_dot');
  const rows: DiffRow[] = [];
  let hasMore = true;
  let after = '';
  for (let page = 0; hasMore && page < pages && rows.length < CONFLICTS_MAX; page += 1) {
    const { results, pagination } = await diff.load({ prefix: '', after }, signal);
    rows.push(...results.filter(({ type }) => type === 'conflict'));
    hasMore = pagination.has_more;
    after = pagination.next_offset;
  }
  return { rows: rows.slice(0, CONFLICTS_MAX), hasMore };
}

interface RefsProps {
  repository: string;
  source: string;
  destination: string;
  /** The commits that were compared. */
  heads: Heads;
}

interface ConflictsProps extends RefsProps {
  found: FoundConflicts;
  /** Whose objects win at all conflicts; empty if each has its own choice. */
  strategy: string;
  onStrategy: (strategy: string) => void;
  chosen: Resolutions;
  onChosen: (chosen: Resolutions) => void;
}

export function Conflicts(props: ConflictsProps) {
  const { found, strategy, onStrategy, chosen, onChosen, ...refs } = props;
  const { source, destination } = refs;
  const { rows, hasMore } = found;
  const left = undecided(found, chosen);
  return (
    <div class="stack tight">
      <Notice kind="warning">
        {hasMore && 'At least '}
        {countText(rows.length, 'conflict')}: both sides changed the same objects in different ways.
      </Notice>
      <SelectField
        label="Whose objects win"
        hint="The choice holds for conflicts only. Other changes of both sides are always kept."
        value={strategy}
        onText={onStrategy}
        options={[
          { value: '', text: hasMore ? 'Choose…' : 'Choose for each object' },
          { value: 'source-wins', text: `Take those of ${shortId(source)} (source-wins)` },
          { value: 'dest-wins', text: `Keep those of ${destination} (dest-wins)` },
        ]}
      />
      {!strategy && (
        <>
          <ul class={`rows ${styles.list}`} aria-label="Conflicts">
            {rows.map(({ path }) => (
              <Conflict
                key={path}
                {...refs}
                path={path}
                winner={hasMore ? undefined : (chosen[path] ?? '')}
                onWinner={winner => onChosen({ ...chosen, [path]: winner })}
              />
            ))}
          </ul>
          <p class="small quiet" aria-live="polite">
            {hasMore
              ? 'These are too many to choose for each. Choose a side for all, or merge a part first.'
              : left > 0 && `${countText(left, 'choice')} to make`}
          </p>
        </>
      )}
    </div>
  );
}

/** Return how many conflicts have no choice; it is never 0 if not all of them are known. */
export function undecided({ rows, hasMore }: FoundConflicts, chosen: Resolutions): number {
  return rows.filter(({ path }) => !chosen[path]).length + Number(hasMore);
}

/** Return the choices that are about conflicts. */
export function resolutionsOf({ rows }: FoundConflicts, chosen: Resolutions): Resolutions {
  const pairs = rows.map(({ path }) => [path, chosen[path]]);
  return Object.fromEntries(pairs.filter(([, winner]) => winner));
}

interface SidesProps extends RefsProps {
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
      <span class="grow wrap-anywhere mono">{objectText(path)}</span>
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
          aria-label={`Object to take at ${objectText(path)}`}
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
  const table = tableName(path);
  const side = (name: string, { ref, stats }: Version) =>
    stats ? (
      <>
        {name}: {sizeText(stats.size_bytes)}, stored {agoText(stats.mtime)}{' '}
        {table && (
          // The choices so far stay in this window.
          <a href={links.table(repository, ref, table)} target="_blank" rel="noreferrer">
            See the table
          </a>
        )}
      </>
    ) : (
      `${name}: deleted`
    );
  return (
    <span class="small quiet">
      {side(destination, data.left)}
      <br />
      {side(shortId(source), data.right)}
    </span>
  );
}
