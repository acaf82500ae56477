/** The time by which entries of the trash grow old. */

import type { Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type TrashClock, trustClock } from '../rules/sweep/trash-clock.ts';

/** Of this clone, so that the next process goes on with it. */
export interface TrashClockMemory {
  load(): TrashClock | undefined;
  save(clock: TrashClock): void;
}

export interface TrashTime {
  readonly policy: Pick<Policy, 'maintenance'>;
  /** Absent: the machine's clock is trusted. */
  readonly trashClock?: TrashClockMemory | undefined;
}

export function trashTime({ policy, trashClock }: TrashTime, now: Timestamp): Timestamp {
  if (trashClock === undefined) return now;
  const before = trashClock.load();
  const { trusted, memory } = trustClock(before, now, policy.maintenance);
  const isNew = before === undefined || Math.abs(memory.at - before.at) >= policy.maintenance.tendEveryMs;
  if (isNew || before.jump?.to !== memory.jump?.to) trashClock.save(memory);
  return trusted;
}
