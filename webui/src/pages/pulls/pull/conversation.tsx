/** What was said and done about a pull request, in the order of time. */

import { links } from '../../../links';
import { objectText } from '../../../parts/iceberg-names';
import { Icon } from '../../../parts/icon';
import { useRepository } from '../../../parts/repository';
import { Problem, Skeleton } from '../../../parts/state';
import { Time } from '../../../parts/time';
import { shortId } from '../../../parts/words';
import { type Happening, happenings, type Pull, secondsOf } from '../reviews';
import { OpinionBadge } from '../status';
import { CommentBox, CommentCard, type Comments, Said } from './comment';
import styles from './pull.module.css';

export function Conversation({ pull, comments }: { pull: Pull; comments: Comments }) {
  const { id: repository } = useRepository();
  const { data, failure, reload } = comments;
  return (
    <section class="stack" aria-label="Conversation">
      <Said
        text={pull.description}
        head={
          <span>
            <strong>{pull.author}</strong> opened this <Time at={secondsOf(pull.creation_date)} />
          </span>
        }
      />
      <Problem failure={failure} retry={reload} />
      {!data && !failure && <Skeleton lines={2} />}
      {data &&
        happenings(pull, data).map(each =>
          each.kind === 'comment' ? (
            <CommentCard
              key={each.comment.id}
              pull={pull.id}
              comment={each.comment}
              about={
                each.comment.path && (
                  <>
                    on{' '}
                    <a class="mono" href={links.pullChange(repository, pull.id, each.comment.path)}>
                      {objectText(each.comment.path)}
                    </a>
                  </>
                )
              }
              onChange={reload}
            />
          ) : (
            <p key={`${each.kind} ${each.time_s}`} class={`bar small quiet ${styles.line}`}>
              <Line pull={pull} happening={each} />
              <Time at={each.time_s} />
            </p>
          ),
        )}
      <CommentBox pull={pull.id} onChange={reload} />
    </section>
  );
}

/** One line about a review, the merge or the closing. */
function Line({ pull, happening }: { pull: Pull; happening: Happening }) {
  const { id: repository } = useRepository();
  const commit = (id: string) => (
    <a class="mono" href={links.commit(repository, id)}>
      {shortId(id)}
    </a>
  );
  if (happening.kind === 'review') {
    const { user, verdict, commit_id, is_current } = happening.review;
    const isApproval = verdict === 'approved';
    return (
      <>
        <OpinionBadge opinion={isApproval ? 'approved' : 'changes_requested'} />
        <span>
          by <strong>{user}</strong> at commit {commit(commit_id)}
          {!is_current && pull.status === 'open' && ', before the last commit'}
        </span>
      </>
    );
  }
  if (happening.kind === 'closed')
    return (
      <>
        <Icon name="close" /> Closed without merging
      </>
    );
  return (
    <>
      <Icon name="merge" />
      <span>Merged by commit {commit(pull.merged_commit_id ?? '')}</span>
    </>
  );
}
