/** The commits that changed an object, or anything in a folder. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { apiRead, type Read } from '../../api/cache';
import type { Schemas } from '../../api/client';
import { download } from '../../api/objects';
import { type Page, useAllPages, usePages } from '../../api/resource';
import { configuration } from '../../api/session';
import { links } from '../../links';
import { Badge } from '../../parts/badge';
import { Button, LinkButton } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { PagedList } from '../../parts/list';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { Empty } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { shortId, sizeText, titleOf, visible } from '../../parts/words';
import { Crumbs } from './crumbs';
import styles from './history.module.css';
import { ObjectNav } from './nav';
import { RestoreDialog } from './restore/dialog';
import { isFolderPath, type Version, versionOf } from './restore/plan';

const SHOWN = 30;

type ObjectChange = Schemas['ObjectChangeRow'];

/** A commit; of an object also what it did to it. */
type Change = Pick<ObjectChange, 'commit'> & Partial<ObjectChange>;

const LOOKS = { added: 'green', changed: 'amber', removed: 'red' } as const;
const TEXTS = { added: 'Added', changed: 'Changed', removed: 'Deleted' };

function readChanges(
  place: { repository: string; ref: string },
  path: string,
  isFolder: boolean,
  after: string,
): Read<Page<Change>> {
  if (!isFolder)
    return apiRead('/repositories/{repository}/refs/{ref}/objects/history', {
      path: place,
      query: { path, after, amount: SHOWN },
    });
  const read = apiRead('/repositories/{repository}/refs/{ref}/commits', {
    path: place,
    query: { after, amount: SHOWN, ...(path && { prefixes: [path] }) },
  });
  const load = async (signal: AbortSignal) => {
    const page = await read.load(signal);
    return { ...page, results: page.results.map(commit => ({ commit })) };
  };
  return { ...read, name: `${read.name} as changes`, load };
}

export default function ObjectHistory() {
  const repository = useRepository().id;
  const { query, route } = useLocation();
  const ref = useCurrentRef();
  const path = query.path ?? '';
  const isFolder = isFolderPath(path);
  useTitle(`History of ${path || 'all objects'}`, repository);
  const pages = usePages<Change>(after => readChanges({ repository, ref }, path, isFolder, after));
  // A page is empty if the search took long.
  const isSearching = !pages.items.length && pages.hasMore && !pages.failure;
  useAllPages(pages, isSearching);
  const [restored, setRestored] = useState<Version>();
  return (
    <div class="stack">
      <h1 class="visually-hidden">History of {visible(path) || 'all objects'}</h1>
      <RefPicker
        repository={repository}
        value={ref}
        label="History of"
        onChoose={chosen => route(links.history(repository, chosen, path))}
      />
      <Crumbs repository={repository} at={ref} path={path} />
      <ObjectNav place={{ repository, ref, path }} here="history" />
      {(pages.isLoading || isSearching) && (
        <p class="small quiet" role="status">
          Searching the commits of {shortId(ref)}. A long history takes a while…
        </p>
      )}
      <PagedList
        pages={{ ...pages, isLoading: pages.isLoading || isSearching }}
        label="Commits"
        keyOf={({ commit }) => commit.id}
        row={({ commit, type, size_bytes }) => (
          <div class={`bar roomy ${styles.change}`}>
            <Icon name="commit" />
            <div class="grow">
              {type && <Badge colour={LOOKS[type]}>{TEXTS[type]}</Badge>}{' '}
              <a class="strong" href={links.commit(repository, commit.id)}>
                {titleOf(commit)}
              </a>
              <div class="small quiet">
                {commit.committer && `${commit.committer}, `}
                <Time at={commit.creation_date} />,{' '}
                {type && type !== 'removed' && `${sizeText(size_bytes ?? 0)}, `}
                <span class="mono">{shortId(commit.id)}</span>
              </div>
            </div>
            <VersionActions
              version={versionOf(repository, path, commit, type)}
              onRestore={setRestored}
            />
          </div>
        )}
        empty={
          <Empty icon="history" title="No commit has changed this yet">
            What is uncommitted appears here after its commit.
          </Empty>
        }
      />
      {restored && <RestoreDialog version={restored} onClose={() => setRestored(undefined)} />}
    </div>
  );
}

interface VersionProps {
  version: Version;
  onRestore: (version: Version) => void;
}

function VersionActions({ version, onRestore }: VersionProps) {
  const { repository, ref, path } = version;
  const isFolder = isFolderPath(path);
  return (
    <span class="bar">
      <LinkButton
        isSmall
        icon="eye"
        href={(isFolder ? links.objects : links.object)(repository, ref, path)}
      >
        Open this version
      </LinkButton>
      {!isFolder && <DownloadVersion {...version} />}
      <Button isSmall icon="undo" onClick={() => onRestore(version)}>
        Restore to branch…
      </Button>
    </span>
  );
}

function DownloadVersion(version: Version) {
  const isPresigned = configuration.value?.storage_config.pre_sign_support_ui ?? false;
  return (
    <Button
      isSmall
      icon="download"
      label="Download this version"
      onClick={() => download(version, isPresigned)}
    />
  );
}
