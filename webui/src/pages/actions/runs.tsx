/** The runs of a repository's hooks, newest first. */

import { useState } from 'preact/hooks';
import { apiRead } from '../../api/cache';
import type { Schemas } from '../../api/client';
import { usePages, usePolling } from '../../api/resource';
import { links } from '../../links';
import { Button, CopyButton } from '../../parts/button';
import { Docs } from '../../parts/docs';
import { handleSubmit } from '../../parts/form';
import { PagedList } from '../../parts/list';
import { useQuery } from '../../parts/query';
import { RefPicker } from '../../parts/ref-picker';
import { useRepository } from '../../parts/repository';
import { Empty } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { shortId } from '../../parts/words';
import styles from './runs.module.css';
import { durationText, isRunning, RunStatus } from './status';

const PAGE = 100;
const POLL_MS = 4000;

export default function Runs() {
  const { id: repository } = useRepository();
  useTitle('Actions', repository);
  const [query, setQuery] = useQuery();
  const { branch = '', commit = '' } = query;
  const pages = usePages(after =>
    apiRead('/repositories/{repository}/actions/runs', {
      path: { repository },
      query: {
        after,
        amount: PAGE,
        ...(branch ? { branch } : {}),
        ...(commit ? { commit } : {}),
      },
    }),
  );
  usePolling(pages.items.some(isRunning), POLL_MS, pages.reload);
  const filter = (changed: { branch?: string; commit?: string }) => setQuery(changed, true);
  const isFiltered = Boolean(branch || commit);
  return (
    <>
      <div class="page-head">
        <div class="titles">
          <h1>Actions</h1>
          <p>
            What your hooks did when the repository changed.
            <Docs page="hooks.md" />
          </p>
        </div>
        <Button icon="refresh" onClick={pages.reload}>
          Refresh
        </Button>
      </div>
      <div class="stack">
        <div class="bar">
          <span class="quiet">Branch</span>
          <RefPicker
            {...{ repository, value: branch, label: 'Runs of the branch', kinds: ['branch'] }}
            onChoose={ref => filter({ branch: ref })}
          />
          <CommitFilter key={commit} commit={commit} onChoose={id => filter({ commit: id })} />
          {isFiltered && (
            <Button kind="ghost" icon="close" onClick={() => filter({ branch: '', commit: '' })}>
              Show all runs
            </Button>
          )}
        </div>
        <PagedList
          pages={pages}
          label="Runs"
          keyOf={run => run.run_id}
          row={run => <RunRow repository={repository} run={run} />}
          empty={
            isFiltered ? (
              <Empty icon="action" title="No run of this branch or commit" />
            ) : (
              <FirstAction />
            )
          }
        />
      </div>
    </>
  );
}

function CommitFilter({ commit, onChoose }: { commit: string; onChoose: (id: string) => void }) {
  const [text, setText] = useState(commit);
  return (
    <form onSubmit={handleSubmit(() => onChoose(text.trim()))}>
      <input
        class={`input mono ${styles.commit}`}
        type="search"
        aria-label="Runs of the commit: its whole ID, then Enter"
        placeholder="Commit ID, then Enter"
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
    </form>
  );
}

function RunRow({ repository, run }: { repository: string; run: Schemas['ActionRunRow'] }) {
  return (
    <>
      <RunStatus status={run.status} />
      <div class="grow">
        <a class="strong" href={links.run(repository, run.run_id)}>
          {run.event_type}
        </a>
        <div class="small quiet cut">
          {run.branch && <>on {run.branch} </>}
          {run.commit_id && (
            <>
              at <a href={links.commit(repository, run.commit_id)}>{shortId(run.commit_id)}</a>
            </>
          )}
        </div>
      </div>
      <span class="small quiet wide-only">{durationText(run.start_time, run.end_time)}</span>
      <span class="small quiet">
        <Time at={Date.parse(run.start_time) / 1000} />
      </span>
    </>
  );
}

const EXAMPLE = `name: data quality
on:
  pre-merge:
    branches: [main]
hooks:
  - id: check_schema
    type: webhook
    properties:
      url: https://checks.example.com/schema
      timeout: 2m
`;

/** Teaches the first action: a file to copy, and where to put it. */
function FirstAction() {
  const { id: repository, default_branch } = useRepository();
  return (
    <div class="stack">
      <Empty icon="action" title="Check every change with a hook">
        An action file names the hooks that run before or after a change. One before a change can
        refuse it. Upload this file as <code>_lakefs_actions/quality.yaml</code> to a branch, and
        commit.
      </Empty>
      <section class="card" aria-label="An action file">
        <div class="card-head">
          <code class="grow wrap-anywhere">_lakefs_actions/quality.yaml</code>
          <CopyButton text={EXAMPLE} label="Copy the action file" />
        </div>
        <pre class={`card-body ${styles.example}`}>{EXAMPLE}</pre>
      </section>
      <p class="quiet">
        It asks your server before each merge into main.{' '}
        <a href={links.objects(repository, default_branch, '_lakefs_actions/')}>
          See the action files of {default_branch}
        </a>
        .
      </p>
    </div>
  );
}
