/**
 * One turn of an agent: watched until it is over, then decided what follows before the gate is asked.
 *
 *   ended            the program ended
 *   reported         it reported finished or stuck, and did not end within the grace time
 *   limit_reached    it used up its budget, or its context is nearly full
 *   timed_out        it exceeded limits.time
 *   lost             the lease is lost
 *
 * In all cases but the first the program is stopped.
 */

import { decided, refusedExitCode } from '../../kernel/decision.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { decideSession } from '../rules/session/session.ts';
import type { ReportSeen } from '../rules/session/report.ts';
import type { Orders } from '../ports/runners.ts';
import type { RunningTurn, RuntimeOutcome } from '../ports/runtime.ts';
import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import type { AttemptContext } from './context.ts';
import type { AttemptEnding } from './end.ts';
import type { Crash } from '../act/recover.ts';
import { change } from '../../board/context.ts';
import type { LimitReached, SessionRecorder } from './session-recorder.ts';

export type TurnEnd =
  | { readonly kind: 'ended'; readonly outcome: RuntimeOutcome }
  | { readonly kind: 'reported' | 'timed_out' | 'lost' }
  | { readonly kind: 'limit_reached'; readonly limit: LimitReached };

export interface TurnWatch {
  readonly lost: AbortSignal;
  readonly limitMs: number | null;
  /** Null while the agent hands over: limits no longer count. */
  readonly recorder: SessionRecorder | null;
  /** The folder of the agent's report. */
  readonly reported: string;
}

