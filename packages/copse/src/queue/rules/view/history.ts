/** The recent history of a queue, from events: how many checks and landings there were, and how long they took. */

import type { BoardEvent, EventType } from '../../../board/rules/event.ts';
import type { BranchName, CommitId, LandingId, TaskId, Timestamp } from '../../../kernel/ids.ts';
import { type EndedCheck, endedRuns } from './runs.ts';

/** The events that `recentOf` reads. */
export const historyTypes = [
  'check.started',
  'check.ended',
  'landing.queued',
  'landing.journalled',
  'landing.landed',
] as const satisfies readonly EventType[];

/** The same, and what its checks did. States of a queue are large, so only what shows these runs reads them. */
export const runHistoryTypes = [...historyTypes, 'queue.decided'] as const satisfies readonly EventType[];

export interface RecentLanding {
  readonly landing: LandingId;
  readonly task: TaskId;
  readonly commit: CommitId;
  readonly at: Timestamp;
  readonly tookMs: number;
  readonly isVerified: boolean;
}

export interface QueueHistory {
  /** Duration of each green check, by its command. */
  readonly greenMs: ReadonlyMap<string, readonly number[]>;
  /** How often the checks ran. */
  readonly runs: number;
  /** The oldest first. */
  readonly landed: readonly RecentLanding[];
  /** The oldest first; empty without the events of `runHistoryTypes`. */
  readonly ended: readonly EndedCheck[];
}

/** Landings queued before the first event are left out: their duration is unknown. */
export function recentOf(events: readonly BoardEvent[], target: BranchName): QueueHistory {
  const started = new Map<string, { readonly command: string; readonly at: Timestamp }>();
  const queued = new Map<string, { readonly task: TaskId; readonly at: Timestamp }>();
  const verified = new Set<string>();
  const greenMs = new Map<string, number[]>();
  const ended = new Map<string, number>();
  const landed: RecentLanding[] = [];
  for (const event of events) {
    if (event.type === 'check.started' && event.target === target) started.set(event.id, event);
    if (event.type === 'check.ended') {
      const check = started.get(event.id);
      if (check === undefined) continue;
      ended.set(check.command, (ended.get(check.command) ?? 0) + 1);
      if (event.verdict === 'green')
        greenMs.set(check.command, [...(greenMs.get(check.command) ?? []), event.at - check.at]);
    }
    if (event.type === 'landing.queued' && event.target === target) queued.set(event.id, event);
    if (event.type === 'landing.journalled' && event.intent.isVerified) verified.add(event.id);
    if (event.type === 'landing.landed') {
      const before = queued.get(event.id);
      if (before === undefined) continue;
      const { id: landing, commit, at } = event;
      const tookMs = Math.max(0, at - before.at);
      landed.push({ landing, task: before.task, commit, at, tookMs, isVerified: verified.has(landing) });
    }
  }
  // A run ends at the first red command, so the command that ran most often ran every time.
  return { greenMs, runs: Math.max(0, ...ended.values()), landed, ended: endedRuns(events, target) };
}

/** Duration of one run of all checks: the median, and the 90th percentile. */
export interface Usual {
  readonly medianMs: number;
  readonly slowMs: number;
}

/** Null until every command was seen green once. */
export function usualOf(
  commands: readonly string[],
  { greenMs }: Pick<QueueHistory, 'greenMs'>,
): Usual | null {
  let [medianMs, slowMs] = [0, 0];
  for (const command of commands) {
    const took = greenMs.get(command)?.slice(-LATEST) ?? [];
    if (took.length === 0) return null;
    medianMs += quantile(took, 0.5);
    slowMs += quantile(took, 0.9);
  }
  return commands.length === 0 ? null : { medianMs, slowMs };
}

/** Older durations say little about a project that changes. */
const LATEST = 30;

/** The smallest value that this share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
