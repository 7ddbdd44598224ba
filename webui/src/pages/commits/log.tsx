/** The commits of a ref as a graph, with the branches and tags on them, and what can be done with each. */

import { useMemo, useState } from 'preact/hooks';
import { answerOf, apiRead } from '../../api/cache';
import type { Schemas } from '../../api/client';
import { type Pages, useAllPages, usePages, useResource } from '../../api/resource';
import { links } from '../../links';
import { RunningTask } from '../../parts/branch-task';
import { Button, CopyButton, LinkButton } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { VirtualList } from '../../parts/list';
import { useQuery } from '../../parts/query';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { RowCheck, type Selection, useSelection } from '../../parts/selection';
import { Empty, Problem } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { integerText, shortId, titleOf, visible } from '../../parts/words';
import { CommitMenu } from './actions';
import { type Filters, filtersOf, LogFilters, NoMatch } from './filters';
import { Graph, graphWidth } from './graph';
import { type GraphRow, Lanes } from './lanes';
import styles from './log.module.css';
import { RevertDialog } from './revert';

type Commit = Schemas['CommitRow'];

const PAGE = 500;
// The most that the server returns at once.
const REFS = 1000;

interface Name {
  kind: 'branch' | 'tag';
  id: string;
}

/** Return the branches and tags by the commit that they name; of very many, the first. */
async function namesByCommit(repository: string, signal: AbortSignal) {
  const params = { path: { repository }, query: { amount: REFS } };
  const [branches, tags] = await Promise.all([
    answerOf(apiRead('/repositories/{repository}/branches', params), signal),
    answerOf(apiRead('/repositories/{repository}/tags', params), signal),
  ]);
  const names = new Map<string, Name[]>();
  const add = (kind: Name['kind'], { id, commit_id }: { id: string; commit_id: string }) =>
    names.set(commit_id, [...(names.get(commit_id) ?? []), { kind, id }]);
  for (const branch of branches.results) add('branch', branch);
  for (const tag of tags.results) add('tag', tag);
  return { names, isPart: branches.pagination.has_more || tags.pagination.has_more };
}

/** Return the commits of the ref in pages, newest first, as the address narrows them. */
function useLog(repository: string, ref: string, filters: Filters): Pages<Commit> {
  const { isFirstParent, prefix, since } = filters;
  const narrowed = {
    first_parent: isFirstParent,
    ...(prefix && { prefixes: [prefix] }),
    ...(since && { since: new Date(`${since}T00:00:00`).toISOString() }),
  };
  const pages = usePages(after =>
    apiRead('/repositories/{repository}/refs/{ref}/commits', {
      path: { repository, ref },
      query: { after, amount: PAGE, ...narrowed },
    }),
  );
  // A page ends after some seconds of search, so it may be empty: search on until there is one.
  useAllPages(pages, !pages.items.length);
  return pages;
}

export default function Log() {
  const repository = useRepository();
  const ref = useCurrentRef();
  const [query, setQuery] = useQuery();
  const filters = filtersOf(query);
  const { isFirstParent } = filters;
  const selection = useSelection();
  const [isReverting, setReverting] = useState(false);
  useTitle(`Commits of ${ref}`, repository.id);
  const pages = useLog(repository.id, ref, filters);
  const names = useResource(['names', repository.id, ref], signal =>
    namesByCommit(repository.id, signal),
  );
  const rows = useGraph(pages.items, isFirstParent);
  const width = graphWidth(rows.reduce((most, row) => Math.max(most, row.width), 1));
  const reload = () => {
    selection.clear();
    pages.reload();
    names.reload();
  };
  return (
    <div class="stack">
      <h1 class="visually-hidden">Commits of {ref}</h1>
      <div class="bar">
        <RefPicker
          repository={repository.id}
          value={ref}
          label="Commits of"
          onChoose={value => setQuery({ ref: value })}
        />
        <LogFilters {...filters} />
        <span class="push" />
        {selection.names.size > 0 && (
          <SelectionTools selection={selection} onRevert={() => setReverting(true)} />
        )}
      </div>
      <RunningTask repository={repository.id} branch={ref} onEnd={reload} />
      <Problem failure={names.failure} retry={names.reload} />
      {names.data?.isPart && (
        <p class="small quiet">
          Commits show the names of the first {integerText(REFS)} branches and the first{' '}
          {integerText(REFS)} tags; there are more.
        </p>
      )}
      <VirtualList
        key={`${ref} ${JSON.stringify(filters)}`}
        pages={pages}
        label={`Commits of ${ref}`}
        keyOf={commit => commit.id}
        row={(commit, index) => (
          <CommitRow
            commit={commit}
            graph={filters.prefix ? undefined : rows[index]}
            width={width}
            names={names.data?.names.get(commit.id) ?? []}
            selection={selection}
            current={ref}
            onDone={reload}
          />
        )}
        empty={
          filters.prefix || filters.since ? (
            <NoMatch />
          ) : (
            <NoCommits repository={repository.id} branch={ref} />
          )
        }
      />
      {isReverting && (
        <RevertDialog
          commits={pages.items.filter(({ id }) => selection.names.has(id))}
          branch={ref}
          onDone={reload}
          onClose={() => setReverting(false)}
        />
      )}
    </div>
  );
}

