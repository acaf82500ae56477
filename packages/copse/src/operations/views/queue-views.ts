/** What `--json` prints about queues. Times are ISO 8601, durations milliseconds. */

import type { BranchName, Timestamp } from '../../kernel/ids.ts';
import type { Pause } from '../../queue/rules/merge-queue.ts';
import type { EndedCheck } from '../../queue/rules/view/runs.ts';
import type { RecentLanding } from '../../queue/rules/view/history.ts';
import type { EntryView, QueueView, RunView } from '../../queue/rules/view/view.ts';
import { alarmsOf } from '../../explain/queue-alarms.ts';
import { runText, standingText, waitText } from '../../explain/rules/queue.ts';
import { time } from '../../kernel/time.ts';

export function queueView(queue: QueueView) {
  const { target, isLed, hasChecks, slots, train, isTargetRed, usual, figures } = queue;
  return {
    target,
    isLed,
    isVerified: hasChecks,
    slots,
    train,
    isTargetRed,
    usualMs: usual?.medianMs ?? null,
    paused: { accept: pausedView(queue.paused.accept), land: pausedView(queue.paused.land) },
    stalled: queue.stalled && { since: time(queue.stalled.since), reason: waitText(queue.stalled.reason) },
    trouble: queue.trouble && {
      reason: queue.trouble.reason,
      times: queue.trouble.times,
      until: time(queue.trouble.until as Timestamp),
    },
    alarms: alarmsOf(queue).map(({ kind, text, since, next }) => ({
      kind,
      text,
      since: since && time(since),
      next,
    })),
    checks: queue.runs.map(runView),
    lost: queue.lost.map(runView),
    ended: queue.ended.map(endedView),
    entries: queue.entries.map(entryView),
    figures,
    landed: queue.landed.map(landedView),
  };
}

export function switchesView(target: BranchName, { paused }: Pick<QueueView, 'paused'>) {
  return { target, paused: { accept: pausedView(paused.accept), land: pausedView(paused.land) } };
}

function pausedView(pause: Pause | null) {
  return pause && { since: time(pause.since), reason: pause.reason };
}

function runView(run: RunView) {
  const { run: number, slot, purpose, about, tasks, commit, since, of } = run;
  return { run: number, slot, purpose, says: runText(run), about, tasks, commit, since: time(since), of };
}

function endedView(run: EndedCheck) {
  return { ...runView(run), until: time(run.until), ending: run.ending };
}

function entryView({ queuedAt, standing, ...entry }: EntryView) {
  return { ...entry, why: standingText(standing), queuedAt: time(queuedAt) };
}

function landedView({ at, ...landed }: RecentLanding) {
  return { ...landed, at: time(at) };
}
