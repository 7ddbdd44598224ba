/** How the export of a branch goes: now, and in its last runs. */

import { useEffect, useRef } from 'preact/hooks';
import { answer, api, type Schemas } from '../../api/client';
import { useAction, usePolling, useResource } from '../../api/resource';
import { links } from '../../links';
import { Badge, type Colour } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Notice, Problem, Progress, Skeleton } from '../../parts/state';
import { Time } from '../../parts/time';
import { tell } from '../../parts/toast';
import { countText, integerText, shortId } from '../../parts/words';

type Status = Schemas['StatusBody'];

interface Place {
  repository: string;
  branch: string;
}

const POLL_MS = 3000;
// A commit elsewhere may begin an export at any time.
const IDLE_POLL_MS = 15_000;
const WORDS: Record<string, { text: string; colour?: Colour }> = {
  none: { text: 'not exported yet' },
  'in-progress': { text: 'in progress', colour: 'amber' },
  'exported-successfully': { text: 'exported', colour: 'green' },
  'export-failed': { text: 'failed', colour: 'red' },
  'export-repaired': { text: 'repaired', colour: 'green' },
  dropped: { text: 'dropped' },
};

function ExportBadge({ state }: { state: string }) {
  const { text, colour } = WORDS[state] ?? { text: state };
  return <Badge colour={colour}>{text}</Badge>;
}

/** The state of the export, live while it works, with what can be done about it. */
export function ExportState({ onChange, ...path }: Place & { onChange: () => void }) {
  const { data, failure, reload } = useResource(['export-status', path], signal =>
    answer(
      api.GET('/repositories/{repository}/branches/{branch}/export-status', {
        params: { path },
        signal,
      }),
    ),
  );
  const isWorking = Boolean(data && (data.state === 'in-progress' || data.isPending));
  usePolling(true, isWorking ? POLL_MS : IDLE_POLL_MS, reload);
  const run = data && `${data.exportId} ${isWorking ? 'works' : data.state}`;
  const before = useRef(run);
  useEffect(() => {
    if (before.current !== undefined && before.current !== run) onChange();
    before.current = run;
  }, [run]);
  if (!data) return failure ? <Problem failure={failure} retry={reload} /> : <Skeleton lines={2} />;
  return (
    <section class="card" aria-label="State of the export">
      <div class="card-body stack tight">
        <div class="bar">
          <ExportBadge state={data.state} />
          {data.isPending && <Badge colour="amber">waits</Badge>}
          <span class="grow">
            {data.startedAt > 0 && (
              <>
                Started <Time at={data.startedAt} />
              </>
            )}
          </span>
          <ExportActions {...path} status={data} onDone={reload} />
        </div>
        {data.state === 'in-progress' && (
          <Progress
            label="Exported objects"
            done={data.objectsDone}
            total={data.objectsTotal || undefined}
          />
        )}
        <p class="small quiet">
          {countText(data.objectsDone, 'object')} of {integerText(data.objectsTotal)} done
          {data.objectsFailed > 0 && `, ${integerText(data.objectsFailed)} failed`}
          {data.exportedCommitId && (
            <>
              . The path holds commit{' '}
              <a href={links.commit(path.repository, data.exportedCommitId)}>
                {shortId(data.exportedCommitId)}
              </a>
            </>
          )}
          .
        </p>
        {data.errorMessage && (
          <Notice kind="danger">
            {data.errorMessage}
            {data.errors.map(error => (
              <div class="small wrap-anywhere" key={error}>
                {error}
              </div>
            ))}
          </Notice>
        )}
        <Problem failure={failure} retry={reload} />
      </div>
    </section>
  );
}

interface ActionsProps extends Place {
  status: Status;
  onDone: () => void;
}

/** Runs the export; a failed one waits until it is repaired. */
function ExportActions({ repository, branch, status, onDone }: ActionsProps) {
  const params = { path: { repository, branch } };
  const hasFailed = status.state === 'export-failed';
  const { run, isBusy, failure } = useAction(async () => {
    if (hasFailed)
      await answer(
        api.POST('/repositories/{repository}/branches/{branch}/repair-export', { params }),
      );
    else
      await answer(
        api.POST('/repositories/{repository}/branches/{branch}/export-hook', { params }),
      );
    tell(hasFailed ? 'The export is being repaired.' : 'The export has started.');
    onDone();
  });
  return (
    <>
      <Problem failure={failure} />
      <Button
        icon={hasFailed ? 'refresh' : 'play'}
        isBusy={isBusy}
        disabled={status.state === 'in-progress'}
        title={hasFailed ? 'Mend the cause first, then repair' : undefined}
        onClick={run}
      >
        {hasFailed ? 'Repair' : 'Run now'}
      </Button>
    </>
  );
}

/** The last runs that ended. */
export function ExportHistory({ version, ...path }: Place & { version: number }) {
  const { data, failure, reload } = useResource(['export-runs', path, version], signal =>
    answer(
      api.GET('/repositories/{repository}/branches/{branch}/export-runs', {
        params: { path },
        signal,
      }),
    ),
  );
  return (
    <section class="stack" aria-labelledby="export-runs">
      <div class="bar">
        <h2 class="grow" id="export-runs">
          Last runs
        </h2>
        <Button isSmall icon="refresh" label="Load the runs again" onClick={reload} />
      </div>
      <Problem failure={failure} retry={reload} />
      {data?.results.length === 0 && <p class="quiet">No run has ended yet.</p>}
      {data && data.results.length > 0 && (
        <ul class="rows" aria-label="Last runs">
          {data.results.map(run => (
            <li class="row roomy" key={`${run.exportId} ${run.endedAt}`}>
              <ExportBadge state={run.state} />
              <div class="grow">
                <a href={links.commit(path.repository, run.commitId)}>{shortId(run.commitId)}</a>
                {run.errorMessage && <div class="small wrap-anywhere">{run.errorMessage}</div>}
              </div>
              <span class="small">
                {countText(run.objectsDone, 'object')}
                {run.objectsFailed > 0 && `, ${run.objectsFailed} failed`}
              </span>
              <span class="small quiet">
                <Time at={run.endedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
