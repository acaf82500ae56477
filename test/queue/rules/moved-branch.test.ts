/** INVARIANT 24 and the tenth promise of the queue: what lands is what was submitted, and what was reviewed is what lands. */

import { describe, expect, it } from 'vitest';

import {
  type BranchName,
  type CommitId,
  type LandingId,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { type Landing, decideLanding } from '../../../packages/copse/src/queue/rules/landing.ts';
import { type BranchFacts, decideMovedBranch } from '../../../packages/copse/src/queue/rules/moved-branch.ts';
import type { Task } from '../../../packages/copse/src/tasks/rules/task.ts';
import { decideUnqueue } from '../../../packages/copse/src/tasks/rules/outcomes.ts';

const [head, tip, other] = ['a', 'b', 'c'].map((letter) => brand<CommitId>(letter.repeat(40))) as [
  CommitId,
  CommitId,
  CommitId,
];
const onBranch = (at: CommitId, isClean = true) => ({ head: at, isOnBranch: true, isClean });
const elsewhere = (at: CommitId) => ({ head: at, isOnBranch: false, isClean: true });

const queued: BranchFacts = {
  head,
  tip: head,
  worktree: onBranch(head),
  isHeadThere: true,
  isEmpty: false,
  mustBeReviewed: false,
};
const moved = { ...queued, tip, worktree: onBranch(tip) };

describe('a branch in the queue', () => {
  it.each<[string, Partial<BranchFacts>]>([
    ['is where it was', {}],
    ['is where it was, whatever its worktree shows', { worktree: elsewhere(other) }],
    ['is where it was, without a worktree', { worktree: null }],
    ['was not where the agent committed, and its worktree is as it was submitted', { tip: other }],
    ['was deleted under a worktree that is as it was submitted', { tip: null, worktree: elsewhere(head) }],
  ])('that %s lands', (_, facts) => {
    expect(decideMovedBranch({ ...queued, mustBeReviewed: true, ...facts })).toEqual({ kind: 'unmoved' });
  });

  it.each([onBranch(tip), null])('that moved is queued again if no review is required', (worktree) => {
    expect(decideMovedBranch({ ...moved, worktree })).toMatchObject({ kind: 'requeued', head: tip });
  });

  // promise: reviewed-change-lands
  it.each([onBranch(tip), onBranch(tip, false), null])(
    'that moved is reviewed again if a review is required',
    (worktree) => {
      const decision = decideMovedBranch({ ...moved, worktree, mustBeReviewed: true });
      expect(decision).toMatchObject({ kind: 'for_review', head: tip });
      expect(decision).toHaveProperty('reason', expect.stringContaining('reviewed again'));
    },
  );

  it('that moved is left to a person if its worktree has uncommitted changes', () => {
    expect(decideMovedBranch({ ...moved, worktree: onBranch(tip, false) })).toMatchObject({
      kind: 'for_review',
    });
  });

  it('that moved is left to a person if the worktree is on another branch', () => {
    expect(decideMovedBranch({ ...moved, worktree: elsewhere(other) })).toMatchObject({
      kind: 'for_review',
      head: other,
    });
    expect(decideMovedBranch({ ...moved, tip: null, worktree: elsewhere(other) })).toMatchObject({
      kind: 'for_review',
    });
  });

  it('that was moved back to the target is left to a person', () => {
    expect(decideMovedBranch({ ...moved, isEmpty: true })).toMatchObject({ kind: 'for_review' });
  });

  it('that was deleted lands as long as its commits exist', () => {
    const deleted = { ...queued, tip: null, worktree: null };
    expect(decideMovedBranch(deleted)).toEqual({ kind: 'deleted' });
    expect(decideMovedBranch({ ...deleted, mustBeReviewed: true })).toEqual({ kind: 'deleted' });
    expect(decideMovedBranch({ ...deleted, isHeadThere: false })).toMatchObject({ kind: 'lost' });
  });
});

describe('a queued change', () => {
  const at = timestamp(1_000);
  const landing: Landing = {
    id: brand<LandingId>('la-1'),
    task: brand<TaskId>('cp-0001'),
    target: brand<BranchName>('main'),
    attempt: null,
    head,
    queuedAt: at,
    isHotfix: false,
    isUnchecked: false,
    waiting: null,
    state: { status: 'queued', since: at },
  };
  const task = { id: landing.task, state: { status: 'landing', since: at, landing: landing.id } } as Task;
  const reason = 'its branch moved';

  // promise: reviewed-change-lands
  it('keeps its head once a person has approved it', () => {
    const requeue = (one: Landing, to: CommitId) =>
      decideLanding(one, { action: 'requeue', head: to, reason }, at);
    expect(requeue({ ...landing, isReviewed: true }, tip)).toMatchObject({ kind: 'refused' });
    expect(requeue({ ...landing, isReviewed: true }, head)).toMatchObject({ kind: 'decided' });
    expect(requeue(landing, tip)).toMatchObject({ kind: 'decided' });
  });

  it('goes back to review with the new head of its branch, out of the queue', () => {
    const decision = decideUnqueue(task, landing, { head: tip, reason }, at);
    expect(decision).toMatchObject({
      kind: 'decided',
      events: [
        { type: 'landing.withdrawn', id: landing.id, reason },
        { type: 'task.sent_to_review', id: task.id, head: tip, pullRequest: null },
      ],
    });
  });

  it('has its earlier pull request again', () => {
    const of = { branch: landing.target, target: landing.target, note: null };
    const pullRequest = { ...of, is: 'pushed', url: null } as const;
    const decision = decideUnqueue(task, { ...landing, pullRequest }, { head: tip, reason }, at);
    expect(decision).toMatchObject({ events: [{}, { type: 'task.sent_to_review', pullRequest }] });
  });

  it('stays once its move of the target is journalled, and if it is another landing', () => {
    const intent = { oldTip: head, newTip: tip, commit: tip, isVerified: false };
    const journalled: Landing = { ...landing, state: { status: 'merging', since: at, intent } };
    expect(decideUnqueue(task, journalled, { head: tip, reason }, at)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'already_landing' },
    });
    const late = { ...landing, id: brand<LandingId>('la-0') };
    expect(decideUnqueue(task, late, { head: tip, reason }, at)).toMatchObject({ kind: 'refused' });
  });
});
