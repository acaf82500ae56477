import { describe, expect, it } from 'vitest';

import type { BoardEvent } from '../../../../packages/copse/src/board/rules/event.ts';
import {
  type BranchName,
  type CommitId,
  type LandingId,
  type NodeId,
  type TaskId,
  brand,
  timestamp,
} from '../../../../packages/copse/src/kernel/ids.ts';
import {
  type Batch,
  type QueueState,
  emptyQueueState,
} from '../../../../packages/copse/src/queue/rules/decide/state.ts';
import type { CheckRun } from '../../../../packages/copse/src/queue/rules/merge-queue.ts';
import { endedRuns } from '../../../../packages/copse/src/queue/rules/view/runs.ts';

const main = brand<BranchName>('main');
const tip = brand<CommitId>('a'.repeat(40));
const landingOf = (name: string) => brand<LandingId>(`la-${name}`);

function batch(id: number, names: string, stage: Batch['stage'], marks: Partial<Batch> = {}): Batch {
  const changes = names.split('').map((name) => ({
    landing: landingOf(name),
    task: brand<TaskId>(`cp-${name}`),
    head: tip,
  }));
  return { id, changes, stage, wasRed: false, wasSlow: false, ...marks };
}

const checking = (run: number) => ({ is: 'checking', run, onto: tip, of: null }) as const;

function run(number: number, names: string, purpose: CheckRun['purpose'], since: number): CheckRun {
  const of = { commit: tip, slot: 1, node: brand<NodeId>('no-1'), since: timestamp(since) };
  return { run: number, purpose, landings: names.split('').map(landingOf), ...of };
}

function decided(at: number, runs: readonly CheckRun[], state: Partial<QueueState>, id = main): BoardEvent {
  return { type: 'queue.decided', id, at: timestamp(at), runs, state: { ...emptyQueueState, ...state } };
}

describe('checks that ended', () => {
  it('a batch that failed is named by its halves', () => {
    const whole = run(1, 'abcd', 'batch', 10);
    const half = run(5, 'ab', 'half', 20);
    const second = batch(4, 'cd', { is: 'waiting', as: 'second_half', of: 3 });
    const ended = endedRuns(
      [
        decided(10, [whole], { batches: [batch(2, 'abcd', checking(1))] }),
        decided(20, [half], { batches: [batch(3, 'ab', checking(5)), second] }),
        decided(30, [], { batches: [batch(3, 'ab', { is: 'green', since: 6 }), second] }),
      ],
      main,
    );
    expect(ended).toMatchObject([
      { run: 1, about: ['cp-a', 'cp-b', 'cp-c', 'cp-d'], since: 10, until: 20, ending: 'failed', of: null },
      { run: 5, about: ['cp-a', 'cp-b'], since: 20, until: 30, ending: 'passed', of: 1 },
    ]);
  });

  it.each([
    ['green', batch(2, 'a', { is: 'green', since: 3 }), 'passed'],
    ['accused', batch(2, 'a', { is: 'accused', run: 1, verdict: 'red', onto: tip }), 'failed'],
    ['guilty', batch(2, 'a', { is: 'guilty', run: 1, verdict: 'red' }), 'failed'],
    [
      'to be checked again after it was red',
      batch(2, 'a', { is: 'waiting', as: 'again' }, { wasRed: true }),
      'failed',
    ],
    ['to be checked again because it moved', batch(2, 'a', { is: 'waiting', as: 'again' }), 'dropped'],
  ] as const)('a batch that is then %s', (_, after, ending) => {
    const before = decided(10, [run(1, 'a', 'batch', 10)], { batches: [batch(2, 'a', checking(1))] });
    expect(endedRuns([before, decided(20, [], { batches: [after] })], main)).toMatchObject([{ ending }]);
  });

  it('a batch that is gone passed if its changes landed, and has no verdict otherwise', () => {
    const before = decided(10, [run(1, 'a', 'batch', 10)], { batches: [batch(2, 'a', checking(1))] });
    const gone = decided(20, [], {});
    const landed: BoardEvent = { type: 'landing.landed', id: landingOf('a'), at: timestamp(21), commit: tip };
    expect(endedRuns([before, gone], main)).toMatchObject([{ ending: 'dropped' }]);
    expect(endedRuns([before, gone, landed], main)).toMatchObject([{ ending: 'passed' }]);
  });

  it.each(['green', 'red'] as const)('the target alone was %s', (verdict) => {
    const audit = { tip, run: 1, tried: [] };
    const before = decided(10, [run(1, '', 'target', 10)], { audit: { ...audit, verdict: 'checking' } });
    const ended = endedRuns([before, decided(20, [], { audit: { ...audit, verdict } })], main);
    expect(ended).toMatchObject([{ about: [], ending: verdict === 'green' ? 'passed' : 'failed' }]);
  });

  it('states of another queue are left out', () => {
    const other = brand<BranchName>('other');
    const before = decided(10, [run(1, 'a', 'batch', 10)], {}, other);
    expect(endedRuns([before, decided(20, [], {}, other)], main)).toEqual([]);
  });
});
