/** A diff of any size: as folders or as one list, with filters in the address; a row opens its object's diff. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Pages, useAllPages, usePages } from '../../api/resource';
import { links } from '../../links';
import { Button, LinkButton } from '../button';
import { objectText } from '../iceberg-names';
import { Icon } from '../icon';
import { VirtualList } from '../list';
import { useQuery } from '../query';
import { PathBox } from '../search-box';
import { Problem } from '../state';
import { countText, sizeText, visible } from '../words';
import { CountBadges, FolderCounts, Sign } from './counts';
import { ObjectDiff } from './object';
import { countRows, type DiffRow, type DiffSource } from './source';
import { type TreeRow, useTree } from './tree';
import styles from './view.module.css';

const OF_ONE_OBJECT = ['match', 'rows', 'sort', 'order', 'filter'];

interface DiffProps {
  source: DiffSource;
  /** Shown in place of a diff without changes. */
  empty: ComponentChildren;
  /** Buttons at the end of a row; the path of a folder ends in a slash. */
  rowActions?: (row: DiffRow) => ComponentChildren;
  /** A higher number loads the diff anew. */
  version?: number;
}

export function Diff({ source, empty, rowActions, version = 0 }: DiffProps) {
  const [query, setQuery] = useQuery();
  const { prefix = '', type = '', view = 'tree', object } = query;
  const pages = usePages<DiffRow>([source.name, prefix, version], (after, signal) =>
    source.load({ prefix, after }, signal),
  );
  const isWhole = !pages.hasMore && !pages.isLoading;
  const isTree = view === 'tree' && (!type || isWhole);
  if (!pages.items.length && !prefix) {
    return (
      <VirtualList pages={pages} label="Changes" row={() => null} keyOf={keyOf} empty={empty} />
    );
  }
  const all = pages.items.filter(row => !type || row.type === type);
  const at = object ? pages.items.findIndex(row => row.path === object) : -1;
  // The next object has other columns.
  const open = (path: string | undefined) =>
    setQuery({ object: path, ...Object.fromEntries(OF_ONE_OBJECT.map(name => [name, undefined])) });
  const shared = { source, rowActions, open };
  return (
    <>
      {object && (
        <ObjectDiff
          key={object}
          source={source}
          path={object}
          row={pages.items[at]}
          previous={at > 0 ? pages.items[at - 1]?.path : undefined}
          next={at >= 0 ? pages.items[at + 1]?.path : undefined}
          open={open}
        />
      )}
      <div class="stack" hidden={Boolean(object)}>
        <Summary pages={pages} />
        <Filters types={source.types} isListed={view === 'tree' && !isTree} />
        {isTree ? (
          <TreeList
            key={`${source.name} ${version}`}
            {...shared}
            root={prefix}
            all={isWhole ? all : undefined}
            isFirstPage={pages.isLoading && !pages.items.length}
          />
        ) : (
          <ObjectList {...shared} pages={pages} rows={all} />
        )}
      </div>
    </>
  );
}

const keyOf = (row: DiffRow) => row.path;

/** Counts what is loaded, and the rest when asked; the count can be stopped. */
function Summary({ pages }: { pages: Pages<DiffRow> }) {
  const { items, hasMore, isLoading, failure, more } = pages;
  const [isCounting, setCounting] = useState(false);
  useAllPages(pages, isCounting);
  return (
    <div class="bar" aria-live="polite">
      <strong>
        {hasMore && !isLoading && 'At least '}
        {countText(items.length, 'changed object')}
      </strong>
      <CountBadges counts={countRows(items)} />
      {hasMore && items.length > 0 && (
        <Button isSmall kind="ghost" onClick={() => setCounting(!isCounting)}>
          {isCounting ? 'Stop counting' : 'Count all'}
        </Button>
      )}
      {isCounting && hasMore && !failure && <span class="spinner" />}
      {isCounting && <Problem failure={failure} retry={more} />}
    </div>
  );
}

function Filters({ types, isListed }: { types: DiffSource['types']; isListed: boolean }) {
  const [{ prefix = '', type = '', view = 'tree' }, setQuery] = useQuery();
  return (
    <div class="bar">
      <PathBox
        label="Show only paths that begin with"
        value={prefix}
        onPath={path => setQuery({ prefix: path })}
      />
      <select
        class={`select ${styles.type}`}
        aria-label="Type of change"
        value={type}
        onChange={event => setQuery({ type: event.currentTarget.value }, true)}
      >
        <option value="">All types</option>
        {types.map(each => (
          <option key={each} value={each}>
            {each[0]?.toUpperCase() + each.slice(1)}
          </option>
        ))}
      </select>
      <fieldset class="segments push" aria-label="Show as">
        <Button
          isSmall
          icon="folder"
          aria-pressed={view === 'tree'}
          onClick={() => setQuery({ view: undefined }, true)}
        >
          Folders
        </Button>
        <Button
          isSmall
          icon="file"
          aria-pressed={view === 'list'}
          onClick={() => setQuery({ view: 'list' }, true)}
        >
          List
        </Button>
      </fieldset>
      {isListed && (
        <span class="small quiet">
          Folders show one type once all changes are counted; this is the list.
        </span>
      )}
    </div>
  );
}

