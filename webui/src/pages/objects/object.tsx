/** One object: its facts, its preview, its metadata. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { NO_DATA } from '../../api/client';
import { contentAddress, hasData, type ObjectStats, type Place, stat } from '../../api/objects';
import { useResource } from '../../api/resource';
import { configuration } from '../../api/session';
import { links } from '../../links';
import { Button, LinkButton } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { Menu } from '../../parts/menu';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { firstRows, formatOf } from '../../parts/sql/names';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { tell } from '../../parts/toast';
import { integerText, sizeText, visible } from '../../parts/words';
import { Crumbs } from './crumbs';
import { DeleteObjects } from './delete';
import { DeletedObject } from './deleted';
import { EditMetadata } from './metadata';
import { MoveDialog } from './move/dialog';
import { ObjectNav } from './nav';
import { Preview } from './preview';
import { RestoreDialog } from './restore/dialog';
import { ChangeEntries, copyPermanent } from './row';
import { useReadOnly } from './uncommitted';
import { UseInCode } from './use-in-code';

export default function ObjectPage() {
  const repository = useRepository();
  const { query, route } = useLocation();
  const ref = useCurrentRef();
  const path = query.path ?? '';
  const place = { repository: repository.id, ref, path };
  useTitle(path.split('/').at(-1) ?? path, repository.id);
  const { branch, readOnly } = useReadOnly(ref);
  const { data, failure, reload } = useResource([place], async signal =>
    // While another page is on its way, its address is here already.
    path ? Promise.all([stat(place, signal), hasData(place, signal)]) : undefined,
  );
  const [stats, isThere = true] = data ?? [];
  return (
    <div class="stack">
      <h1 class="visually-hidden">{visible(path)}</h1>
      <div class="bar">
        <RefPicker
          repository={repository.id}
          value={ref}
          label="Object at"
          onChoose={chosen => route(links.object(repository.id, chosen, path))}
        />
        {stats && <Actions {...{ place, branch, readOnly, stats, isThere, reload }} />}
      </div>
      <Crumbs repository={repository.id} at={ref} path={path} />
      <ObjectNav place={place} here="content" />
      {failure?.status === 404 ? (
        <DeletedObject place={place} onRestored={reload} />
      ) : (
        <Problem failure={failure} retry={reload} />
      )}
      {!stats && !failure && <Skeleton />}
      {!isThere && (
        <Empty
          icon="file"
          title="This object has no data any more"
          actions={
            <LinkButton href={links.history(repository.id, ref, path)}>Other versions</LinkButton>
          }
        >
          {NO_DATA}
        </Empty>
      )}
      {stats && isThere && (
        <Preview key={`${ref} ${stats.checksum} ${path}`} place={place} stats={stats} />
      )}
      {stats && <Facts stats={stats} />}
    </div>
  );
}

interface ActionsProps {
  place: Place;
  stats: ObjectStats;
  /** Whether the object's data exist. */
  isThere: boolean;
  /** Nothing if the ref is no branch, or not known to be one yet. */
  branch: unknown;
  readOnly: string | undefined;
  reload: () => void;
}

function Actions({ place, stats, isThere, branch, readOnly, reload }: ActionsProps) {
  const { route } = useLocation();
  const [open, setOpen] = useState<'delete' | 'metadata' | 'move' | 'copy' | 'restore' | 'code'>();
  const { repository, ref, path } = place;
  const isPresigned = configuration.value?.storage_config.pre_sign_support_ui ?? false;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return (
    <span class="push bar">
      {!branch && isThere && (
        <Button icon="undo" onClick={() => setOpen('restore')}>
          Restore to branch…
        </Button>
      )}
      {isThere && (
        <Button icon="code" onClick={() => setOpen('code')}>
          Use in code
        </Button>
      )}
      {isThere && formatOf(path) && (
        <LinkButton icon="table" href={links.sql(repository, ref, firstRows(path))}>
          Query
        </LinkButton>
      )}
      {isThere && (
        <LinkButton
          kind="primary"
          icon="download"
          href={contentAddress(place, isPresigned)}
          download={path.split('/').at(-1)}
          rel="noreferrer"
        >
          Download
        </LinkButton>
      )}
      <Menu label="More actions">
        <button type="button" onClick={() => copyPermanent(repository, ref, path, false)}>
          <Icon name="link" />
          Copy permanent link
        </button>
        <button
          type="button"
          disabled={Boolean(readOnly)}
          title={readOnly}
          onClick={() => setOpen('metadata')}
        >
          <Icon name="edit" />
          Edit metadata…
        </button>
        <hr />
        <ChangeEntries
          isFolder={false}
          readOnly={readOnly}
          onDelete={() => setOpen('delete')}
          onMove={isCopy => setOpen(isCopy ? 'copy' : 'move')}
        />
      </Menu>
      {open === 'code' && <UseInCode place={place} onClose={() => setOpen(undefined)} />}
      {open === 'restore' && (
        <RestoreDialog version={{ ...place, isObject: true }} onClose={() => setOpen(undefined)} />
      )}
      {open === 'metadata' && (
        <EditMetadata
          place={place}
          metadata={stats.metadata ?? {}}
          onClose={() => setOpen(undefined)}
          onSaved={reload}
        />
      )}
      {(open === 'move' || open === 'copy') && (
        <MoveDialog
          {...{ repository, branch: ref, source: stats, isCopy: open === 'copy' }}
          onClose={() => setOpen(undefined)}
          onMoved={target => route(links.object(repository, ref, target))}
        />
      )}
      {open === 'delete' && (
        <DeleteObjects
          repository={repository}
          branch={ref}
          entries={[stats]}
          onClose={() => setOpen(undefined)}
          onDeleted={() => {
            tell(`${path} is deleted from ${ref}`);
            route(links.objects(repository, ref, folder));
          }}
        />
      )}
    </span>
  );
}

function Facts({ stats }: { stats: ObjectStats }) {
  const metadata = Object.entries(stats.metadata ?? {});
  return (
    <section class="card" aria-label="Facts">
      <div class="card-head">
        <h2>Facts</h2>
      </div>
      <dl class="facts card-body">
        <dt>Size</dt>
        <dd>
          {sizeText(stats.size_bytes)}{' '}
          <span class="quiet">({integerText(stats.size_bytes)} bytes)</span>
        </dd>
        <dt>Changed</dt>
        <dd>{stats.mtime > 0 ? <Time at={stats.mtime} /> : 'Unknown'}</dd>
        <dt>Type</dt>
        <dd>{stats.content_type || 'Not given'}</dd>
        <dt>Checksum</dt>
        <dd class="mono">{stats.checksum}</dd>
        <dt>Physical address</dt>
        <dd class="mono">{stats.physical_address}</dd>
        {metadata.map(([key, value]) => (
          <>
            <dt key={key}>{key}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
