/** Snapshots of a board: their names, and which of them are kept. */

import { type Timestamp, timestamp } from '../../kernel/ids.ts';

const snapshotReasons = ['start', 'daily', 'migration', 'asked'] as const;
export type SnapshotReason = (typeof snapshotReasons)[number];

export interface Snapshot {
  readonly name: string;
  readonly at: Timestamp;
  readonly reason: SnapshotReason;
}

/** Sorts by time: `20261117T051441123Z-start.db`. */
export function snapshotName(at: Timestamp, reason: SnapshotReason): string {
  return `${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}-${reason}.db`;
}

/** Undefined for a file that has another name. */
export function parseSnapshot(name: string): Snapshot | undefined {
  const [, year, month, day, hour, minute, second, ms, word] = NAME.exec(name) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  const reason = snapshotReasons.find((one) => one === word);
  return reason === undefined || Number.isNaN(at) ? undefined : { name, at: timestamp(at), reason };
}

const NAME = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z-(\w+)\.db$/;

/**
 * The names to delete. Of the newest ones all are kept, of older ones the last of each day: an orchestrator that is started
 * ten times in an hour does not push out the snapshots of the days before.
 */
export function decideRotation(
  snapshots: readonly Snapshot[],
  { most, newest }: { readonly most: number; readonly newest: number },
): readonly string[] {
  const latestFirst = snapshots.toSorted((one, other) => other.at - one.at);
  const days = new Set<string>();
  let kept = 0;
  return latestFirst.flatMap(({ name, at }, index) => {
    const day = new Date(at).toISOString().slice(0, 10);
    const isWanted = kept < most && (index < newest || !days.has(day));
    days.add(day);
    if (isWanted) kept += 1;
    return isWanted ? [] : [name];
  });
}
