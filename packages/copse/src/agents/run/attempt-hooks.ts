/** The hooks of an attempt, as its runner runs them. */

import { defaultPolicy } from '../../kernel/policy.ts';
import { decided } from '../../kernel/decision.ts';
import { change } from '../../board/context.ts';
import { type HookRequest, runHook } from '../act/hooks.ts';
import type { Crash } from '../act/recover.ts';
import type { HookOutcome } from '../rules/session/hook-outcome.ts';
import type { AttemptEnding } from './end.ts';
import type { RunningAttempt } from './surroundings.ts';

/** One that fails before its workspace is prepared has no place of its own. */
export type HookedAttempt = Pick<RunningAttempt, 'context' | 'orders'> &
  Partial<Pick<RunningAttempt, 'prepared' | 'environment'>>;

/** Throws when it fails: the attempt cannot begin. */
export async function runBefore(attempt: RunningAttempt): Promise<void> {
  const problem = await run(attempt, 'before_run', null);
  if (problem !== null) throw new Error(problem);
}

/** After the gate: the files that `after_run` leaves do not keep the worktree from being removed once the work has landed. */
export async function runAfter(
  attempt: RunningAttempt,
  outcome: Omit<HookOutcome, 'kind' | 'reason'>,
): Promise<readonly string[]> {
  const { context, orders, prepared } = attempt;
  const note = await run(attempt, 'after_run', { kind: 'finished', reason: null, ...outcome });
  if (note !== null) context.log(note);
  const notes = note === null ? [] : [note];
  const { workspace, path } = prepared;
  if (workspace.worktree === null || context.agent.hooks.after_run.length === 0) return notes;
  const { changed, untracked } = await context.git.uncommitted(path);
  const paths = [...changed, ...untracked];
  if (paths.length === 0 || paths.length > MOST_HOOK_FILES) return notes;
  const recorded = await change(context, async (change) => {
    await change.requireMine(orders.task);
    await change.apply(decided({ type: 'workspace.hooks_wrote', id: workspace.id, at: change.at, paths }));
  });
  if (recorded.kind === 'refused') context.log(recorded.refusal.reason);
  return notes;
}

const MOST_HOOK_FILES = defaultPolicy.commands.hookFiles;

/** Postponed work goes on in another attempt: no hook tells of it. A failure is logged, and ends nothing. */
export async function runOnError(attempt: HookedAttempt, outcome: HookOutcome | null): Promise<void> {
  const problem = outcome === null ? null : await run(attempt, 'on_error', outcome);
  if (problem !== null) attempt.context.log(problem);
}

async function run(
  { context, orders, prepared, environment }: HookedAttempt,
  hook: HookRequest['hook'],
  outcome: HookOutcome | null,
): Promise<string | null> {
  const { task, attempt, token } = orders;
  const place = prepared && environment && { folder: prepared.path, environment };
  const of = { hook, task, attempt, token, agent: context.agent, outcome, ...(place && { place }) };
  const ran = await runHook(context, of);
  return ran.kind === 'ran' ? ran.problem : null;
}

/** Null for one after which no hook runs. */
export function outcomeOf(ending: AttemptEnding, exitCode: number | null): HookOutcome | null {
  switch (ending.kind) {
    case 'finished':
    case 'parked':
      return null;
    case 'failed':
      return { kind: 'failed', reason: ending.reason, summary: ending.summary ?? null, exitCode };
    case 'stuck':
    case 'over_budget':
      return { kind: ending.kind, reason: ending.reason, exitCode };
    case 'needs_attention': {
      const { because, reason, summary = null } = ending;
      return { kind: 'needs_attention', because, reason, summary, exitCode };
    }
    default:
      throw new Error(`An attempt cannot end ${String(ending satisfies never)}`);
  }
}

export function outcomeOfCrash({
  because,
  reason,
  exitCode,
}: Pick<Crash, 'because' | 'reason' | 'exitCode'>): HookOutcome | null {
  if (because === 'paused') return null;
  return { kind: because, reason, exitCode };
}
