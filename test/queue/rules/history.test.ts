import { describe, expect, it } from 'vitest';

import {
  type BranchName,
  type CheckId,
  type CommitId,
  type LandingId,
  type NodeId,
  type TaskId,
  type Timestamp,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import { recentOf } from '../../../packages/copse/src/queue/rules/view/history.ts';

const main = brand<BranchName>('main');
const node = brand<NodeId>('no-1');
const tip = brand<CommitId>('a'.repeat(40));
const taskId = (name: string) => brand<TaskId>(`cp-${name}`);
const landingId = (name: string) => brand<LandingId>(`la-${name}`);
const headOf = (name: string) => brand<CommitId>(name.padEnd(40, '0'));

describe('the recent history', () => {
  const started = (id: string, command: string, at: Timestamp, target = main): BoardEvent => {
    const of = { id: brand<CheckId>(id), at, target, tree: 't', command, environment: '', node };
    return { type: 'check.started', ...of };
  };
  const ended = (id: string, at: Timestamp, verdict: 'green' | 'red'): BoardEvent => ({
    type: 'check.ended',
    id: brand<CheckId>(id),
    at,
    verdict,
    exitCode: 0,
    log: null,
  });

  it('is read from the events of this target alone', () => {
    const other = brand<BranchName>('other');
    const queued = (name: string, at: Timestamp, target = main): BoardEvent => {
      const of = { id: landingId(name), at, task: taskId(name), target, attempt: null, head: headOf(name) };
      return { type: 'landing.queued', ...of };
    };
    const landed = (name: string, at: Timestamp): BoardEvent => {
      return { type: 'landing.landed', id: landingId(name), at, commit: headOf(name) };
    };
    const intent = { oldTip: tip, newTip: tip, commit: tip, isVerified: true };
    const recent = recentOf(
      [
        queued('a', timestamp(100)),
        queued('b', timestamp(100), other),
        queued('c', timestamp(200)),
        started('1', 'test', timestamp(100)),
        ended('1', timestamp(150), 'green'),
        started('2', 'test', timestamp(100), other),
        ended('2', timestamp(999), 'green'),
        started('3', 'test', timestamp(300)),
        ended('3', timestamp(310), 'red'),
        started('4', 'lint', timestamp(150)),
        ended('4', timestamp(155), 'green'),
        { type: 'landing.journalled', id: landingId('a'), at: timestamp(400), intent },
        landed('a', timestamp(400)),
        landed('b', timestamp(400)),
        landed('c', timestamp(600)),
        landed('before', timestamp(700)),
      ],
      main,
    );
    expect(recent).toEqual({
      greenMs: new Map([
        ['test', [50]],
        ['lint', [5]],
      ]),
      runs: 2,
      landed: [
        { landing: 'la-a', task: 'cp-a', commit: headOf('a'), at: 400, tookMs: 300, isVerified: true },
        { landing: 'la-c', task: 'cp-c', commit: headOf('c'), at: 600, tookMs: 400, isVerified: false },
      ],
      ended: [],
    });
  });
});
