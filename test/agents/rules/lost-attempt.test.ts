/** Which attempt's work a machine still has to hand in. */

import { describe, expect, it } from 'vitest';

import { attemptToHandIn } from '../../../packages/copse/src/agents/rules/session/lost-attempt.ts';
import {
  type NodeId,
  type TaskId,
  brand,
  fencingToken,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { Attempt } from '../../../packages/copse/src/tasks/rules/attempt.ts';
import type { TaskState } from '../../../packages/copse/src/tasks/rules/task.ts';

const [here, there] = [brand<NodeId>('n-here'), brand<NodeId>('n-there')];
const since = timestamp(1);
const ENDED = { at: since, reason: 'crashed', exitCode: null } as const;

function attempt(token: number, node: NodeId, end: Attempt['end'] = ENDED): Attempt {
  return {
    id: brand(`at-${token}`),
    session: brand('se-1'),
    task: brand<TaskId>('cp-0001'),
    node,
    token: fencingToken(token),
    startedAt: since,
    process: null,
    end,
  };
}

const ready: TaskState = { status: 'ready', since, delay: null };
const heldBy = (node: NodeId): TaskState => ({
  status: 'in_progress',
  since,
  claim: {
    session: brand('se-2'),
    attempt: brand('at-2'),
    node,
    agent: brand('worker'),
    token: fencingToken(2),
  },
});

// promise: cut-off-hands-in
describe('a machine hands in the work of its last attempt', () => {
  it.each([
    ['which another machine ended', ready, [attempt(1, here)], 'at-1'],
    ['whose task another machine has', heldBy(there), [attempt(1, here), attempt(2, there, null)], 'at-1'],
    ['and of no earlier one', ready, [attempt(1, here), attempt(3, here), attempt(2, there)], 'at-3'],
    ['but not while it counts as running', ready, [attempt(1, here, null)], undefined],
    ['but not while the task is held here', heldBy(here), [attempt(1, here)], undefined],
    ['but not of another machine', ready, [attempt(1, there)], undefined],
    [
      'but not when the task is over',
      { status: 'cancelled', since, reason: null },
      [attempt(1, here)],
      undefined,
    ],
  ] as const)('%s', (_, state, attempts, expected) => {
    expect(attemptToHandIn({ state }, attempts, here)?.id).toBe(expected);
  });

  it('but not what a person discarded since', () => {
    const discarded = { upTo: fencingToken(1), workspaces: [] };
    expect(attemptToHandIn({ state: ready, discarded }, [attempt(1, here)], here)).toBeUndefined();
    expect(attemptToHandIn({ state: ready, discarded }, [attempt(2, here)], here)?.id).toBe('at-2');
  });
});
