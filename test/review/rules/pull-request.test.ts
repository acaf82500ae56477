/** What may happen to a task whose pull request is looked after, and what is said about it. */

import { describe, expect, it } from 'vitest';

import { type BranchName, type CommitId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import {
  type PullRequest,
  explain,
  isSame,
  summarise,
} from '../../../packages/copse/src/review/rules/pull-request.ts';
import type { Task } from '../../../packages/copse/src/tasks/rules/task.ts';
import { evolveTask } from '../../../packages/copse/src/tasks/rules/events.ts';
import {
  decideGiveUp,
  decideLand,
  decidePullRequest,
} from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import { Model } from '../../support/records/world.ts';

const at = timestamp(1);
const head = brand<CommitId>('ab'.repeat(20));
const other = brand<CommitId>('cd'.repeat(20));
const of = { branch: brand<BranchName>('cp-1/x'), target: brand<BranchName>('main'), note: null };
const url = 'https://forge.example.invalid/o/r/pull/7';

const every: readonly PullRequest[] = [
  { is: 'wanted', ...of, summary: null },
  { is: 'wanted', ...of, summary: null, isPushOnly: true, note: 'no' },
  { is: 'given_up', ...of, note: 'no' },
  { is: 'pushed', ...of, url: null },
  { is: 'pushed', ...of, url, note: 'who runs it?' },
  { is: 'open', ...of, url, number: 7, review: 'none', hasConflict: false },
  { is: 'open', ...of, url, number: 7, review: 'changes_requested', hasConflict: true, note: 'moved' },
  { is: 'closed', ...of, url, number: 7, by: 'grace' },
];
const [wanted, , , , , open] = every;
if (wanted === undefined || open === undefined) throw new Error('There are some');

function inReview(pullRequest: PullRequest | null): Task {
  const model = new Model();
  model.create(0);
  const task = model.task(0);
  if (task === undefined) throw new Error('There is one');
  return { ...task, state: { status: 'in_review', since: at, head, pullRequest } };
}

describe('a state of a pull request', () => {
  it('is recorded once, for exactly the submitted commit', () => {
    const task = inReview(wanted);
    const decision = decidePullRequest(task, head, open, at);
    expect(decision).toMatchObject({ kind: 'decided', events: [{ pullRequest: open }] });
    if (decision?.kind !== 'decided') return;
    const after = evolveTask(task, decision.events[0]);
    expect(after?.state).toEqual({ status: 'in_review', since: at, head, pullRequest: open });
    expect(after && decidePullRequest(after, head, { ...open }, at)).toBeNull();
  });

  it('changes nothing for a task that continued meanwhile, or never had one', () => {
    const gone: readonly Task[] = [
      inReview(null),
      { ...inReview(wanted), state: { status: 'in_review', since: at, head: other, pullRequest: wanted } },
      { ...inReview(wanted), state: { status: 'ready', since: at, delay: null } },
      { ...inReview(wanted), state: { status: 'done', since: at, how: 'landed', commit: head } },
    ];
    for (const task of gone) {
      const merged = { kind: 'pull_request', commit: other, head, hasAll: true } as const;
      expect(decidePullRequest(task, head, open, at)?.kind).toBe('refused');
      expect(decideLand(task, merged, at).kind).toBe('refused');
      expect(decideGiveUp(task, { head }, { because: 'push', reason: 'no' }, at).kind).toBe('refused');
    }
  });

  it('merged makes the task done, and keeps the submitted commit only if all of it was merged', () => {
    const task = inReview(open);
    for (const hasAll of [true, false]) {
      const decision = decideLand(task, { kind: 'pull_request', commit: other, head, hasAll }, at);
      const [event] = decision.kind === 'decided' ? decision.events : [];
      const after = event?.type === 'task.done' ? evolveTask(task, event)?.state : undefined;
      const done = { status: 'done', since: at, how: 'pull_request', commit: other };
      expect(after).toEqual(hasAll ? { ...done, head } : done);
    }
  });
});

describe('the description of a pull request', () => {
  it('does not depend on the order in which it was read', () => {
    for (const one of every) {
      const turned = Object.fromEntries(Object.entries(one).toReversed()) as unknown as PullRequest;
      expect(isSame(one, turned)).toBe(true);
      expect(every.filter((another) => isSame(one, another))).toEqual([one]);
    }
  });

  it('names its address and its note, in a list and in full', () => {
    for (const one of every) {
      const known = 'url' in one && one.url !== null ? [one.url] : [];
      for (const text of [summarise(one), explain(one).join('\n')]) {
        expect(text).not.toMatch(/undefined|null/);
        for (const part of known) expect(text).toContain(part);
      }
      expect(explain(one).join('\n')).toContain(one.note ?? '');
      expect(summarise(one)).not.toContain('\n');
    }
  });
});
