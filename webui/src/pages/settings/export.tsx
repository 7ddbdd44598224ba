/** Continuous export of one branch: its configuration, its state, its past runs. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api, Failure } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { Docs } from '../../parts/docs';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { tell } from '../../parts/toast';
import { type Configuration, EditExport } from './edit-export';
import { ExportHistory, ExportState } from './export-state';

const CONFIGURATION = '/repositories/{repository}/branches/{branch}/continuous-export';

interface Place {
  repository: string;
  branch: string;
}

/** Return the configuration; null if the branch has none. */
async function load(path: Place, signal: AbortSignal): Promise<Configuration | null> {
  try {
    return await answer(api.GET(CONFIGURATION, { params: { path }, signal }));
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return null;
    throw error;
  }
}

export function Export() {
  const { id: repository, read_only } = useRepository();
  const branch = useCurrentRef();
  const { route } = useLocation();
  const path = { repository, branch };
  const loaded = useResource(['export', repository, branch], signal => load(path, signal));
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const { data } = loaded;
  // Counts what was saved here and what runs have done since, so that both parts look again.
  const [saved, setSaved] = useState(0);
  const [seen, setSeen] = useState(0);
  const close = () => setDialog(undefined);
  return (
    <div class="stack loose">
      <div class="page-head">
        <div class="titles">
          <h1>Continuous export</h1>
          <p>
            Keeps a branch as plain objects, for clients that do not know about versions.
            <Docs page="continuous-export.md" />
          </p>
        </div>
        <RefPicker
          repository={repository}
          value={branch}
          kinds={['branch']}
          label="Branch to export"
          onChoose={ref =>
            route(`${links.settings(repository, 'export')}?${new URLSearchParams({ ref })}`)
          }
        />
      </div>
      <Problem failure={loaded.failure} retry={loaded.reload} />
      {data === undefined && !loaded.failure && <Skeleton />}
      {data === null && (
        <NoExport branch={branch} isReadOnly={read_only} onStart={() => setDialog('edit')} />
      )}
      {data && (
        <>
          <ExportState
            key={`${branch} ${saved}`}
            {...path}
            onChange={() => setSeen(old => old + 1)}
          />
          <ExportFacts configuration={data} />
          <div class="bar">
            <Button icon="edit" disabled={read_only} onClick={() => setDialog('edit')}>
              Edit configuration
            </Button>
            <Button icon="trash" disabled={read_only} onClick={() => setDialog('delete')}>
              Delete configuration
            </Button>
          </div>
          <ExportHistory {...path} version={seen} />
        </>
      )}
      {dialog === 'edit' && (
        <EditExport
          {...path}
          before={data ?? undefined}
          onSaved={() => {
            loaded.reload();
            setSaved(old => old + 1);
          }}
          onClose={close}
        />
      )}
      {dialog === 'delete' && data && (
        <DeleteExport {...path} configuration={data} onDeleted={loaded.reload} onClose={close} />
      )}
    </div>
  );
}

interface DeleteProps extends Place {
  configuration: Configuration;
  onDeleted: () => void;
  onClose: () => void;
}

function DeleteExport({ configuration, onDeleted, onClose, ...path }: DeleteProps) {
  const { branch } = path;
  const act = async () => {
    await answer(api.DELETE(CONFIGURATION, { params: { path } }));
    tell(`Branch ${branch} is no longer exported.`);
    onDeleted();
  };
  return (
    <Confirm
      title={`Stop the export of ${branch}?`}
      action="Delete configuration"
      {...{ act, onClose }}
    >
      <p>
        The export of <b>{branch}</b> ends, within seconds if it is running. Exported objects and
        reports stay at <code>{configuration.exportPath}</code>.
      </p>
    </Confirm>
  );
}

interface NoExportProps {
  branch: string;
  isReadOnly: boolean;
  onStart: () => void;
}

function NoExport({ branch, isReadOnly, onStart }: NoExportProps) {
  return (
    <div class="card">
      <Empty
        icon="export"
        title={`Branch ${branch} is not exported`}
        actions={
          <Button
            kind="primary"
            disabled={isReadOnly}
            title={isReadOnly ? 'The repository is read-only.' : undefined}
            onClick={onStart}
          >
            Set up an export
          </Button>
        }
      >
        Choose a path in S3. The head of the branch is copied there, and every later commit if you
        wish.
      </Empty>
    </div>
  );
}

function ExportFacts({ configuration }: { configuration: Configuration }) {
  const { exportPath, exportStatusPath, lastKeysInPrefixRegexp, isContinuous } = configuration;
  return (
    <dl class="facts">
      <dt>Exported to</dt>
      <dd>
        <code>{exportPath}</code>
      </dd>
      <dt>Reports</dt>
      <dd>{exportStatusPath ? <code>{exportStatusPath}</code> : 'None are written'}</dd>
      <dt>When</dt>
      <dd>{isContinuous ? 'After every commit' : 'Only when somebody runs it'}</dd>
      <dt>Success files</dt>
      <dd>
        {lastKeysInPrefixRegexp?.length
          ? lastKeysInPrefixRegexp.map(pattern => (
              <div key={pattern}>
                <code>{pattern}</code>
              </div>
            ))
          : 'None are written'}
      </dd>
    </dl>
  );
}
