/** All branches: find, create, protect, compare, delete. */

import { useState } from 'preact/hooks';
import { apiRead } from '../../api/cache';
import type { Schemas } from '../../api/client';
import { type Pages, usePages, useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { CheckField } from '../../parts/field';
import { VirtualList } from '../../parts/list';
import { useRules } from '../../parts/protection';
import { useQuery } from '../../parts/query';
import { useRepository } from '../../parts/repository';
import { SearchBox } from '../../parts/search-box';
import { useSelection } from '../../parts/selection';
import { useSettled } from '../../parts/settled';
import { Empty, Notice, Problem } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { BranchRow, type Shared } from './branch-row';
import styles from './branches.module.css';
import { CreateRef } from './create';
import { DeleteRefs } from './delete';

type Branch = Schemas['BranchRow'];

const PAGE = 1000;

type Open = { kind: 'branch' | 'tag'; source: string } | { kind: 'delete'; names: string[] };

export default function Branches() {
  const { id: repository, default_branch, read_only } = useRepository();
  useTitle('Branches', repository);
  const [{ prefix = '', sort = '', distance = '' }, setQuery] = useQuery();
  const [open, setOpen] = useState<Open>();
  const selection = useSelection();
  const selected = selection.names;
  const found = useSettled(prefix);
  const pages = usePages(after =>
    apiRead('/repositories/{repository}/branches', {
      path: { repository },
      query: { prefix: found, after, amount: PAGE, with_commits: true },
    }),
  );
  const rules = useRules(repository);
  const head = useResource(
    apiRead('/repositories/{repository}/branches/{branch}', {
      path: { repository, branch: default_branch },
    }),
  );
  const narrow = (changed: Record<string, string>) => setQuery(changed, true);
  const shared: Shared = {
    repository,
    defaultBranch: default_branch,
    isReadOnly: read_only,
    rules: rules.data?.map(({ pattern }) => pattern) ?? [],
    head: distance ? head.data?.commit_id : undefined,
    onRules: rules.reload,
    onCreate: (kind, source) => setOpen({ kind, source }),
    onDelete: name => setOpen({ kind: 'delete', names: [name] }),
  };
  return (
    <>
      <BranchesHead
        isReadOnly={read_only}
        onCreate={() => setOpen({ kind: 'branch', source: default_branch })}
      />
      <div class="stack">
        <BranchesTools {...{ prefix, sort, narrow }} hasMore={pages.hasMore} distance={distance} />
        <Problem failure={rules.failure} retry={rules.reload} />
        <Problem failure={distance ? head.failure : undefined} retry={head.reload} />
        {sort === 'time' && pages.hasMore && !pages.isLoading && (
          <Notice>
            The list is sorted by name: times need all branches, and not all are loaded. Scroll to
            the end, or narrow the search.
          </Notice>
        )}
        {selected.size > 0 && (
          <div class="bar" role="status">
            <span>{selected.size} selected</span>
            <Button
              isSmall
              icon="trash"
              disabled={read_only}
              onClick={() => setOpen({ kind: 'delete', names: [...selected] })}
            >
              Delete selected
            </Button>
            <Button isSmall kind="ghost" onClick={selection.clear}>
              Clear selection
            </Button>
          </div>
        )}
        <VirtualList
          pages={sortedPages(pages, sort === 'time' && !pages.hasMore)}
          label="Branches"
          keyOf={branch => branch.id}
          row={branch => <BranchRow {...{ branch, shared }} selection={selection} />}
          empty={
            <Empty
              icon="search"
              title={`No branch’s name begins with “${found}”`}
              actions={<Button onClick={() => narrow({ prefix: '' })}>Show all</Button>}
            />
          }
        />
      </div>
      {open && open.kind !== 'delete' && (
        <CreateRef
          {...{ repository, ...open }}
          onCreated={pages.reload}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open?.kind === 'delete' && (
        <DeleteRefs
          kind="branch"
          {...{ repository, names: open.names }}
          onDeleted={selection.drop}
          onClose={() => {
            setOpen(undefined);
            pages.reload();
          }}
        />
      )}
    </>
  );
}

function BranchesHead({ isReadOnly, onCreate }: { isReadOnly: boolean; onCreate: () => void }) {
  return (
    <div class="page-head">
      <div class="titles">
        <h1>Branches</h1>
        <p>Each is a version of all objects that changes on its own.</p>
      </div>
      <Button
        kind="primary"
        icon="plus"
        disabled={isReadOnly}
        title={isReadOnly ? 'The repository is read-only' : undefined}
        onClick={onCreate}
      >
        Create branch
      </Button>
    </div>
  );
}

interface ToolsProps {
  prefix: string;
  sort: string;
  distance: string;
  hasMore: boolean;
  narrow: (changed: Record<string, string>) => void;
}

function BranchesTools({ prefix, sort, distance, hasMore, narrow }: ToolsProps) {
  return (
    <div class={styles.tools}>
      <SearchBox
        label="Find branches by the beginning of their names"
        placeholder="Name begins with"
        value={prefix}
        onText={text => narrow({ prefix: text })}
      />
      <select
        class="select"
        aria-label="Sort"
        value={sort}
        onChange={event => narrow({ sort: event.currentTarget.value })}
      >
        <option value="">By name</option>
        <option value="time" disabled={hasMore}>
          {hasMore ? 'Latest first (when all are loaded)' : 'Latest first'}
        </option>
      </select>
      <CheckField
        label="Ahead and behind"
        isChecked={Boolean(distance)}
        onCheck={isChecked => narrow({ distance: isChecked ? 'yes' : '' })}
      />
    </div>
  );
}

/** Return the list with the latest commits first, if it is to be sorted. */
function sortedPages(pages: Pages<Branch>, isSorted: boolean): Pages<Branch> {
  if (!isSorted) return pages;
  const timeOf = ({ commit }: Branch) => commit?.creation_date ?? 0;
  return { ...pages, items: [...pages.items].sort((one, other) => timeOf(other) - timeOf(one)) };
}
