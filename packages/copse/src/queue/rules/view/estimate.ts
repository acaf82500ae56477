/**
 * How long until an entry lands, as a range: from "everything passes" to "every batch is split to the end". Null until
 * one run of every check was seen to pass.
 */

import type { Timestamp } from '../../../kernel/ids.ts';
import type { CheckRun } from '../merge-queue.ts';
import type { Usual } from './history.ts';

/** Until it has landed. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface EstimateFacts {
  readonly usual: Usual | null;
  /** Checks that are running. */
  readonly runs: readonly CheckRun[];
  readonly slots: number;
  readonly now: Timestamp;
}

/** It is part of a running check: it lands at once, after a check of the train, or after its batch of `size` is split. */
export function afterRun({ usual, now }: EstimateFacts, run: CheckRun, size: number): Range | null {
  if (usual === null) return null;
  const ranMs = now - run.since;
  const { medianMs, slowMs } = usual;
  return {
    fromMs: Math.max(0, medianMs - ranMs),
    toMs: Math.max(0, slowMs - ranMs) + slowMs * (1 + splits(size)),
  };
}

/** Its check starts after this many rounds of other checks. */
export function afterSlot(
  { usual, runs, slots, now }: EstimateFacts,
  rounds: number,
  size: number,
): Range | null {
  if (usual === null) return null;
  const { medianMs, slowMs } = usual;
  const ends = runs.map(({ since }) => since - now);
  const isFree = runs.length < slots;
  const slotMs = (lasts: number) =>
    isFree ? 0 : Math.max(0, Math.min(...ends.map((begun) => begun + lasts)));
  return {
    fromMs: slotMs(medianMs) + medianMs * (rounds + 1),
    toMs: slotMs(slowMs) + slowMs * (2 * rounds + 2 + splits(size)),
  };
}

/** How often a batch is halved until one is left. */
function splits(size: number): number {
  return Math.ceil(Math.log2(Math.max(1, size)));
}
