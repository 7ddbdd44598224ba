/** One pull request: its conversation, what it changes, its commits, and its merge. */

import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { answer, api } from '../../api/client';
import { useResource } from '../../api/resource';
import { user } from '../../api/session';
import { links } from '../../links';
import { Button, LinkButton } from '../../parts/button';
import { refsSource } from '../../parts/diff/source';
import { Nav } from '../../parts/nav';
import { useQuery } from '../../parts/query';
import { useRepository } from '../../parts/repository';
import { useSeen } from '../../parts/seen';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { visible } from '../../parts/words';
import { Changes } from './pull/changes';
import { useComments } from './pull/comment';
import { Commits } from './pull/commits';
import { Conversation } from './pull/conversation';
import { Decision } from './pull/decision';
import { Edit } from './pull/edit';
import styles from './pull/pull.module.css';
import { ReviewDialog } from './pull/review';
import { Reviewers } from './pull/reviewers';
import type { Pull } from './reviews';
import { PullStatus } from './status';

const ADDRESS = '/repositories/{repository}/pulls/{pull_request}';
const TABS = { '': 'Conversation', changes: 'Changes', commits: 'Commits' } as const;

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
  const { id: repository } = useRepository();
  const { path } = useLocation();
  const [{ tab = '' }] = useQuery();
  const [version, setVersion] = useState(0);
  const comments = useComments(repository, pull.id);
  const { source_branch: source, destination_branch: destination } = pull;
  const merged = pull.merged_commit_id;
  const seen = useSeen(repository, merged ? '' : source, destination, version);
  const look = () => {
    setVersion(version + 1);
    reload();
  };
  return (
    <>
      <Head
        {...{ pull, reload }}
        commit={seen.heads?.source_commit_id}
        onLook={look}
        onReview={() => {
          reload();
          comments.reload();
        }}
      />
      <div class="stack loose">
        <Nav
          label="Pull request"
          look="tabs"
          links={Object.entries(TABS).map(([name, text]) => ({
            text,
            href: name ? `${path}?tab=${name}` : path,
            isHere: name === tab,
          }))}
        />
        {!seen.isAsked ? (
          <Skeleton />
        ) : tab === 'changes' ? (
          <Changes
            {...{ pull, version, comments }}
            source={
              merged
                ? refsSource(repository, `${merged}^1`, merged, 'two_dot', BEFORE_AND_AFTER)
                : refsSource(repository, destination, source, 'three_dot')
            }
          />
        ) : tab === 'commits' ? (
          <Commits source={merged ?? source} destination={merged ? `${merged}^1` : destination} />
        ) : (
          <div class={styles.columns}>
            <div class={`stack ${styles.aside}`}>
              <Decision {...{ pull, reload }} heads={seen.heads} onLook={look} />
              <Reviewers {...{ pull, reload }} />
            </div>
            <Conversation {...{ pull, comments }} />
          </div>
        )}
      </div>
    </>
  );
}

const BEFORE_AND_AFTER = { left: 'Before', right: 'After' };

interface HeadProps {
  pull: Pull;
  reload: () => void;
  /** The source's head that was shown. */
  commit: string | undefined;
  onLook: () => void;
  onReview: () => void;
}

function Head({ pull, reload, commit, onLook, onReview }: HeadProps) {
  const { id: repository, read_only } = useRepository();
  const [dialog, setDialog] = useState<'edit' | 'review'>();
  const close = () => setDialog(undefined);
  const canReview = pull.status === 'open' && pull.author !== user.value?.id;
  const branch = (name: string) => <a href={links.objects(repository, name)}>{name}</a>;
  return (
    <div class="page-head">
      <div class="titles">
        <h1 class="wrap-anywhere">{visible(pull.title)}</h1>
        <div class={`bar ${styles.facts}`}>
          <PullStatus {...pull} />
          <span class="quiet">
            {pull.author} asks to merge {branch(pull.source_branch)} into{' '}
            {branch(pull.destination_branch)}
          </span>
        </div>
      </div>
      {canReview && (
        <Button icon="eye" disabled={!commit || read_only} onClick={() => setDialog('review')}>
          Review…
        </Button>
      )}
      <Button icon="edit" disabled={read_only} onClick={() => setDialog('edit')}>
        Edit
      </Button>
      {dialog === 'edit' && <Edit {...{ pull, reload }} onClose={close} />}
      {dialog === 'review' && commit && (
        <ReviewDialog {...{ pull, commit, onLook }} onDone={onReview} onClose={close} />
      )}
    </div>
  );
}
