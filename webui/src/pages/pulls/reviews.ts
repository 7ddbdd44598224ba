/** What the reviews of a pull request say together, by the server's rules. */

import type { Schemas } from '../../api/client';

export type Pull = Schemas['PullRequestRow'];
export type Comment = Schemas['CommentRow'];
type Review = Schemas['ReviewRow'];

/** What a reviewer has said: nothing yet, or of the source's present head, or of an earlier one. */
export type Opinion = 'awaited' | 'approved' | 'changes_requested' | 'outdated';

export interface Reviewer {
  user: string;
  opinion: Opinion;
  /** Whether the user was asked for a review. */
  isAsked: boolean;
}

/** Return everybody who was asked for a review or gave one, those first who were asked. */
export function reviewersOf({ reviewers = [], reviews = [] }: Pull): Reviewer[] {
  const users = new Set([...reviewers, ...reviews.map(({ user }) => user)]);
  return [...users].map(user => ({
    user,
    opinion: opinionOf(reviews.find(review => review.user === user)),
    isAsked: reviewers.includes(user),
  }));
}

function opinionOf(review: Review | undefined): Opinion {
  if (!review) return 'awaited';
  return review.is_current ? (review.verdict as Opinion) : 'outdated';
}

/** How far a pull request is from the approvals that its destination requires. */
export interface Approvals {
  /** `1 of 2 approvals` */
  text: string;
  isEnough: boolean;
  /** Who requests changes; if approvals are required, each of them stops the merge. */
  objectors: string[];
  /** Whose review is of an earlier commit, and does not count. */
  outdated: string[];
}

export function approvalsOf(pull: Pull, required: number): Approvals {
  const withOpinion = (wanted: Opinion) =>
    reviewersOf(pull).flatMap(({ user, opinion }) => (opinion === wanted ? user : []));
  const approved = withOpinion('approved').filter(user => user !== pull.author).length;
  const count = required > 0 ? `${approved} of ${required}` : `${approved}`;
  return {
    text: `${count} ${(required || approved) === 1 ? 'approval' : 'approvals'}`,
    isEnough: approved >= required,
    objectors: withOpinion('changes_requested'),
    outdated: withOpinion('outdated'),
  };
}

/** Something that happened to a pull request; `time_s` in Unix seconds. */
export type Happening = { time_s: number } & (
  | { kind: 'comment'; comment: Comment }
  | { kind: 'review'; review: Review }
  | { kind: 'merged' | 'closed' }
);

/** Return what happened after the pull request was opened, in the order of time. */
export function happenings(pull: Pull, comments: readonly Comment[]): Happening[] {
  const end = pull.closed_date
    ? [
        {
          kind: pull.status === 'merged' ? ('merged' as const) : ('closed' as const),
          time_s: secondsOf(pull.closed_date),
        },
      ]
    : [];
  // Times are whole seconds. A reviewer's comment is stored after the review.
  return [
    ...(pull.reviews ?? []).map(review => ({
      kind: 'review' as const,
      time_s: secondsOf(review.creation_date),
      review,
    })),
    ...comments.map(comment => ({
      kind: 'comment' as const,
      time_s: secondsOf(comment.creation_date),
      comment,
    })),
    ...end,
  ].sort((one, other) => one.time_s - other.time_s);
}

/** Return the time as Unix seconds. */
export function secondsOf(time: string): number {
  return Date.parse(time) / 1000;
}
