/** One pull request: what it asks for, what it changes, and its merge. */

import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { answer, api, type Failure, type Schemas } from '../../api/client';
import { useAction, useResource } from '../../api/resource';
import { links } from '../../links';
import { RunningTask } from '../../parts/branch-task';
import { Button, LinkButton } from '../../parts/button';
import { FormDialog } from '../../parts/dialog';
import { refsSource } from '../../parts/diff/source';
import { Diff } from '../../parts/diff/view';
import { AreaField, TextField } from '../../parts/field';
import { Guard } from '../../parts/guard';
import { Markdown } from '../../parts/markdown';
import { useRepository } from '../../parts/repository';
import { type Heads, ifUnmoved, isMoved, onlyAt, useSeen } from '../../parts/seen';
import { Empty, Notice, Problem, Skeleton } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { tell } from '../../parts/toast';
import { shortId } from '../../parts/words';
import { PullStatus, secondsOf } from './status';
import './styles.css';

type Pull = Schemas['PullRequestRow'];
const PLAIN = {
  message: '',
  metadata: {},
  strategy: '',
  resolutions: {},
  squash_merge: false,
  allow_empty: false,
  force: false,
};
const ADDRESS = '/repositories/{repository}/pulls/{pull_request}';

export default function PullPage() {
  const { id: repository } = useRepository();
  const { id = '' } = useRoute().params as { id?: string };
  const { data, failure, reload } = useResource(['pull', repository, id], signal =>
    answer(api.GET(ADDRESS, { params: { path: { repository, pull_request: id } }, signal })),
  );
  useTitle(data?.title ?? 'Pull request', repository);
  if (failure?.status === 404 || failure?.status === 400)
    return (
      <Empty
        icon="pull"
        title="There is no such pull request"
        actions={<LinkButton href={links.pulls(repository)}>All pull requests</LinkButton>}
      />
    );
  if (!data) return failure ? <Problem failure={failure} retry={reload} /> : <Skeleton />;
  return <Shown key={data.id} pull={data} reload={reload} />;
}

function Shown({ pull, reload }: { pull: Pull; reload: () => void }) {
  const { id: repository, read_only } = useRepository();
  const [isEditing, setEditing] = useState(false);
  const isMerged = pull.status === 'merged';
  const [version, setVersion] = useState(0);
  const seen = useSeen(
    repository,
    isMerged ? '' : pull.source_branch,
    pull.destination_branch,
    version,
  );
  const look = () => setVersion(version + 1);
  return (
    <>
      <div class="page-head">
        <div class="titles">
          <h1 class="wrap-anywhere">{pull.title}</h1>
          <div class="bar pull-facts">
            <PullStatus status={pull.status} />
            <span class="quiet">
              {pull.author} asks to merge{' '}
              <a href={links.objects(repository, pull.source_branch)}>{pull.source_branch}</a> into{' '}
              <a href={links.objects(repository, pull.destination_branch)}>
                {pull.destination_branch}
              </a>
              , <Time at={secondsOf(pull.creation_date)} />
            </span>
          </div>
        </div>
        <Button icon="edit" disabled={read_only} onClick={() => setEditing(true)}>
          Edit
        </Button>
      </div>
      <div class="stack loose">
        <section class="card" aria-label="Description">
          <div class="card-body">
            {pull.description ? (
              <Guard
                key={pull.description}
                told="This description cannot be shown. Edit the pull request to read it."
              >
                <Markdown text={pull.description} />
              </Guard>
            ) : (
              <span class="quiet">No description.</span>
            )}
          </div>
        </section>
        {isMerged ? (
          <Merged pull={pull} />
        ) : (
          <Decision {...{ pull, reload }} heads={seen.heads} onLook={look} />
        )}
        {!isMerged && (seen.isAsked ? <Changes {...{ pull, version }} /> : <Skeleton />)}
      </div>
      {isEditing && <Edit {...{ pull, reload }} onClose={() => setEditing(false)} />}
    </>
  );
}

function Merged({ pull }: { pull: Pull }) {
  const { id: repository } = useRepository();
  const commit = pull.merged_commit_id;
  return (
    <Notice kind="success">
      Merged{' '}
      {pull.closed_date && (
        <>
          <Time at={secondsOf(pull.closed_date)} />{' '}
        </>
      )}
      {commit && (
        <>
          by commit <a href={links.commit(repository, commit)}>{shortId(commit)}</a>, which shows
          the changes.
        </>
      )}
    </Notice>
  );
}

