/** What is to become of a turn that is over, before the gate is asked: from how it ended, and from what the agent said. */

import { refusedExitCode } from '../../kernel/decision.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { ReportSeen } from '../rules/session/report.ts';
import type { RuntimeOutcome } from '../ports/runtime.ts';
import type { AttemptContext } from './context.ts';
import type { Ending } from './end.ts';
import type { Crash } from '../act/recover.ts';
import type { Watched } from './watch-turn.ts';

export type AfterTurn =
  | { readonly next: 'gate'; readonly exitCode: number | null }
  /** The agent hands over to somebody with an empty context. */
  | { readonly next: 'handoff' }
  | { readonly next: 'end'; readonly ending: Ending; readonly exitCode: number | null }
  | { readonly next: 'crash'; readonly crash: Pick<Crash, 'reason' | 'because' | 'exitCode'> };

export function afterTurn(
  { clock, policy, agent }: AttemptContext,
  watched: Watched,
  seen: ReportSeen | undefined,
): AfterTurn {
  const report = seen !== undefined && 'report' in seen ? seen.report : undefined;
  if (watched.end === 'timed_out') {
    const reason = `it took longer than its limit of ${Math.round((agent.limits.time ?? 0) / 1_000)} s`;
    return { next: 'crash', crash: { reason, because: 'timed_out', exitCode: null } };
  }
  if (watched.end === 'enough') {
    if (watched.enough === 'context_full') return { next: 'handoff' };
    const { reason } = watched;
    return { next: 'end', ending: { to: 'over_budget', reason }, exitCode: null };
  }
  const outcome: RuntimeOutcome =
    watched.end === 'ended' ? watched.outcome : { outcome: 'completed', exitCode: null };
  const exitCode = 'exitCode' in outcome ? outcome.exitCode : null;
  if (report?.status === 'stuck') {
    const reason = report.reason ?? 'The agent said that it is stuck, and not why.';
    return { next: 'end', ending: { to: 'stuck', reason }, exitCode };
  }
  // What it said counts more than how its program ended; the gate trusts neither.
  if (report?.status === 'finished') return { next: 'gate', exitCode };
  // A program that ends as its last command did, and that was a refused `copse finish`: the gate tells it once more.
  if (report?.triedToFinish && exitCode === refusedExitCode) return { next: 'gate', exitCode };
  switch (outcome.outcome) {
    case 'completed':
      return { next: 'gate', exitCode };
    case 'needs_input':
      return { next: 'end', ending: { to: 'stuck', reason: outcome.question }, exitCode };
    case 'limit': {
      const until = outcome.until ?? ((clock.now() + policy.session.rateLimitDelayMs) as Timestamp);
      return { next: 'end', ending: { to: 'parked', until, because: 'rate_limit' }, exitCode };
    }
    case 'cancelled':
      return { next: 'crash', crash: { reason: 'its agent was stopped', because: 'crashed', exitCode } };
    case 'api_error':
      // Trying again would only be refused again.
      if (!outcome.isRetryable)
        return { next: 'end', ending: { to: 'stuck', reason: outcome.reason }, exitCode };
      return { next: 'crash', crash: { reason: outcome.reason, because: 'crashed', exitCode } };
    case 'crashed':
      return { next: 'crash', crash: { reason: outcome.reason, because: 'crashed', exitCode } };
    default:
      throw new Error(`A turn cannot end ${String(outcome satisfies never)}`);
  }
}
