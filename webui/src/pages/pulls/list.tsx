/** The pull requests of a repository, by their state. */

import { useLocation } from 'preact-iso';
import { apiRead } from '../../api/cache';
import { usePages } from '../../api/resource';
import { user } from '../../api/session';
import { links } from '../../links';
import { LinkButton } from '../../parts/button';
import { CheckField } from '../../parts/field';
import { PagedList } from '../../parts/list';
import { Nav } from '../../parts/nav';
import { useQuery } from '../../parts/query';
import { useRepository } from '../../parts/repository';
import { Empty } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { countText, visible } from '../../parts/words';
import { type Pull, secondsOf } from './reviews';
import { OpinionBadge, PullStatus } from './status';

const PAGE = 100;
const STATES = ['open', 'merged', 'closed', 'all'] as const;
type State = (typeof STATES)[number];
const TEXTS: Record<State, string> = {
  open: 'Open',
  merged: 'Merged',
  closed: 'Closed',
  all: 'All',
};

export default function Pulls() {
  const { id: repository } = useRepository();
  useTitle('Pull requests', repository);
  const { path } = useLocation();
  const [{ status, reviewer = '' }, setQuery] = useQuery();
  const state = STATES.find(each => each === status) ?? 'open';
  const pages = usePages(after =>
    apiRead('/repositories/{repository}/pulls', {
      path: { repository },
      query: { status: state, reviewer, after, amount: PAGE },
    }),
  );
  const isMe = reviewer === user.value?.id;
  const create = (
    <LinkButton kind="primary" icon="plus" href={links.newPull(repository)}>
      Create pull request
    </LinkButton>
  );
  return (
    <>
      <div class="page-head">
        <div class="titles">
          <h1>Pull requests</h1>
          <p>Each asks to merge one branch into another, after others have looked at it.</p>
        </div>
        {create}
      </div>
      <div class="stack">
        <Nav
          label="State"
          look="tabs"
          links={STATES.map(each => ({
            text: TEXTS[each],
            href: `${path}?${new URLSearchParams({ status: each, ...(reviewer && { reviewer }) })}`,
            isHere: each === state,
          }))}
        />
        <CheckField
          label={reviewer && !isMe ? `Asked for a review by ${reviewer}` : 'Asked for my review'}
          isChecked={Boolean(reviewer)}
          onCheck={isOn => setQuery({ reviewer: isOn ? user.value?.id : undefined }, true)}
        />
        <PagedList
          pages={pages}
          label={`${TEXTS[state]} pull requests`}
          keyOf={pull => pull.id}
          row={pull => <Row repository={repository} pull={pull} />}
          empty={
            <Empty
              icon="pull"
              title={state === 'all' ? 'No pull request yet' : `No ${state} pull request`}
              actions={reviewer ? undefined : create}
            >
              {reviewer
                ? 'None asks for this review.'
                : 'Change objects on a branch and commit. Then ask here to merge the branch.'}
            </Empty>
          }
        />
      </div>
    </>
  );
}

function Row({ repository, pull }: { repository: string; pull: Pull }) {
  return (
    <>
      <PullStatus status={pull.status} />
      <div class="grow">
        <a class="strong wrap-anywhere" href={links.pull(repository, pull.id)}>
          {visible(pull.title)}
        </a>
        <div class="bar small quiet">
          <span class="wrap-anywhere">
            {pull.source_branch} into {pull.destination_branch}
          </span>
          <Reviews pull={pull} />
        </div>
      </div>
      <span class="small quiet wide-only">
        {pull.author}, <Time at={secondsOf(pull.creation_date)} />
      </span>
    </>
  );
}

/** What users have said, perhaps of earlier commits: a list knows no heads. */
function Reviews({ pull: { reviewers = [], reviews = [] } }: { pull: Pull }) {
  const count = (wanted: string) => reviews.filter(({ verdict }) => verdict === wanted).length;
  const [approvals, objections] = [count('approved'), count('changes_requested')];
  return (
    <>
      {approvals > 0 && <OpinionBadge opinion="approved" text={countText(approvals, 'approval')} />}
      {objections > 0 && <OpinionBadge opinion="changes_requested" />}
      {reviewers.length > 0 && !reviews.length && <OpinionBadge opinion="awaited" />}
    </>
  );
}
