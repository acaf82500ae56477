/** When an orchestrator sweeps, and which time the trash goes by. */

import { describe, expect, it } from 'vitest';

import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import {
  type TrashClock,
  trustClock,
} from '../../../packages/copse/src/workspaces/rules/sweep/trash-clock.ts';
import { decideDueSweep } from '../../../packages/copse/src/workspaces/rules/sweep/due.ts';
import { sweptKinds } from '../../../packages/copse/src/workspaces/rules/sweep/things.ts';
import { maintenance, now } from '../../support/workspaces/sweep-facts.ts';

describe('the clock of the trash', () => {
  const hours = (count: number) => timestamp(now + count * 3_600_000);
  const looks = (...times: readonly number[]) => {
    let memory: TrashClock | undefined;
    return times.map((hour) => {
      const look = trustClock(memory, hours(hour), maintenance);
      memory = look.memory;
      return (look.trusted - now) / 3_600_000;
    });
  };

  it('follows the machine, also when it is set back', () => {
    expect(looks(0, 6, 12, 11, 35)).toEqual([0, 6, 12, 11, 35]);
  });

  it('does not follow a jump of days before it has held for hours', () => {
    expect(looks(0, 9_000, 9_001, 9_005.9, 9_006)).toEqual([0, 0, 0, 0, 9_006]);
  });

  it('does not take a small step back during a jump for its end', () => {
    expect(looks(0, 9_000, 8_999.9, 9_000)).toEqual([0, 0, 0, 0]);
  });

  it('forgets a jump that was taken back', () => {
    expect(looks(0, 9_000, 1, 2)).toEqual([0, 0, 1, 2]);
    expect(looks(0, 9_000, 90_000, 90_005, 90_006)).toEqual([0, 0, 0, 0, 90_006]);
  });
});

describe('a sweep of an orchestrator', () => {
  const due = (
    isStart: boolean,
    last: { all: number; sessions: number } | null,
    set: object = {},
    logFolders = 0,
  ) => {
    const moments = last && { all: timestamp(last.all), sessions: timestamp(last.sessions) };
    const found = decideDueSweep({ isStart, last: moments, now, logFolders }, { ...maintenance, ...set });
    const kinds = found && [...found.kinds].join(' ');
    return found && [kinds === sweptKinds.join(' ') ? 'all' : kinds, [...found.off].join(' ')];
  };
  const { sweepEveryMs, sessionCleanupEveryMs } = maintenance;
  const lately = { all: now - 1, sessions: now - 1 };

  // setting: maintenance.worktree_cleanup.interval, maintenance.session_cleanup.interval
  it('happens at the start, every interval, and after the clock was set back', () => {
    expect(due(true, lately)).toEqual(['all', '']);
    expect(due(true, lately, { cleanupOnStartup: false })).toBeNull();
    expect(due(true, null, { cleanupOnStartup: false })).toBeNull();
    expect(due(false, { ...lately, all: now - sweepEveryMs })).toEqual(['all', '']);
    expect(due(false, { ...lately, all: now - sweepEveryMs + 1 })).toBeNull();
    expect(due(false, { ...lately, all: now + 1 })).toEqual(['all', '']);
    expect(due(false, { ...lately, sessions: now - sessionCleanupEveryMs })).toEqual(['session', '']);
  });

  it('removes logs beyond the kept ones between two sweeps, but not in every round', () => {
    const { logsKept, logSweepEveryMs } = maintenance;
    const before = { ...lately, sessions: now - logSweepEveryMs };
    expect(due(false, before, {}, logsKept * 1.2)).toEqual(['logs artifacts session', '']);
    expect(due(false, before, {}, logsKept)).toBeNull();
    expect(due(false, lately, {}, logsKept * 1.2)).toBeNull();
  });

  // setting: maintenance.session_cleanup.enabled
  it('leaves out what is switched off', () => {
    const off = { worktreeCleanup: false, sessionCleanup: false };
    expect(due(true, lately, off)).toEqual(['all', 'worktree branch record session']);
    expect(due(false, { ...lately, sessions: 0 }, off)).toBeNull();
  });
});
