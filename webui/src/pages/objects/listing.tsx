/** The rows of a directory, and what can be done with those that are chosen. */

import { useMemo, useState } from 'preact/hooks';
import { type Entry, isFolder } from '../../api/objects';
import { links } from '../../links';
import { Button, LinkButton } from '../../parts/button';
import { VirtualList } from '../../parts/list';
import { type Selection, useSelection } from '../../parts/selection';
import { Empty } from '../../parts/state';
import { tell } from '../../parts/toast';
import { countText, integerText } from '../../parts/words';
import { DeleteObjects } from './delete';
import type { Directory } from './directory';
import { DOWNLOADS_MAX, downloadAll } from './downloads';
import { HeadCommit } from './head-commit';
import { useLastCommits } from './last-commits';
import styles from './listing.module.css';
import { MoveDialog } from './move/dialog';
import { ObjectRow } from './row';

interface ListingProps {
  directory: Directory;
  onUpload: () => void;
  /** Told when objects came, moved or went. */
  onChanged: () => void;
}

export function Listing({ directory, onUpload, onChanged }: ListingProps) {
  const { repository, ref, path, filter, pages, changes, readOnly } = directory;
  const selection = useSelection();
  const commits = useLastCommits(repository, ref, path + filter, pages.items);
  const [deleted, setDeleted] = useState<readonly Entry[]>();
  const [moved, setMoved] = useState<{ source: Entry; isCopy: boolean }>();
  const all = useMemo(() => pages.items.map(item => item.path), [pages.items]);
  return (
    <div class="stack tight">
      {selection.names.size > 0 && <Chosen {...{ directory, selection }} onDelete={setDeleted} />}
      {commits.head && <HeadCommit repository={repository} commit={commits.head} />}
      <VirtualList
        pages={pages}
        onLast={commits.onLast}
        head={<Columns />}
        label="Objects"
        keyOf={item => item.path}
        row={item => (
          <ObjectRow
            {...{ item, repository, at: ref, directory: path, selection, all, readOnly }}
            change={changes.data?.kinds.get(item.path)}
            commit={commits.byPath.get(item.path)}
            onDelete={() => setDeleted([item])}
            onMove={isCopy => setMoved({ source: item, isCopy })}
          />
        )}
        empty={<NoObjects {...{ directory, onUpload }} />}
      />
      {deleted && (
        <DeleteObjects
          repository={repository}
          branch={ref}
          entries={deleted}
          onClose={() => setDeleted(undefined)}
          onDeleted={count => {
            tell(`${countText(count, 'object')} deleted from ${ref}`);
            selection.clear();
            onChanged();
          }}
        />
      )}
      {moved && (
        <MoveDialog
          {...{ repository, branch: ref, ...moved }}
          onClose={() => {
            setMoved(undefined);
            if (selection.names.has(moved.source.path)) selection.toggle(moved.source.path);
            onChanged();
          }}
        />
      )}
    </div>
  );
}

function Columns() {
  return (
    <span class={styles.columns}>
      <span class="grow">Name</span>
      <span class={`number ${styles.size}`}>Size</span>
      <span class={styles.commit}>Last commit</span>
      <span class={`wide-only ${styles.time}`}>Modified</span>
    </span>
  );
}

interface ChosenProps {
  directory: Directory;
  selection: Selection;
  onDelete: (entries: readonly Entry[]) => void;
}

function Chosen({ directory, selection, onDelete }: ChosenProps) {
  const { repository, ref, readOnly, pages } = directory;
  const chosen = pages.items.filter(({ path }) => selection.names.has(path));
  const objects = chosen.filter(entry => !isFolder(entry));
  const isMany = objects.length > DOWNLOADS_MAX;
  return (
    <div class={`bar ${styles.chosen}`} role="status">
      <span class="strong">{integerText(chosen.length)} chosen</span>
      <Button
        isSmall
        icon="download"
        disabled={!objects.length || isMany}
        title={isMany ? `At most ${DOWNLOADS_MAX} here; for more: graveler fs download` : undefined}
        onClick={() => downloadAll(objects.map(({ path }) => ({ repository, ref, path })))}
      >
        Download {countText(objects.length, 'object')}
      </Button>
      <Button
        isSmall
        icon="trash"
        disabled={Boolean(readOnly)}
        title={readOnly}
        onClick={() => onDelete(chosen)}
      >
        Delete {integerText(chosen.length)}
      </Button>
      <Button isSmall kind="ghost" onClick={selection.clear}>
        Clear selection
      </Button>
    </div>
  );
}

function NoObjects({ directory, onUpload }: Omit<ListingProps, 'onChanged'>) {
  const { repository, ref, path, filter, readOnly, goTo } = directory;
  if (filter)
    return (
      <Empty
        icon="search"
        title={`No name here begins with “${filter}”`}
        actions={<Button onClick={() => goTo({}, true)}>Show all</Button>}
      />
    );
  return (
    <div class="rows">
      <Empty
        icon="upload"
        title={path ? 'No objects here' : `No objects at ${ref} yet`}
        actions={
          <>
            <Button
              kind="primary"
              icon="upload"
              disabled={Boolean(readOnly)}
              title={readOnly}
              onClick={onUpload}
            >
              Upload
            </Button>
            {path && (
              <LinkButton href={links.history(repository, ref, path)}>Its history</LinkButton>
            )}
          </>
        }
      >
        {readOnly ?? 'Drop files or folders anywhere on this page. Or use the command line: '}
        {!readOnly && (
          <code class="wrap-anywhere">
            graveler fs upload --recursive -s ./data lakefs://{repository}/{ref}/{path}
          </code>
        )}
      </Empty>
    </div>
  );
}