interface ListProps {
  source: DiffSource;
  rowActions: DiffProps['rowActions'];
  open: (path: string) => void;
}

function NoMatch() {
  const [, setQuery] = useQuery();
  return (
    <div class="rows">
      <p class="row quiet">
        No change matches.
        <Button isSmall onClick={() => setQuery({ prefix: undefined, type: undefined })}>
          Show all changes
        </Button>
      </p>
    </div>
  );
}

function ObjectList({
  pages,
  rows,
  ...shared
}: ListProps & { pages: Pages<DiffRow>; rows: DiffRow[] }) {
  // A filter may leave nothing of the pages so far: look on until something matches.
  const isLookingOn = !rows.length && pages.hasMore && !pages.failure;
  useEffect(() => {
    if (isLookingOn && !pages.isLoading) pages.more();
  }, [isLookingOn, pages.isLoading]);
  return (
    <VirtualList
      pages={{ ...pages, items: rows, isLoading: pages.isLoading || isLookingOn }}
      label="Changed objects"
      keyOf={keyOf}
      row={row => <ObjectRow {...shared} row={row} text={row.path} />}
      empty={<NoMatch />}
    />
  );
}

function TreeList({
  source,
  root,
  all,
  rowActions,
  open,
  isFirstPage,
}: ListProps & { root: string; all: DiffRow[] | undefined; isFirstPage: boolean }) {
  const tree = useTree(source, root, all);
  const row = (item: TreeRow) => {
    const indent = { paddingLeft: `${item.depth * 20}px` };
    if (item.kind === 'more') {
      const { failure, isLoading } = item.folder;
      const load = () => tree.loadMore(item.prefix);
      return (
        <span class="bar" style={indent}>
          {isLoading && <span class="spinner" role="status" aria-label="Loading" />}
          <Problem failure={failure} retry={load} />
          {!isLoading && !failure && (
            <Button isSmall kind="ghost" onClick={load}>
              Show more of {item.prefix || 'the top'}
            </Button>
          )}
        </span>
      );
    }
    const { path, path_type } = item.row;
    const above = path.lastIndexOf('/', path.length - 2) + 1;
    const text = item.depth || root.endsWith('/') ? path.slice(above) : path;
    if (path_type !== 'common_prefix')
      return <ObjectRow {...{ row: item.row, text, indent, source, open, rowActions }} />;
    return (
      <>
        <button
          type="button"
          class={`grow ${styles.folder}`}
          style={indent}
          aria-expanded={item.isOpen}
          onClick={() => tree.toggle(path)}
        >
          <Icon name={item.isOpen ? 'down' : 'right'} />
          <Icon name="folder" />
          <span class="cut">{visible(text)}</span>
        </button>
        <FolderCounts source={source} prefix={path} rows={all} />
        {rowActions?.(item.row)}
      </>
    );
  };
  const items = isFirstPage ? [] : tree.rows;
  return (
    <VirtualList
      pages={{
        items,
        failure: undefined,
        isLoading: isFirstPage,
        hasMore: false,
        more: () => {},
        reload: () => {},
      }}
      label="Changed objects by folder"
      keyOf={item =>
        item.kind === 'more' ? `more ${item.prefix}` : `${item.row.path_type} ${item.row.path}`
      }
      row={row}
      empty={<NoMatch />}
    />
  );
}

interface ObjectRowProps {
  source: DiffSource;
  row: DiffRow;
  text: string;
  indent?: { paddingLeft: string };
  open: (path: string) => void;
  rowActions: DiffProps['rowActions'];
}

function ObjectRow({ source, row, text, indent, open, rowActions }: ObjectRowProps) {
  const { repository, sides } = source;
  return (
    <>
      <span class={`grow ${styles.object}`} style={indent}>
        <Sign type={row.type} />
        <button
          type="button"
          class={`link cut ${row.type === 'removed' ? styles.gone : ''}`}
          title={visible(row.path)}
          onClick={() => open(row.path)}
        >
          {objectText(row.path, text)}
        </button>
      </span>
      {row.size_bytes !== undefined && (
        <span class="small quiet number">{sizeText(row.size_bytes)}</span>
      )}
      {row.type === 'removed' && (
        <LinkButton
          kind="ghost"
          isSmall
          icon="history"
          aria-label={`Restore ${row.path}`}
          href={links.object(repository, sides.right, row.path)}
        >
          <span class="wide-only">Restore</span>
        </LinkButton>
      )}
      {rowActions?.(row)}
    </>
  );
}
