/** The objects of one directory at a ref: find, choose, download, delete, upload. */

import { useState } from 'preact/hooks';
import { configuration } from '../../api/session';
import { links } from '../../links';
import { RunningTask } from '../../parts/branch-task';
import { Button, LinkButton } from '../../parts/button';
import { RefPicker } from '../../parts/ref-picker';
import { SearchBox } from '../../parts/search-box';
import { firstRows, formatOf } from '../../parts/sql/names';
import { Notice, Problem } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { countText, visible } from '../../parts/words';
import { FirstSteps } from '../first-steps/steps';
import { CreateRef } from '../refs/create';
import styles from './browser.module.css';
import { Crumbs } from './crumbs';
import { type Directory, useDirectory } from './directory';
import { DropZone } from './drop';
import type { Dropped } from './dropped';
import { ImportDialog } from './import/dialog';
import { Listing } from './listing';
import { Readme } from './readme';
import { DirectorySize } from './size';
import { UploadDialog, useWhenUploaded } from './upload';
import { clearEnded, counts, isUploading } from './uploads';

export default function ObjectsBrowser() {
  const directory = useDirectory();
  const { repository, ref, path, filter, pages, readOnly, reload } = directory;
  useTitle(path || 'Objects', repository);
  const [dropped, setDropped] = useState<Dropped[]>();
  const [isImporting, setImporting] = useState(false);
  const [isBranching, setBranching] = useState(false);
  // Counts what was begun here, so that its task is looked for at once.
  const [begun, setBegun] = useState(0);
  const changed = () => {
    setBegun(begun + 1);
    reload();
  };
  useWhenUploaded(() => {
    changed();
    if (dropped) return; // the dialog shows how they ended
    if (counts.value.failed) setDropped([]);
    else clearEnded();
  });
  const place = `${repository}\n${ref}\n${path}\n${filter}`;
  const upload = () => setDropped([]);
  const branch = () => setBranching(true);
  const listing = (
    <Listing key={place} directory={directory} onUpload={upload} onChanged={changed} />
  );
  return (
    <DropZone isActive={!readOnly} onDrop={setDropped}>
      <h1 class="visually-hidden">Objects {visible(path)}</h1>
      <div class="stack">
        <Toolbar directory={directory} onUpload={upload} onImport={() => setImporting(true)} />
        <div class="bar">
          <Crumbs repository={repository} at={ref} path={path} />
          <span class={`push bar ${styles.facts}`}>
            <Uncommitted directory={directory} />
            {(pages.isLoading || pages.items.length > 0) && (
              <DirectorySize key={place} repository={repository} at={ref} path={path} />
            )}
          </span>
        </div>
        {!readOnly && (
          <RunningTask
            key={begun}
            repository={repository}
            branch={ref}
            tellsFailure
            onEnd={reload}
          />
        )}
        {directory.isProtected && <Protected branch={ref} onBranch={branch} />}
        {path || filter ? (
          listing
        ) : (
          <FirstSteps version={begun} onBranch={branch} children={listing} />
        )}
        <Readme items={pages.items} directory={{ repository, ref, path }} />
      </div>
      {dropped && (
        <UploadDialog
          repository={repository}
          branch={ref}
          directory={path}
          dropped={dropped}
          onClose={() => setDropped(undefined)}
        />
      )}
      {isBranching && (
        <CreateRef
          kind="branch"
          repository={repository}
          source={ref}
          onCreated={name => {
            changed();
            directory.goTo({ ref: name });
          }}
          onClose={() => setBranching(false)}
        />
      )}
      {isImporting && (
        <ImportDialog
          directory={directory}
          onClose={() => {
            setImporting(false);
            changed();
          }}
        />
      )}
    </DropZone>
  );
}

/** Says how a protected branch changes, and begins it. */
function Protected({ branch, onBranch }: { branch: string; onBranch: () => void }) {
  return (
    <Notice>
      <div class="bar">
        <span class="grow">
          {branch} is protected: its objects change only when another branch is merged into it.
        </span>
        <Button isSmall icon="branch" onClick={onBranch}>
          Create branch
        </Button>
      </div>
    </Notice>
  );
}

interface ToolbarProps {
  directory: Directory;
  onUpload: () => void;
  onImport: () => void;
}

/** Chooses the ref and what is shown of it; adds objects. */
function Toolbar({ directory, onUpload, onImport }: ToolbarProps) {
  const { repository, ref, path, typed, pages, readOnly, goTo } = directory;
  const noImport =
    readOnly ??
    (configuration.value?.storage_config.import_support
      ? undefined
      : 'This deployment has no place to import from: its setting “readable” names them');
  return (
    <div class="bar">
      <RefPicker
        repository={repository}
        value={ref}
        label="Objects at"
        onChoose={chosen => goTo({ ref: chosen })}
      />
      <SearchBox
        icon="filter"
        label="Names that begin with"
        placeholder="Names that begin with…"
        value={typed}
        onText={text => goTo({ filter: text }, true)}
      />
      <span class="push bar">
        {pages.items.some(({ path: each }) => formatOf(each)) && (
          <LinkButton icon="table" href={links.sql(repository, ref, path && firstRows(path))}>
            Query
          </LinkButton>
        )}
        <Button icon="import" disabled={Boolean(noImport)} title={noImport} onClick={onImport}>
          Import
        </Button>
        <Button
          kind="primary"
          icon="upload"
          disabled={Boolean(readOnly)}
          title={readOnly}
          onClick={onUpload}
        >
          {isUploading.value ? 'Uploading…' : 'Upload'}
        </Button>
      </span>
    </div>
  );
}

/** Says how many entries of the directory have uncommitted changes, and leads to all of them. */
function Uncommitted({ directory }: { directory: Directory }) {
  const { repository, ref } = directory;
  const { data, failure, reload } = directory.changes;
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data?.count) return null;
  return (
    <a
      class="badge amber"
      href={links.changes(repository, ref)}
      title="See all uncommitted changes of the branch"
    >
      {data.isCut && 'more than '}
      {countText(data.count, 'uncommitted change', 'uncommitted changes')}
    </a>
  );
}
