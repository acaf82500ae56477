/**
 * Watches one turn of an agent until it is over: because the program ended, because it took too long, because it said that
 * it is finished or stuck and then did not go, because it used enough, or because the lease is lost. In all but the first it
 * is stopped first.
 */

import { decided } from '../../kernel/decision.ts';
import { decideSession } from '../rules/session/session.ts';
import type { ReportSeen } from '../rules/session/report.ts';
import type { Orders } from '../ports/runners.ts';
import type { RunningTurn, RuntimeOutcome } from '../ports/runtime.ts';
import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import type { AttemptContext } from './context.ts';
import { change } from '../../board/context.ts';
import type { Enough, Hearing } from './hear-turn.ts';

export type Watched =
  | { readonly end: 'ended'; readonly outcome: RuntimeOutcome }
  | { readonly end: 'told' | 'timed_out' | 'lost' }
  | ({ readonly end: 'enough' } & Enough);

export interface WatchOptions {
  readonly lost: AbortSignal;
  readonly limitMs: number | null;
  /** Null while the agent hands over: it has had enough already. */
  readonly hearing: Hearing | null;
  /** The folder that has the agent's reports. */
  readonly reported: string;
}

export async function watchTurn(
  context: AttemptContext,
  orders: Orders,
  turn: RunningTurn,
  { lost, limitMs, hearing, reported }: WatchOptions,
): Promise<Watched> {
  const { clock, policy, reports } = context;
  const over = new AbortController();
  const told = new AbortController();
  // The file is read again whole whenever it changes; what it said before is not said twice.
  const known = new Set<string>();
  let reporting = Promise.resolve();
  const watch = reports.watch(reported, (seen) => {
    if ('report' in seen && seen.report.status !== undefined) told.abort();
    reporting = reporting.then(() => passOn(context, orders, seen, known));
  });
  const after = (ms: number, end: 'told' | 'timed_out'): Promise<Watched> =>
    clock.sleep(Math.max(0, ms), over.signal).then(() => ({ end }));
  const contenders: Promise<Watched>[] = [
    turn.ended.then((outcome) => ({ end: 'ended', outcome }) as const),
    aborted(lost).then(() => ({ end: 'lost' }) as const),
    aborted(told.signal).then(() => after(policy.session.exitGraceMs, 'told')),
  ];
  if (hearing !== null)
    contenders.push(hearing.enough(over.signal).then((enough) => ({ end: 'enough', ...enough }) as const));
  if (limitMs !== null) contenders.push(after(limitMs, 'timed_out'));
  try {
    const watched = await Promise.race(contenders);
    if (watched.end !== 'ended') await turn.stop({ graceMs: policy.session.stopGraceMs });
    return watched;
  } finally {
    over.abort();
    watch.stop();
    await reporting;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What an agent reports about itself; what cannot be understood is told, and nothing else happens. */
async function passOn(
  context: AttemptContext,
  { session: id, task }: Orders,
  seen: ReportSeen,
  known: Set<string>,
): Promise<void> {
  if ('problem' in seen) {
    const { problem } = seen;
    const told = await change(context, async (change) => {
      await change.requireMine(task);
      await change.apply(decided({ type: 'session.misreported', id, at: change.at, problem }));
    });
    if (!told.ok) context.log(told.refusal.reason);
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
    if (!moved.ok) context.log(moved.refusal.reason);
  }
  for (const { kind, text } of seen.report.ledger ?? []) {
    if (known.has(`${kind} ${text}`)) continue;
    known.add(`${kind} ${text}`);
    const added = await addLedgerEntry(context, task, { kind, text });
    if (!added.ok) context.log(added.refusal.reason);
  }
}
