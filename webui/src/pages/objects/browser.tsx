/** The objects of one directory at a ref: find, choose, download, delete, upload. */

import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client';
import { type ObjectStats, PAGE } from '../../api/objects';
import { usePages } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { VirtualList } from '../../parts/list';
import { RefPicker } from '../../parts/ref-picker';
import { useSelection } from '../../parts/selection';
import { Empty, Notice, Problem } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { tell } from '../../parts/toast';
import { countText } from '../../parts/words';
import { useCurrentRef, useRepository } from '../../shell/repository';
import { Crumbs } from './crumbs';
import { DeleteObjects } from './delete';
import { downloadAll } from './downloads';
import { FirstSteps } from './first-steps';
import { Readme } from './readme';
import { ObjectRow } from './row';
import './styles.css';
import { DropZone } from './drop';
import type { Dropped } from './dropped';
import { DirectorySize } from './size';
import { useBranch, useUncommitted } from './uncommitted';
import { UploadDialog, useWhenUploaded } from './upload';
import { clearEnded, isUploading, uploads } from './uploads';

export default function ObjectsBrowser() {
  const repository = useRepository();
  const { query, route } = useLocation();
  const ref = useCurrentRef();
  const path = query.path ?? '';
  const filter = query.filter ?? '';
  useTitle(path || 'Objects', repository.id);
  const branch = useBranch(repository.id, ref);
  const changes = useUncommitted(repository.id, branch.data ? ref : undefined, path);
  const pages = usePages<ObjectStats>([repository.id, ref, path, filter], (after, signal) =>
    answer(
      api.GET('/repositories/{repository}/refs/{ref}/objects/ls', {
        params: {
          path: { repository: repository.id, ref },
          query: { prefix: path + filter, delimiter: '/', after, amount: PAGE },
        },
        signal,
      }),
    ),
  );
  const place = `${repository.id}\n${ref}\n${path}\n${filter}`;
  const reload = () => {
    pages.reload();
    changes.reload();
  };
  const [dropped, setDropped] = useState<Dropped[]>();
  useWhenUploaded(() => {
    reload();
    if (dropped) return; // the dialog shows how they ended
    if (uploads.value.some(({ state }) => state === 'failed')) setDropped([]);
    else clearEnded();
  });
  const readOnly = repository.read_only
    ? 'This repository is read-only'
    : branch.data
      ? undefined
      : 'Choose a branch to change objects';
  const goTo = (to: { ref?: string; path?: string; filter?: string }, isReplacing = false) => {
    const href = links.objects(repository.id, to.ref ?? ref, to.path ?? path);
    route(to.filter ? `${href}&${new URLSearchParams({ filter: to.filter })}` : href, isReplacing);
  };
  const listing = (
    <Listing
      key={place}
      {...{ pages, path, filter, at: ref, changes: changes.data?.kinds, readOnly, reload }}
      onUpload={() => setDropped([])}
      onClear={() => goTo({ filter: '' }, true)}
    />
  );
  return (
    <DropZone isActive={!readOnly} onDrop={setDropped}>
      <h1 class="visually-hidden">Objects {path}</h1>
      <div class="stack">
        <div class="bar">
          <RefPicker
            repository={repository.id}
            value={ref}
            label="Objects at"
            onChoose={chosen => goTo({ ref: chosen })}
          />
          <Filter text={filter} onText={text => goTo({ filter: text }, true)} />
          <span class="push bar">
            <Button
              kind="primary"
              icon="upload"
              disabled={Boolean(readOnly)}
              title={readOnly}
              onClick={() => setDropped([])}
            >
              {isUploading.value ? 'Uploading…' : 'Upload'}
            </Button>
          </span>
        </div>
        <div class="bar">
          <Crumbs repository={repository.id} at={ref} path={path} />
          <span class="push">
            {pages.items.length > 0 && (
              <DirectorySize key={place} repository={repository.id} at={ref} path={path} />
            )}
          </span>
        </div>
        <Uncommitted repository={repository.id} at={ref} changes={changes} />
        {path || filter ? listing : <FirstSteps>{listing}</FirstSteps>}
        <Readme items={pages.items} directory={{ repository: repository.id, ref, path }} />
      </div>
      {dropped && (
        <UploadDialog
          repository={repository.id}
          branch={ref}
          directory={path}
          dropped={dropped}
          onClose={() => setDropped(undefined)}
        />
      )}
    </DropZone>
  );
}

