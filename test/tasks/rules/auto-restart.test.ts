import { describe, expect, test } from 'vitest';

import { type CommitId, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { evolveTask } from '../../../packages/copse/src/tasks/rules/events.ts';
import { decideAutoRestart, planRestart } from '../../../packages/copse/src/tasks/rules/auto-restart.ts';
import type { Task, TaskState } from '../../../packages/copse/src/tasks/rules/task.ts';
import { definition } from '../../support/records/world.ts';

const since = timestamp(1_000_000);
const policy = { ...defaultPolicy.retry, maxStuckRestarts: 2, firstBackoffMs: 10_000, maxBackoffMs: 60_000 };
const failed = { lastEnd: 'stuck', isByHand: false } as const;
const stuck: TaskState = { status: 'stuck', since, reason: 'no such program', isByCopse: true };
const attention = (because: Extract<TaskState, { status: 'needs_attention' }>['because']): TaskState => ({
  status: 'needs_attention',
  since,
  because,
  reason: 'does not fit',
});

function taskIn(state: TaskState, autoRestarts?: number): Task {
  const id = brand<TaskId>('cp-0001');
  const made = evolveTask(undefined, { type: 'task.created', id, at: since, definition, status: 'ready' });
  if (made === undefined) throw new Error('It was not made');
  return { ...made, state, ...(autoRestarts !== undefined && { autoRestarts }) };
}

describe('an automatic restart', () => {
  test.each([
    ['stuck by a fault', stuck, 'planned'],
    ['stuck with a question', { status: 'stuck', since, reason: 'Which?' }, 'none'],
    ['uncommitted work', attention('dirty'), 'planned'],
    ['no commits', attention('nothing_committed'), 'planned'],
    ['an accept command', attention('accept'), 'planned'],
    ['checks', attention('checks'), 'planned'],
    ['a conflict', attention('conflict'), 'none'],
    ['a push', attention('push'), 'none'],
    ['a landing', attention('landing'), 'none'],
    ['files that cannot be read', attention('unreadable'), 'none'],
    ['paused by a person', { status: 'paused', since }, 'none'],
    ['cancelled by a person', { status: 'cancelled', since, reason: null }, 'none'],
    ['failed after its retries', { status: 'failed', since, reason: 'it crashed' }, 'none'],
    [
      'in review',
      { status: 'in_review', since, head: brand<CommitId>('c'.repeat(40)), pullRequest: null },
      'none',
    ],
  ] as const)('of a task that stopped because of %s: %s', (_, state, kind) => {
    expect(planRestart(taskIn(state), failed, policy).kind).toBe(kind);
  });

  test('is not for work by hand, for a used-up budget, or without a number in copse.yml', () => {
    const kinds = [
      planRestart(taskIn(stuck), { ...failed, isByHand: true }, policy),
      planRestart(taskIn(stuck), { ...failed, lastEnd: 'over_budget' }, policy),
      planRestart(taskIn(stuck), failed, { ...policy, maxStuckRestarts: 0 }),
      planRestart(
        taskIn({ ...attention('dirty'), resolver: brand<TaskId>('cp-2') } as TaskState),
        failed,
        policy,
      ),
    ].map(({ kind }) => kind);
    expect(kinds).toEqual(['none', 'none', 'none', 'none']);
  });

  test('waits twice as long each time, and ends with its number', () => {
    const plan = (done: number) => planRestart(taskIn(stuck, done), failed, policy);
    expect(plan(0)).toEqual({ kind: 'planned', number: 1, of: 2, at: since + 10_000 });
    expect(plan(1)).toEqual({ kind: 'planned', number: 2, of: 2, at: since + 20_000 });
    expect(plan(2)).toEqual({ kind: 'used_up', of: 2 });
  });

  test('happens once, counts, and a person begins the count anew', () => {
    const task = taskIn(stuck);
    const early = decideAutoRestart(task, failed, policy, timestamp(since + 9_999));
    expect(early).toMatchObject({ kind: 'refused', refusal: { code: 'too_early' } });
    const due = decideAutoRestart(task, failed, policy, timestamp(since + 10_000));
    const events = due.kind === 'refused' ? expect.fail(due.refusal.reason) : due.events;
    const evolved = events.reduce<Task | undefined>((before, event) => evolveTask(before, event), task);
    const after = evolved ?? expect.fail('It is gone');
    expect(after).toMatchObject({ autoRestarts: 1, state: { status: 'ready', delay: null } });
    // A second machine finds it ready.
    expect(decideAutoRestart(after, failed, policy, timestamp(since + 10_000))).toMatchObject({
      kind: 'refused',
      refusal: { code: 'wrong_status' },
    });
    const byPerson = { type: 'task.restarted', id: task.id, at: since, grant: null } as const;
    expect(evolveTask(after, byPerson)).toMatchObject({ autoRestarts: 0 });
    expect(evolveTask(task, byPerson)).not.toHaveProperty('autoRestarts');
  });
});
