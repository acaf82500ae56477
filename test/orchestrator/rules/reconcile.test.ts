import { describe, expect, it } from 'vitest';

import {
  type AttemptId,
  type NodeId,
  type TaskId,
  brand,
  fencingToken,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { type HeldTask, decideRecoveries } from '../../../packages/copse/src/orchestrator/rules/reconcile.ts';

const { durationMs } = defaultPolicy.lease;
const { runnerStartMs } = defaultPolicy.orchestration;

const held: HeldTask = {
  task: brand<TaskId>('cp-0001'),
  token: fencingToken(3),
  node: brand<NodeId>('n-1'),
  attempt: brand<AttemptId>('at-1'),
  claimedAt: timestamp(0),
  runner: 'alive',
  silentMs: 0,
};

const recoveries = (of: Partial<HeldTask>) => decideRecoveries([{ ...held, ...of }], defaultPolicy);

describe('a task that is held', () => {
  // promise: expired-lease-proves-nothing
  it.each([
    ['alive', 0, null],
    ['alive', durationMs - 1, null],
    ['alive', durationMs, /its runner has not renewed its lease for 30 s/],
    ['gone', 0, /its runner is gone/],
    ['never_told', 0, null],
    ['never_told', runnerStartMs - 1, null],
    ['never_told', runnerStartMs, /did not start within 15 s/],
    ['elsewhere', durationMs - 1, null],
    ['elsewhere', durationMs, /machine n-1 has not been heard from for 30 s/],
  ] as const)('by a runner that is %s and silent for %i ms: %s', (runner, silentMs, reason) => {
    const [recovery, ...others] = recoveries({ runner, silentMs });
    expect(others).toEqual([]);
    if (reason === null) expect(recovery).toBeUndefined();
    else {
      expect(recovery).toMatchObject({
        task: 'cp-0001',
        token: 3,
        attempt: 'at-1',
        where: runner === 'elsewhere' ? 'elsewhere' : 'here',
        reason: expect.stringMatching(reason),
      });
    }
  });

  it.each(['alive', 'gone', 'never_told', 'elsewhere'] as const)(
    'by hand is never taken away, whatever the state of its process is (%s)',
    (runner) => {
      expect(recoveries({ attempt: null, runner, silentMs: 1e12 })).toEqual([]);
    },
  );
});