interface UncommittedProps {
  repository: string;
  at: string;
  changes: ReturnType<typeof useUncommitted>;
}

/** Says that the directory has uncommitted changes, if it has. */
function Uncommitted({ repository, at, changes: { data, failure, reload } }: UncommittedProps) {
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data?.count) return null;
  return (
    <Notice kind="warning">
      {data.isCut && 'More than '}
      {countText(data.count, 'entry', 'entries')} here {data.count === 1 ? 'has' : 'have'}{' '}
      uncommitted changes. <a href={links.changes(repository, at)}>See all changes</a>
    </Notice>
  );
}

function Filter({ text, onText }: { text: string; onText: (text: string) => void }) {
  return (
    <div class="search-box">
      <Icon name="filter" />
      <input
        class="input search"
        type="search"
        aria-label="Names that begin with"
        placeholder="Names that begin with…"
        value={text}
        onInput={event => onText(event.currentTarget.value)}
      />
    </div>
  );
}

interface ListingProps {
  pages: ReturnType<typeof usePages<ObjectStats>>;
  at: string;
  path: string;
  filter: string;
  changes: ReadonlyMap<string, string> | undefined;
  /** Why nothing can be changed here. */
  readOnly: string | undefined;
  reload: () => void;
  onUpload: () => void;
  onClear: () => void;
}

/** The rows, and what can be done with those that are chosen. */
function Listing({ pages, at, path, filter, changes, readOnly, reload, ...does }: ListingProps) {
  const repository = useRepository().id;
  const selection = useSelection();
  const [deleted, setDeleted] = useState<string[]>();
  const all = useMemo(() => pages.items.map(item => item.path), [pages.items]);
  const chosen = [...selection.names];
  const files = chosen.filter(name => !name.endsWith('/'));
  return (
    <div class="stack tight">
      {chosen.length > 0 && (
        <div class="bar selection-bar" role="status">
          <span class="strong">{chosen.length.toLocaleString('en')} chosen</span>
          <Button
            isSmall
            icon="download"
            disabled={!files.length}
            onClick={() => downloadAll(files.map(name => ({ repository, ref: at, path: name })))}
          >
            Download {countText(files.length, 'object')}
          </Button>
          <Button
            isSmall
            icon="trash"
            disabled={Boolean(readOnly)}
            title={readOnly}
            onClick={() => setDeleted(chosen)}
          >
            Delete {chosen.length.toLocaleString('en')}
          </Button>
          <Button isSmall kind="ghost" onClick={selection.clear}>
            Choose none
          </Button>
        </div>
      )}
      <VirtualList
        pages={pages}
        label="Objects"
        keyOf={item => item.path}
        row={item => (
          <ObjectRow
            {...{ item, repository, at, directory: path, selection, all, readOnly }}
            change={changes?.get(item.path)}
            onDelete={() => setDeleted([item.path])}
          />
        )}
        empty={<NoObjects {...{ path, filter, at, readOnly }} {...does} />}
      />
      {deleted && (
        <DeleteObjects
          repository={repository}
          branch={at}
          names={deleted}
          onClose={() => setDeleted(undefined)}
          onDeleted={count => {
            tell(`${countText(count, 'object')} deleted from ${at}`);
            selection.clear();
            reload();
          }}
        />
      )}
    </div>
  );
}

type NoObjectsProps = Pick<
  ListingProps,
  'path' | 'filter' | 'at' | 'readOnly' | 'onUpload' | 'onClear'
>;

function NoObjects({ path, filter, at, readOnly, onUpload, onClear }: NoObjectsProps) {
  const repository = useRepository().id;
  if (filter)
    return (
      <Empty
        icon="search"
        title={`No name here begins with “${filter}”`}
        actions={<Button onClick={onClear}>Show all</Button>}
      />
    );
  return (
    <div class="rows">
      <Empty
        icon="upload"
        title={path ? 'No objects here' : `No objects at ${at} yet`}
        actions={
          <Button
            kind="primary"
            icon="upload"
            disabled={Boolean(readOnly)}
            title={readOnly}
            onClick={onUpload}
          >
            Upload
          </Button>
        }
      >
        {readOnly ?? 'Drop files or folders anywhere on this page. Or use the command line: '}
        {!readOnly && (
          <code class="wrap-anywhere">
            graveler fs upload --recursive -s ./data lakefs://{repository}/{at}/{path}
          </code>
        )}
      </Empty>
    </div>
  );
}
