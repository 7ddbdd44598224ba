/** The objects that two refs changed in different ways, and how to go on. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { type Version, versionsOf } from '../../parts/diff/content';
import { type DiffRow, refsSource } from '../../parts/diff/source';
import { Notice, Problem, Skeleton } from '../../parts/state';
import { agoText, countText, shortId, sizeText } from '../../parts/words';

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

export function Conflicts(props: ConflictsProps) {
  const { repository, source, destination } = props;
  const heading = useRef<HTMLDivElement>(null);
  const { data, failure, reload } = useResource(
    ['conflicts', repository, source, destination],
    signal => conflictsOf(props, signal),
  );
  useEffect(() => heading.current?.scrollIntoView({ block: 'nearest' }), [data]);
  return (
    <div class="stack tight" ref={heading}>
      <Notice kind="danger">
        Nothing was merged: both sides changed the same objects in different ways. Choose above
        whose objects win, then merge again.
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
            {data.rows.map(row => (
              <Conflict key={row.path} {...props} path={row.path} />
            ))}
          </ul>
          <p class="small quiet">
            To choose for each object, create a branch from <code>{shortId(source)}</code>. Write
            there the objects of <code>{destination}</code> that you want to keep, and commit. Then
            merge that branch with “source-wins”.
          </p>
        </>
      )}
    </div>
  );
}

function Conflict({ repository, source, destination, path }: ConflictsProps & { path: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class="row conflict">
      <span class="grow wrap-anywhere mono">{path}</span>
      {isOpen ? (
        <ConflictSides {...{ repository, source, destination, path }} />
      ) : (
        <Button isSmall kind="ghost" onClick={() => setOpen(true)}>
          Show both sides
        </Button>
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
