/** Garbage collections of the repository: past runs, their reports, and new ones. */

import { useEffect, useState } from 'preact/hooks';
import { apiRead } from '../../api/cache';
import { answer, api } from '../../api/client';
import { usePages, usePolling, useResource } from '../../api/resource';
import { Badge } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { PagedList } from '../../parts/list';
import { useRepository } from '../../parts/repository';
import { Empty, Notice, Problem, Progress, Skeleton } from '../../parts/state';
import { Time } from '../../parts/time';
import { amountText, type Run } from './collection-run';
import { StartCollection } from './start-collection';

const POLL_MS = 4000;

export function Collections() {
  const { id: repository, read_only } = useRepository();
  const [starting, setStarting] = useState<'dry' | 'real'>();
  const [shown, setShown] = useState<string>();
  const pages = usePages(after =>
    apiRead('/repositories/{repository}/gc/runs', {
      path: { repository },
      query: { after, amount: 100 },
    }),
  );
  const why = read_only ? 'The repository is read-only.' : undefined;
  return (
    <section class="stack" aria-labelledby="collections">
      <div class="bar">
        <h2 class="grow" id="collections">
          Clean-ups
        </h2>
        <Button icon="play" disabled={read_only} title={why} onClick={() => setStarting('dry')}>
          Start a dry run
        </Button>
        <Button icon="trash" disabled={read_only} title={why} onClick={() => setStarting('real')}>
          Clean up now
        </Button>
      </div>
      <PagedList
        pages={pages}
        label="Clean-ups"
        keyOf={run => run.run_id}
        row={run => (
          <CollectionRow
            {...{ repository, run }}
            onEnd={pages.reload}
            onShow={() => setShown(run.run_id)}
          />
        )}
        empty={
          <Empty icon="clock" title="No clean-up has run">
            A clean-up (garbage collection) deletes from storage what no rule keeps. A dry run only
            reports what it would delete.
          </Empty>
        }
      />
      {starting && (
        <StartCollection
          isDry={starting === 'dry'}
          lastDry={pages.items.find(run => run.dry_run && run.state === 'succeeded')}
          onStarted={pages.reload}
          onClose={() => setStarting(undefined)}
        />
      )}
      {shown && <Report repository={repository} id={shown} onClose={() => setShown(undefined)} />}
    </section>
  );
}

function useRun(repository: string, id: string, isAsked: boolean) {
  return useResource(['collection', repository, id, isAsked], async signal => {
    if (!isAsked) return undefined;
    const path = { repository, run_id: id };
    return answer(
      api.GET('/repositories/{repository}/gc/runs/{run_id}', { params: { path }, signal }),
    );
  });
}

interface RowProps {
  repository: string;
  run: Run;
  onEnd: () => void;
  onShow: () => void;
}

function CollectionRow({ repository, run: listed, onEnd, onShow }: RowProps) {
  const isRunning = listed.state === 'running';
  const { data, failure, reload } = useRun(repository, listed.run_id, isRunning);
  const run = data ?? listed;
  usePolling(isRunning, POLL_MS, reload);
  const hasEnded = isRunning && run.state !== 'running';
  useEffect(() => {
    if (hasEnded) onEnd();
  }, [hasEnded]);
  return (
    <>
      <div class="grow">
        <div class="bar">
          <CollectionState run={run} />
          {run.dry_run && <Badge colour="indigo">Dry run</Badge>}
          {outcomeText(run)}
        </div>
        <div class="small quiet">
          {run.start_time !== undefined && <Time at={run.start_time} />}
          {run.requested_by && ` by ${run.requested_by}`}
        </div>
        {run.state === 'running' && <Progress label={`Clean-up ${run.run_id}`} done={0} />}
        {run.error && <div class="small wrap-anywhere">{run.error}</div>}
        <Problem failure={failure} retry={reload} />
      </div>
      <Button isSmall onClick={onShow} aria-label={`Report of clean-up ${run.run_id}`}>
        Report
      </Button>
    </>
  );
}

const COLOURS = { succeeded: 'green', failed: 'red', running: 'amber' } as const;

function CollectionState({ run }: { run: Run }) {
  return <Badge colour={COLOURS[run.state]}>{run.state}</Badge>;
}

/** Return in a few words what the run found or deleted. */
function outcomeText(run: Run): string {
  if (run.state === 'running') return 'Looking for what no rule keeps…';
  if (run.marked_objects === undefined) return 'No report';
  const marked = amountText(run.marked_objects, run.marked_bytes);
  if (run.dry_run) return `Would delete ${marked}`;
  const deleted = amountText(run.deleted_objects ?? 0, run.deleted_bytes);
  const failed = run.failed_objects ? `; ${run.failed_objects} could not be deleted` : '';
  return `Deleted ${deleted} of ${marked}${failed}`;
}

interface ReportProps {
  repository: string;
  id: string;
  onClose: () => void;
}

function Report({ repository, id, onClose }: ReportProps) {
  const { data, failure, reload } = useRun(repository, id, true);
  usePolling(data?.state === 'running', POLL_MS, reload);
  return (
    <Dialog title={`Clean-up ${id}`} isWide onClose={onClose}>
      <div class="stack">
        <Problem failure={failure} retry={reload} />
        {!data && !failure && <Skeleton />}
        {data && (
          <>
            <div class="bar">
              <CollectionState run={data} /> {outcomeText(data)}
            </div>
            {data.error && <Notice kind="danger">{data.error}</Notice>}
            {data.warnings?.map(warning => (
              <Notice key={warning} kind="warning">
                {warning}
              </Notice>
            ))}
            {data.text ? (
              <pre class="code-box">{data.text}</pre>
            ) : (
              <p class="quiet">This run has no written report.</p>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}
