/** What a pull request lacks to be merged; merges it, closes it, or opens it again. */

import type { ComponentChildren } from 'preact';
import { answer, api } from '../../../api/client';
import { useAction, useResource } from '../../../api/resource';
import { links } from '../../../links';
import { RunningTask } from '../../../parts/branch-task';
import { Button } from '../../../parts/button';
import { hasUncommitted } from '../../../parts/diff/source';
import { Icon } from '../../../parts/icon';
import { requiredApprovals, useRules } from '../../../parts/protection';
import { useRepository } from '../../../parts/repository';
import type { Heads } from '../../../parts/seen';
import { Problem, Skeleton } from '../../../parts/state';
import { tell } from '../../../parts/toast';
import { countText, shortId } from '../../../parts/words';
import { useConflicts } from '../../compare/conflicts';
import { MergeButton } from '../../compare/merge';
import { approvalsOf, type Pull } from '../reviews';
import { changePull } from './change';
import styles from './pull.module.css';

const MERGE = '/repositories/{repository}/pulls/{pull_request}/merge';
// Conflicts are looked for in so many pages of the diff; the merge looks at all.
const PAGES = 5;

interface DecisionProps {
  pull: Pull;
  reload: () => void;
  /** The commits whose changes were shown. */
  heads: Heads | undefined;
  onLook: () => void;
}

export function Decision({ pull, reload, heads, onLook }: DecisionProps) {
  const { id: repository, read_only } = useRepository();
  const { source_branch: source, destination_branch: destination } = pull;
  const isOpen = pull.status === 'open';
  const change = useAction(async () => {
    await changePull(repository, pull.id, { status: isOpen ? 'closed' : 'open' });
    tell(isOpen ? 'The pull request was closed.' : 'The pull request is open again.');
    reload();
  });
  const rules = useRules(repository);
  const required = requiredApprovals(rules.data, destination);
  const approvals = approvalsOf(pull, required);
  const isApproved = approvals.isEnough && !(required && approvals.objectors.length);
  return (
    <section class="card" aria-labelledby="merge">
      <h2 id="merge" class="card-head">
        {pull.status === 'merged' ? 'Merged' : isOpen ? 'Merge' : 'Closed'}
      </h2>
      <div class="card-body stack">
        <RunningTask repository={repository} branch={destination} onEnd={reload} />
        {pull.status === 'merged' && <MergedBy commit={pull.merged_commit_id ?? ''} />}
        {isOpen &&
          (pull.is_contained ? (
            <p>
              {destination} already has every commit of {source}. Close this pull request, unless{' '}
              {source} gets further commits.
            </p>
          ) : (
            <Checks {...{ pull, heads, required }} />
          ))}
        <Problem failure={change.failure} />
        {pull.status !== 'merged' && (
          <div class="bar">
            {isOpen && !pull.is_contained && (
              <MergeButton
                {...{ repository, source, destination, heads, onLook }}
                locked={
                  read_only
                    ? 'The repository is read-only'
                    : isApproved
                      ? undefined
                      : 'Approvals are missing, or changes are requested'
                }
                send={(body, header) => {
                  const path = { repository, pull_request: pull.id };
                  return answer(api.PUT(MERGE, { params: { path, header }, body }));
                }}
                onDone={reload}
              />
            )}
            <Button
              kind={pull.is_contained ? 'primary' : undefined}
              isBusy={change.isBusy}
              disabled={read_only}
              title={read_only ? 'The repository is read-only' : undefined}
              onClick={change.run}
            >
              {isOpen ? (pull.is_contained ? 'Close' : 'Close without merging') : 'Open again'}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

function MergedBy({ commit }: { commit: string }) {
  const { id: repository } = useRepository();
  return (
    <p class="quiet">
      By commit{' '}
      <a class="mono" href={links.commit(repository, commit)}>
        {shortId(commit)}
      </a>
    </p>
  );
}

interface ChecksProps {
  pull: Pull;
  heads: Heads | undefined;
  /** How many approvals the destination requires. */
  required: number;
}

/** Everything that the server asks for before it merges, and whether it is so. */
function Checks({ pull, heads, required }: ChecksProps) {
  const { id: repository } = useRepository();
  const { source_branch: source, destination_branch: destination } = pull;
  const conflicts = useConflicts(repository, heads, PAGES);
  const uncommitted = useResource(['uncommitted', repository, destination, heads], signal =>
    hasUncommitted(repository, destination, signal),
  );
  const { text, isEnough, objectors, outdated } = approvalsOf(pull, required);
  const found = conflicts.data;
  return (
    <>
      <ul class="stack tight">
        <Check isOk={isEnough} isNeutral={!required}>
          {text}
        </Check>
        {objectors.map(user => (
          <Check key={user} isNeutral={!required}>
            Changes requested by {user}
          </Check>
        ))}
        {outdated.length > 0 && (
          <Check isNeutral>
            {source} has new commits since the review by {outdated.join(', ')}
          </Check>
        )}
        {found &&
          (found.rows.length > 0 ? (
            <Check>
              {found.hasMore && 'At least '}
              {countText(found.rows.length, 'conflict')} with {destination}. <em>Merge…</em> lets
              you choose whose objects win. Or merge{' '}
              <a href={links.compare(repository, source, destination)}>
                {destination} into {source}
              </a>{' '}
              first.
            </Check>
          ) : (
            <Check isOk>
              No conflicts with {destination}
              {found.hasMore && ' among the first changed objects'}
            </Check>
          ))}
        {uncommitted.data && (
          <Check>
            {destination} has uncommitted changes.{' '}
            <a href={links.changes(repository, destination)}>Commit or reset them</a> first.
          </Check>
        )}
      </ul>
      {conflicts.isLoading && !found && <Skeleton lines={1} />}
      <Problem failure={conflicts.failure} retry={conflicts.reload} />
    </>
  );
}

interface CheckProps {
  isOk?: boolean;
  /** It stops no merge. */
  isNeutral?: boolean;
  children: ComponentChildren;
}

function Check({ isOk = false, isNeutral = false, children }: CheckProps) {
  return (
    <li class={`${styles.check} ${isNeutral ? '' : isOk ? styles.done : styles.missing}`}>
      {isNeutral ? (
        <Icon name="info" />
      ) : isOk ? (
        <Icon name="check" label="Done:" />
      ) : (
        <Icon name="warning" label="Missing:" />
      )}
      <span class="grow wrap-anywhere">{children}</span>
    </li>
  );
}
