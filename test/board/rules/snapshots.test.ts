import { describe, expect, test } from 'vitest';

import {
  type Snapshot,
  decideRotation,
  parseSnapshot,
  snapshotName,
} from '../../../packages/copse/src/board/rules/snapshots.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 4, 20, 12);

function taken(at: number): Snapshot {
  const snapshot = parseSnapshot(snapshotName(timestamp(at), 'start'));
  if (snapshot === undefined) throw new Error('not a name');
  return snapshot;
}

describe('the name of a snapshot', () => {
  test('says when and why it was taken, and sorts by time', () => {
    expect(snapshotName(timestamp(NOON + 7), 'daily')).toBe('20260520T120000007Z-daily.db');
    expect(taken(NOON + 7)).toMatchObject({ at: NOON + 7, reason: 'start' });
  });

  test.each([
    'board.db',
    '20260520T120000007Z-other.db',
    '20260520T120000007Z-start.db.1.partial',
    'aside-2026',
  ])('is not %s', (name) => expect(parseSnapshot(name)).toBeUndefined());
});

describe('rotation', () => {
  const kept = { most: 7, newest: 3 };
  const keeps = (all: readonly Snapshot[]) => {
    const gone = decideRotation(all, kept);
    return all.filter(({ name }) => !gone.includes(name)).map(({ at }) => at);
  };

  test('keeps at most seven', () => {
    const days = Array.from({ length: 20 }, (_, day) => taken(NOON - day * 24 * HOUR));
    expect(keeps(days)).toEqual(days.slice(0, 7).map(({ at }) => at));
  });

  test('does not let many starts of one day push out the days before', () => {
    const today = Array.from({ length: 10 }, (_, minute) => taken(NOON - minute * 60_000));
    const before = Array.from({ length: 10 }, (_, day) => taken(NOON - (day + 1) * 24 * HOUR));
    expect(keeps([...before, ...today]).toSorted((one, other) => other - one)).toEqual(
      [...today.slice(0, 3), ...before.slice(0, 4)].map(({ at }) => at),
    );
  });
});
