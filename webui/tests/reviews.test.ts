import './server'; // before the client is made

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalsOf, happenings, type Pull, reviewersOf } from '../src/pages/pulls/reviews';
import { requiredApprovals } from '../src/parts/protection';

// The server leaves out empty lists.
const PULL = {
  id: 'p',
  status: 'open',
  title: '',
  description: '',
  author: 'ann',
  creation_date: '2026-11-20T13:00:00Z',
  source_branch: 'dev',
  destination_branch: 'main',
} as Pull;

function review(user: string, verdict: string, is_current: boolean, minute = '10') {
  const creation_date = `2026-11-20T13:${minute}:00Z`;
  return { user, verdict, commit_id: 'c', creation_date, is_current };
}

const REVIEWED: Pull = {
  ...PULL,
  reviewers: ['bob', 'eve'],
  reviews: [
    review('cy', 'approved', true),
    review('bob', 'changes_requested', true),
    review('dee', 'approved', false),
    review('ann', 'approved', true),
  ],
};

test('reviewers are those who were asked, then the others, with what counts of their reviews', () => {
  assert.deepEqual(
    reviewersOf(REVIEWED).map(({ user, opinion, isAsked }) => [user, opinion, isAsked]),
    [
      ['bob', 'changes_requested', true],
      ['eve', 'awaited', true],
      ['cy', 'approved', false],
      ['dee', 'outdated', false],
      ['ann', 'approved', false],
    ],
  );
  assert.deepEqual(reviewersOf(PULL), []);
});

test('only approvals of others, of the last commit, count', () => {
  const { text, ...rest } = approvalsOf(REVIEWED, 2);
  assert.equal(text, '1 of 2 approvals');
  assert.deepEqual(rest, { isEnough: false, objectors: ['bob'], outdated: ['dee'] });
  assert.equal(approvalsOf(REVIEWED, 1).isEnough, true);
  assert.equal(approvalsOf(PULL, 1).text, '0 of 1 approval');
  assert.equal(approvalsOf(PULL, 0).text, '0 approvals');
});

test('what happened is in the order of time, a review before a comment of the same second', () => {
  const comment = (id: string, minute: string) => ({
    id,
    author: 'bob',
    creation_date: `2026-11-20T13:${minute}:00Z`,
    text: 'x',
  });
  const pull = {
    ...PULL,
    status: 'merged',
    closed_date: '2026-11-20T13:30:00Z',
    reviews: [review('bob', 'approved', true, '20')],
  };
  const kinds = happenings(pull, [comment('a', '05'), comment('b', '20'), comment('c', '40')]).map(
    each => (each.kind === 'comment' ? each.comment.id : each.kind),
  );
  assert.deepEqual(kinds, ['a', 'review', 'b', 'merged', 'c']);
});

test('of several rules for a branch, the greatest number of approvals counts', () => {
  const rules = [
    { pattern: 'm*', required_approvals: 1 },
    { pattern: 'main', required_approvals: 2 },
    { pattern: 'dev', required_approvals: 9 },
  ];
  assert.equal(requiredApprovals(rules, 'main'), 2);
  assert.equal(requiredApprovals(rules, 'other'), 0);
  assert.equal(requiredApprovals(undefined, 'main'), 0);
});

test('a rule without a number, as the server answers of none, requires no approval', () => {
  const required = requiredApprovals([{ pattern: 'main' }], 'main');
  assert.equal(required, 0);
  assert.equal(approvalsOf(PULL, required).isEnough, true);
});