export async function watchTurn(
  context: AttemptContext,
  orders: Orders,
  turn: RunningTurn,
  { lost, limitMs, recorder, reported }: TurnWatch,
): Promise<TurnEnd> {
  const { clock, policy, reports } = context;
  const over = new AbortController();
  const hasReported = new AbortController();
  // Every change shows the whole report again; each ledger entry is recorded once.
  const known = new Set<string>();
  let recording = Promise.resolve();
  const watch = reports.watch(reported, (seen) => {
    if (seen.kind === 'report' && seen.report.status !== undefined) hasReported.abort();
    recording = recording.then(() => recordReport(context, orders, seen, known));
    // A failure is met at the end of the turn; until then it must not end the runner.
    recording.catch(() => {});
  });
  const after = (ms: number, kind: 'reported' | 'timed_out'): Promise<TurnEnd> =>
    clock.sleep(Math.max(0, ms), over.signal).then(() => ({ kind }));
  const contenders: Promise<TurnEnd>[] = [
    turn.ended.then((outcome) => ({ kind: 'ended', outcome }) as const),
    aborted(lost).then(() => ({ kind: 'lost' }) as const),
    aborted(hasReported.signal).then(() => after(policy.session.exitGraceMs, 'reported')),
  ];
  if (recorder !== null)
    contenders.push(
      recorder.limitReached(over.signal).then((limit) => ({ kind: 'limit_reached', limit }) as const),
    );
  if (limitMs !== null) contenders.push(after(limitMs, 'timed_out'));
  try {
    const ended = await Promise.race(contenders);
    if (ended.kind !== 'ended') await turn.stop({ graceMs: policy.session.stopGraceMs });
    return ended;
  } finally {
    over.abort();
    watch.stop();
    await recording;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Records the agent's phase and ledger entries. A report that cannot be parsed is recorded as a problem, no more. */
async function recordReport(
  context: AttemptContext,
  { session: id, task }: Orders,
  seen: ReportSeen,
  known: Set<string>,
): Promise<void> {
  if (seen.kind === 'problem') {
    const { problem } = seen;
    const recorded = await change(context, async (change) => {
      await change.requireMine(task);
      await change.apply(decided({ type: 'session.misreported', id, at: change.at, problem }));
    });
    if (recorded.kind === 'refused') context.log(recorded.refusal.reason);
    return;
  }
  const { phase } = seen.report;
  if (phase !== undefined) {
    const moved = await change(context, async (change) => {
      await change.requireMine(task);
      const session = await change.require('session', id);
      if (session.state.phase !== phase)
        await change.apply(decideSession(session, { action: 'advance', phase }, change.at));
    });
    if (moved.kind === 'refused') context.log(moved.refusal.reason);
  }
  for (const { kind, text } of seen.report.ledger ?? []) {
    if (known.has(`${kind} ${text}`)) continue;
    known.add(`${kind} ${text}`);
    const added = await addLedgerEntry(context, task, { kind, text });
    if (added.kind === 'refused') context.log(added.refusal.reason);
  }
}

export type AfterTurn =
  /** The agent stopped: the gate decides. */
  | { readonly kind: 'stopped'; readonly exitCode: number | null }
  /** The agent hands over to a successor with an empty context. */
  | { readonly kind: 'context_full' }
  | { readonly kind: 'ended'; readonly ending: AttemptEnding; readonly exitCode: number | null }
  | { readonly kind: 'crashed'; readonly crash: Pick<Crash, 'reason' | 'because' | 'exitCode'> };

/** What follows a turn, from how it ended and from the agent's report. The report counts more than the program's exit. */
export function decideAfterTurn(
  { clock, policy, agent }: AttemptContext,
  ended: TurnEnd,
  seen: ReportSeen | undefined,
): AfterTurn {
  const report = seen?.kind === 'report' ? seen.report : undefined;
  if (ended.kind === 'timed_out') {
    const reason = `it took longer than its limit of ${Math.round((agent.limits.time ?? 0) / 1_000)} s`;
    return { kind: 'crashed', crash: { reason, because: 'timed_out', exitCode: null } };
  }
  if (ended.kind === 'limit_reached') {
    const { limit } = ended;
    if (limit.kind === 'context_full') return { kind: 'context_full' };
    return {
      kind: 'ended',
      ending: { kind: 'over_budget', reason: limit.reason, isByCopse: true },
      exitCode: null,
    };
  }
  const outcome: RuntimeOutcome =
    ended.kind === 'ended' ? ended.outcome : { kind: 'completed', exitCode: null };
  const exitCode = 'exitCode' in outcome ? outcome.exitCode : null;
  if (report?.status === 'stuck') {
    const reason = report.reason ?? 'The agent reported that it is stuck, without a reason.';
    return { kind: 'ended', ending: { kind: 'stuck', reason }, exitCode };
  }
  if (report?.status === 'finished') return { kind: 'stopped', exitCode };
  // The program exits as its last command did, and that was a refused `copse finish`: the gate repeats why.
  if (report?.triedToFinish && exitCode === refusedExitCode) return { kind: 'stopped', exitCode };
  switch (outcome.kind) {
    case 'completed':
      return { kind: 'stopped', exitCode };
    case 'needs_input':
      return { kind: 'ended', ending: { kind: 'stuck', reason: outcome.question }, exitCode };
    case 'limit': {
      const until = outcome.until ?? ((clock.now() + policy.session.rateLimitDelayMs) as Timestamp);
      return { kind: 'ended', ending: { kind: 'parked', until, because: 'rate_limit' }, exitCode };
    }
    case 'cancelled':
      return { kind: 'crashed', crash: { reason: 'its agent was stopped', because: 'crashed', exitCode } };
    case 'api_error':
      // A retry would be refused again.
      if (!outcome.isRetryable) return stoppedFor(outcome.reason, exitCode);
      return { kind: 'crashed', crash: { reason: outcome.reason, because: 'crashed', exitCode } };
    case 'crashed':
      // The shell found no such program: a retry would not find it either.
      if (agent.runtime === 'command' && (exitCode === 126 || exitCode === 127))
        return stoppedFor(outcome.reason, exitCode);
      return { kind: 'crashed', crash: { reason: outcome.reason, because: 'crashed', exitCode } };
    default:
      throw new Error(`A turn cannot end ${String(outcome satisfies never)}`);
  }
}

/** A retry would meet the same fault. */
function stoppedFor(reason: string, exitCode: number | null): AfterTurn {
  return { kind: 'ended', ending: { kind: 'stuck', reason, isByCopse: true }, exitCode };
}
