/** One run: its hooks, how each ended, and what it wrote. */

import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { apiRead } from '../../api/cache';
import { answer, api, type Schemas } from '../../api/client';
import { usePages, usePolling, useResource } from '../../api/resource';
import { links } from '../../links';
import { Button, CopyButton, LinkButton } from '../../parts/button';
import { PagedList } from '../../parts/list';
import { useRepository } from '../../parts/repository';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { shortId } from '../../parts/words';
import styles from './run.module.css';
import { durationText, isRunning, RunStatus } from './status';

const PAGE = 100;
const POLL_MS = 2000;

export default function Run() {
  const { id: repository } = useRepository();
  const { id: run_id = '' } = useRoute().params as { id?: string };
  const path = { repository, run_id };
  const { data, failure, reload } = useResource(
    apiRead('/repositories/{repository}/actions/runs/{run_id}', { path }),
  );
  const hooks = usePages(after =>
    apiRead('/repositories/{repository}/actions/runs/{run_id}/hooks', {
      path,
      query: { after, amount: PAGE },
    }),
  );
  useTitle(data ? `Run of ${data.event_type}` : 'Run', repository);
  usePolling(data !== undefined && isRunning(data), POLL_MS, () => {
    reload();
    hooks.reload();
  });
  if (failure?.status === 404)
    return (
      <Empty
        icon="action"
        title="There is no such run"
        actions={<LinkButton href={links.actions(repository)}>All runs</LinkButton>}
      />
    );
  if (!data) return failure ? <Problem failure={failure} retry={reload} /> : <Skeleton />;
  return (
    <div class="stack loose">
      <RunFacts run={data} />
      <Problem failure={failure} retry={reload} />
      <section class="stack tight" aria-label="Hooks">
        <h2>Hooks</h2>
        <PagedList
          pages={hooks}
          label="Hooks"
          keyOf={hook => hook.hook_run_id}
          row={hook => <Hook {...{ repository, hook, runId: run_id }} />}
          empty={<Empty icon="action" title="No hook has run yet" />}
        />
      </section>
    </div>
  );
}

function RunFacts({ run }: { run: Schemas['ActionRunRow'] }) {
  const { id: repository } = useRepository();
  return (
    <>
      <div class="bar">
        <h1>{run.event_type}</h1>
        <RunStatus status={run.status} />
      </div>
      <dl class="facts">
        {run.branch && (
          <>
            <dt>Branch</dt>
            <dd>
              <a href={links.objects(repository, run.branch)}>{run.branch}</a>
            </dd>
          </>
        )}
        {run.commit_id && (
          <>
            <dt>Commit</dt>
            <dd>
              <a class="mono" href={links.commit(repository, run.commit_id)}>
                {shortId(run.commit_id)}
              </a>
            </dd>
          </>
        )}
        <dt>Began</dt>
        <dd>
          <Time at={Date.parse(run.start_time) / 1000} />
        </dd>
        <dt>Took</dt>
        <dd>{durationText(run.start_time, run.end_time) || 'Still running'}</dd>
        <dt>Run ID</dt>
        <dd class="bar">
          <code>{run.run_id}</code>
          <CopyButton text={run.run_id} label="Copy the run ID" />
        </dd>
      </dl>
    </>
  );
}

interface HookProps {
  repository: string;
  runId: string;
  hook: Schemas['HookRunRow'];
}

function Hook({ repository, runId, hook }: HookProps) {
  const [isOpen, setOpen] = useState(hook.status === 'failed');
  return (
    <div class="grow stack tight">
      <div class="bar">
        <RunStatus status={hook.status} />
        <span class="strong">{hook.hook_id}</span>
        <span class="quiet">of {hook.action}</span>
        <span class="quiet small">{durationText(hook.start_time, hook.end_time)}</span>
        <span class="push">
          <Button
            isSmall
            kind="ghost"
            icon={isOpen ? 'up' : 'down'}
            aria-expanded={isOpen}
            disabled={hook.status === 'skipped'}
            onClick={() => setOpen(!isOpen)}
          >
            Output
          </Button>
        </span>
      </div>
      {isOpen && <Output {...{ repository, runId, hook }} />}
    </div>
  );
}

function Output({ repository, runId, hook }: HookProps) {
  const path = { repository, run_id: runId, hook_run_id: hook.hook_run_id };
  const key = ['output', repository, runId, hook.hook_run_id, hook.status];
  const { data, failure, reload } = useResource(key, signal =>
    answer(
      api.GET('/repositories/{repository}/actions/runs/{run_id}/hooks/{hook_run_id}/output', {
        params: { path },
        parseAs: 'text',
        signal,
      }),
    ),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (data === undefined) return <Skeleton lines={3} />;
  if (!data) return <p class="quiet small">It wrote nothing.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus
    <section class={styles.output} tabIndex={0} aria-label={`Output of ${hook.hook_id}`}>
      <pre>{data}</pre>
    </section>
  );
}