function Changes({ pull, version }: { pull: Pull; version: number }) {
  const { id: repository } = useRepository();
  const { source_branch: source, destination_branch: destination } = pull;
  return (
    <section class="stack tight" aria-label="Changes">
      <h2>Changes</h2>
      <Diff
        source={refsSource(repository, destination, source, 'three_dot')}
        version={version}
        empty={
          <Notice>
            {source} has no changes that {destination} lacks.
          </Notice>
        }
      />
    </section>
  );
}

interface DecisionProps {
  pull: Pull;
  reload: () => void;
  /** The commits whose changes were shown. */
  heads: Heads | undefined;
  onLook: () => void;
}

/** Merges, closes or opens again; says what to do if the server refuses. */
function Decision({ pull, reload, heads, onLook }: DecisionProps) {
  const { id: repository, read_only } = useRepository();
  const params = { path: { repository, pull_request: pull.id } };
  const isOpen = pull.status === 'open';
  const merge = useAction(async () => {
    const header = onlyAt(heads?.destination_commit_id);
    const body = { ...PLAIN, source_commit_id: heads?.source_commit_id ?? null };
    const request = api.PUT(`${ADDRESS}/merge`, { params: { ...params, header }, body });
    await ifUnmoved(answer(request));
    tell(`${pull.source_branch} was merged into ${pull.destination_branch}.`);
    reload();
  });
  const change = useAction(async () => {
    // What is null stays.
    const status = isOpen ? ('closed' as const) : ('open' as const);
    const body = { status, title: null, description: null, reviewers: null };
    await answer(api.PATCH(ADDRESS, { params, body }));
    tell(isOpen ? 'The pull request was closed.' : 'The pull request is open again.');
    reload();
  });
  const isBusy = merge.isBusy || change.isBusy;
  const title = read_only ? 'The repository is read-only' : undefined;
  return (
    <section class="stack" aria-label="Merge">
      <RunningTask
        repository={repository}
        branch={pull.destination_branch}
        isExpected={merge.isBusy}
        onEnd={reload}
      />
      {isMoved(merge.failure) ? (
        <Problem
          failure={merge.failure}
          action="Look again"
          retry={() => {
            merge.clear();
            onLook();
          }}
        />
      ) : (
        <Problem failure={merge.failure} />
      )}
      {merge.failure && <Remedy pull={pull} failure={merge.failure} />}
      <Problem failure={change.failure} />
      <div class="bar">
        {isOpen && (
          <Button
            kind="primary"
            icon="merge"
            isBusy={merge.isBusy}
            disabled={read_only || isBusy}
            title={title}
            onClick={merge.run}
          >
            Merge into {pull.destination_branch}
          </Button>
        )}
        <Button
          isBusy={change.isBusy}
          disabled={read_only || isBusy}
          title={title}
          onClick={change.run}
        >
          {isOpen ? 'Close without merging' : 'Open again'}
        </Button>
      </div>
    </section>
  );
}

/** The way on after a refused merge. */
function Remedy({ pull, failure }: { pull: Pull; failure: Failure }) {
  const { status, message } = failure;
  const { id: repository } = useRepository();
  const { source_branch: source, destination_branch: destination } = pull;
  if (status === 409)
    return (
      <Notice>
        Merge{' '}
        <a href={links.compare(repository, source, destination)}>
          {destination} into {source}
        </a>{' '}
        first, and choose there whose objects win. Then merge this pull request.
      </Notice>
    );
  if (status === 400 && /uncommitted/i.test(message))
    return (
      <Notice>
        <a href={links.changes(repository, destination)}>
          Commit or reset the changes of {destination}
        </a>
        , then merge again.
      </Notice>
    );
  if (status === 412 && !isMoved(failure))
    return (
      <Notice>
        A hook refused the merge. <a href={links.actions(repository)}>See its output</a>, mend{' '}
        {source}, then merge again.
      </Notice>
    );
  return null;
}

interface EditProps {
  pull: Pull;
  reload: () => void;
  onClose: () => void;
}

function Edit({ pull, reload, onClose }: EditProps) {
  const { id: repository } = useRepository();
  const [title, setTitle] = useState(pull.title);
  const [description, setDescription] = useState(pull.description);
  const submit = useAction(async () => {
    const params = { path: { repository, pull_request: pull.id } };
    const body = { title, description, status: null, reviewers: null };
    await answer(api.PATCH(ADDRESS, { params, body }));
    tell('The pull request was changed.');
    reload();
    onClose();
  });
  return (
    <FormDialog title="Edit pull request" isWide action="Save" {...{ submit, onClose }}>
      <TextField label="Title" value={title} onText={setTitle} required autofocus />
      <AreaField label="Description" value={description} onText={setDescription} rows={10} />
    </FormDialog>
  );
}