interface SelectionProps {
  selection: Selection;
  onRevert: () => void;
}

function SelectionTools({ selection, onRevert }: SelectionProps) {
  const isLocked = useRepository().read_only;
  return (
    <>
      <Button kind="ghost" onClick={selection.clear}>
        Clear selection
      </Button>
      <Button
        icon="undo"
        disabled={isLocked}
        title={isLocked ? 'The repository is read-only' : undefined}
        onClick={onRevert}
      >
        Revert {selection.names.size}…
      </Button>
    </>
  );
}

function NoCommits({ repository, branch }: { repository: string; branch: string }) {
  return (
    <Empty
      icon="commit"
      title="No commits yet"
      actions={
        <LinkButton href={links.changes(repository, branch)}>See uncommitted changes</LinkButton>
      }
    >
      A commit keeps the objects of a branch as they are, for good.
    </Empty>
  );
}

/** Return the graph's row of each commit; a page that arrives adds rows, and changes none. */
function useGraph(commits: readonly Commit[], isFirstParent: boolean): readonly GraphRow[] {
  const first = commits[0]?.id;
  const lanes = useMemo(() => new Lanes(), [first, isFirstParent]);
  return useMemo(() => {
    const shown = isFirstParent
      ? commits.map(({ id, parents }) => ({ id, parents: parents.slice(0, 1) }))
      : commits;
    lanes.add(shown);
    return [...lanes.rows];
  }, [lanes, commits.length]);
}

interface RowProps {
  commit: Commit;
  graph: GraphRow | undefined;
  width: number;
  names: readonly Name[];
  selection: Selection;
  current: string;
  onDone: () => void;
}

const NAMES_SHOWN = 3;

/** The number of the names that a row has no room for: on a telephone it shows one. */
function OtherNames({ names, isNarrow }: { names: readonly Name[]; isNarrow?: boolean }) {
  const others = names.length - (isNarrow ? 1 : NAMES_SHOWN);
  if (others <= 0) return null;
  return (
    <span
      class={`badge ${isNarrow ? 'narrow-only' : 'wide-only'}`}
      title={names.map(({ id }) => id).join(', ')}
    >
      +{others}
    </span>
  );
}

function CommitRow({ commit, graph, width, names, selection, current, onDone }: RowProps) {
  const repository = useRepository().id;
  const title = titleOf(commit);
  return (
    <>
      <RowCheck name={commit.id} label={`${shortId(commit.id)}, ${title}`} selection={selection} />
      {graph && <Graph row={graph} width={width} isMerge={commit.parents.length > 1} />}
      <span class={`grow ${styles.title}`}>
        {names.slice(0, NAMES_SHOWN).map(({ kind, id }, index) => (
          <a
            key={`${kind} ${id}`}
            class={`badge ${kind === 'tag' ? 'amber' : 'indigo'} ${index ? 'wide-only' : ''}`}
            title={`${kind} ${id}`}
            href={links.objects(repository, id)}
          >
            <Icon name={kind} />
            <span class={`cut ${styles.name}`}>{id}</span>
          </a>
        ))}
        <OtherNames names={names} isNarrow />
        <OtherNames names={names} />
        <a
          class={`cut ${styles.message}`}
          href={links.commit(repository, commit.id)}
          title={visible(commit.message)}
        >
          {title}
        </a>
      </span>
      <span class={`small quiet cut wide-only ${styles.by}`}>{commit.committer}</span>
      <span class={`small quiet wide-only ${styles.time}`}>
        <Time at={commit.creation_date} />
      </span>
      <a class="mono wide-only" href={links.commit(repository, commit.id)}>
        {commit.id.slice(0, 8)}
      </a>
      <span class="wide-only">
        <CopyButton text={commit.id} label="Copy the commit's ID" />
      </span>
      <CommitMenu commit={commit} branch={current} onDone={onDone} />
    </>
  );
}
