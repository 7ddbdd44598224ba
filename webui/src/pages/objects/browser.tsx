/** The objects of one directory at a ref: find, choose, download, delete, upload. */

import { useState } from 'preact/hooks';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { RefPicker } from '../../parts/ref-picker';
import { Notice, Problem } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { countText } from '../../parts/words';
import { Crumbs } from './crumbs';
import { type Directory, useDirectory } from './directory';
import { FirstSteps } from './first-steps';
import { Listing } from './listing';
import { Readme } from './readme';
import './styles.css';
import { DropZone } from './drop';
import type { Dropped } from './dropped';
import { DirectorySize } from './size';
import { UploadDialog, useWhenUploaded } from './upload';
import { clearEnded, isUploading, uploads } from './uploads';

export default function ObjectsBrowser() {
  const directory = useDirectory();
  const { repository, ref, path, filter, pages, readOnly, reload } = directory;
  useTitle(path || 'Objects', repository);
  const [dropped, setDropped] = useState<Dropped[]>();
  useWhenUploaded(() => {
    reload();
    if (dropped) return; // the dialog shows how they ended
    if (uploads.value.some(({ state }) => state === 'failed')) setDropped([]);
    else clearEnded();
  });
  const place = `${repository}\n${ref}\n${path}\n${filter}`;
  const upload = () => setDropped([]);
  return (
    <DropZone isActive={!readOnly} onDrop={setDropped}>
      <h1 class="visually-hidden">Objects {path}</h1>
      <div class="stack">
        <Toolbar directory={directory} onUpload={upload} />
        <div class="bar">
          <Crumbs repository={repository} at={ref} path={path} />
          <span class="push">
            {pages.items.length > 0 && (
              <DirectorySize key={place} repository={repository} at={ref} path={path} />
            )}
          </span>
        </div>
        <Uncommitted directory={directory} />
        {!path && !filter && <FirstSteps />}
        <Listing key={place} directory={directory} onUpload={upload} />
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
    </DropZone>
  );
}

interface ToolbarProps {
  directory: Directory;
  onUpload: () => void;
}

/** Chooses the ref and what is shown of it; adds objects. */
function Toolbar({ directory, onUpload }: ToolbarProps) {
  const { repository, ref, filter, readOnly, goTo } = directory;
  return (
    <div class="bar">
      <RefPicker
        repository={repository}
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
          onClick={onUpload}
        >
          {isUploading.value ? 'Uploading…' : 'Upload'}
        </Button>
      </span>
    </div>
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

/** Says that the directory has uncommitted changes, if it has. */
function Uncommitted({ directory }: { directory: Directory }) {
  const { repository, ref } = directory;
  const { data, failure, reload } = directory.changes;
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data?.count) return null;
  return (
    <Notice kind="warning">
      {data.isCut && 'More than '}
      {countText(data.count, 'entry', 'entries')} here {data.count === 1 ? 'has' : 'have'}{' '}
      uncommitted changes. <a href={links.changes(repository, ref)}>See all changes</a>
    </Notice>
  );
}
