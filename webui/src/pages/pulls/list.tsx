/** The pull requests of a repository, by their state. */

import { useLocation } from 'preact-iso';
import { answer, api, type Schemas } from '../../api/client';
import { usePages } from '../../api/resource';
import { links } from '../../links';
import { LinkButton } from '../../parts/button';
import { PagedList } from '../../parts/list';
import { Nav } from '../../parts/nav';
import { useRepository } from '../../parts/repository';
import { Empty } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { PullStatus, secondsOf } from './status';
import './styles.css';

const PAGE = 100;
const STATES = ['open', 'merged', 'closed', 'all'] as const;
type State = (typeof STATES)[number];
const TEXTS: Record<State, string> = {
  open: 'Open',
  merged: 'Merged',
  closed: 'Closed',
  all: 'All',
};

/** Load the next pull requests of the state; the server's `closed` includes merged ones. */
async function pageOf(repository: string, state: State, after: string, signal: AbortSignal) {
  let next = after;
  for (;;) {
    const params = { path: { repository }, query: { status: state, after: next, amount: PAGE } };
    const page = await answer(api.GET('/repositories/{repository}/pulls', { params, signal }));
    const results = page.results.filter(pull => state === 'all' || pull.status === state);
    // A page may have none of the state, while a later one has some.
    if (results.length || !page.pagination.has_more) return { ...page, results };
    next = page.pagination.next_offset;
  }
}

export default function Pulls() {
  const { id: repository } = useRepository();
  useTitle('Pull requests', repository);
  const { path, query } = useLocation();
  const state = STATES.find(each => each === query.status) ?? 'open';
  const pages = usePages(['pulls', repository, state], (after, signal) =>
    pageOf(repository, state, after, signal),
  );
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
            href: `${path}?status=${each}`,
            isHere: each === state,
          }))}
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
              actions={create}
            >
              Change objects on a branch and commit. Then ask here to merge the branch.
            </Empty>
          }
        />
      </div>
    </>
  );
}

function Row({ repository, pull }: { repository: string; pull: Schemas['PullRequestRow'] }) {
  return (
    <>
      <PullStatus status={pull.status} />
      <div class="grow">
        <a class="strong wrap-anywhere" href={links.pull(repository, pull.id)}>
          {pull.title}
        </a>
        <div class="small quiet cut">
          {pull.source_branch} into {pull.destination_branch}
        </div>
      </div>
      <span class="small quiet wide-only">
        {pull.author}, <Time at={secondsOf(pull.creation_date)} />
      </span>
    </>
  );
}
