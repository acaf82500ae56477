/**
 * The disk budget (`maintenance.max_disk`): if more is used, the oldest of what only its age keeps goes, one after another, until
 * the rest fits. What anything else keeps stays, however full the disk is.
 *
 * A worktree moves to the trash, which frees nothing at once: it does not count as freed, and is taken last.
 */

import type { Timestamp } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import type { SweepItem } from './things.ts';

export interface Budget {
  readonly maxBytes: number;
  readonly usedBytes: number;
  /** After everything in the plan is gone, with what moved to the trash. */
  readonly leftBytes: number;
  /** What moves to the trash, where most of it is freed soon: git holds it. */
  readonly trashedBytes: number;
}

export function applyBudget(
  items: readonly SweepItem[],
  now: Timestamp,
  { maxDiskBytes: maxBytes, budgetAgeMs }: Policy['maintenance'],
): { readonly items: readonly SweepItem[]; readonly budget: Budget | null } {
  if (maxBytes === null) return { items, budget: null };
  const usedBytes = sum(items);
  const going = items.filter(({ verdict }) => verdict.kind === 'goes');
  let trashedBytes = sum(going.filter(isMoved));
  let leftBytes = usedBytes - sum(going) + trashedBytes;
  const chosen = new Set<SweepItem>();
  const oldest = oldestFirst(items, now - budgetAgeMs);
  for (const item of oldest.filter((one) => !isMoved(one))) {
    if (leftBytes <= maxBytes) break;
    chosen.add(item);
    leftBytes -= item.bytes ?? 0;
  }
  for (const item of oldest.filter(isMoved)) {
    if (leftBytes - trashedBytes <= maxBytes) break;
    chosen.add(item);
    trashedBytes += item.bytes ?? 0;
  }
  return {
    items: items.map((item) => (chosen.has(item) ? overBudget(item) : item)),
    budget: { maxBytes, usedBytes, leftBytes, trashedBytes },
  };
}

function isMoved({ found }: SweepItem): boolean {
  return found.kind === 'worktree';
}

/** Those that free space, and are safe since this time or longer. */
function oldestFirst(items: readonly SweepItem[], latest: number): readonly SweepItem[] {
  const since = ({ verdict }: SweepItem) => (verdict.kind === 'stays' ? verdict.safeSince : null);
  return items
    .filter((item) => (item.bytes ?? 0) > 0 && (since(item) ?? Infinity) <= latest)
    .toSorted((one, other) => (since(one) ?? 0) - (since(other) ?? 0));
}

function overBudget(item: SweepItem): SweepItem {
  const { verdict } = item;
  if (verdict.kind === 'goes' || verdict.asIfOld === undefined) return item;
  const { asIfOld } = verdict;
  const why = `over maintenance.max_disk; ${asIfOld.why}`;
  return { ...item, verdict: { ...asIfOld, why }, isForBudget: true };
}

function sum(items: readonly SweepItem[]): number {
  return items.reduce((bytes, item) => bytes + (item.bytes ?? 0), 0);
}
