/** The gate during an attempt: asking it, and handing work back to the agent when it refuses. */

import { decideHandback } from '../../tasks/rules/outcomes.ts';
import { isBeyondLimits } from '../../kernel/unavailable.ts';
import { change } from '../../board/context.ts';
import { syncTask } from '../../workspaces/act/sync.ts';
import { addReported } from '../act/artifacts.ts';
import type { Orders } from '../ports/runners.ts';
import type { StopAnswer } from '../ports/runtime.ts';
import type { AttemptContext } from './context.ts';
import { type GateLook, lookAtGate } from './finish.ts';
import type { RunningAttempt } from './surroundings.ts';

export async function askGate(attempt: RunningAttempt): Promise<GateLook> {
  const { context, orders, prepared, worktree, environment, reported } = attempt;
  const task = await context.board.get('task', orders.task);
  if (task === undefined) throw new Error(`${orders.task} is no longer on the board`);
  const seen = context.reports.read(reported);
  const report = seen?.kind === 'report' ? seen.report : undefined;
  const unadded = await addReported(context, task.id, report);
  for (const problem of unadded) context.log(problem);
  // The agent may still run, or accept commands may write some.
  await context.git.stores.bring(task.id);
  const look = await lookAtGate(context, {
    task,
    worktree: worktree === null ? null : prepared.workspace.worktree,
    checkout: prepared.workspace.checkout,
    agent: committing(context),
    saysNoChanges: report?.noChanges ?? false,
    summary: report?.summary ?? null,
    environment,
    unadded,
  });
  await context.git.stores.bring(task.id);
  return look;
}

/** Copse commits for a program that cannot commit. */
function committing({ agent, runtime }: AttemptContext): AttemptContext['agent'] {
  const { finish } = agent;
  if (runtime.capabilities.commits) return agent;
  return { ...agent, finish: { ...finish, on_dirty: 'commit' } };
}

/** For programs that ask before they stop. One that was ended meanwhile does not wait for its answer; `settled` does. */
export class GateAsks {
  readonly #attempt: RunningAttempt;
  #last: Promise<unknown> = Promise.resolve();

  constructor(attempt: RunningAttempt) {
    this.#attempt = attempt;
  }

  beforeStop(): Promise<StopAnswer> {
    const answer = beforeStop(this.#attempt);
    this.#last = Promise.allSettled([this.#last, answer]);
    return answer;
  }

  async settled(): Promise<void> {
    await this.#last;
  }
}

async function beforeStop(attempt: RunningAttempt): Promise<StopAnswer> {
  const verdict = await verdictOf(attempt);
  if (verdict.kind === 'passed' || verdict.isFinal) return { kind: 'allowed' };
  const isHandedBack = await handBack(attempt.context, attempt.orders, verdict);
  return isHandedBack ? { kind: 'refused', reason: verdict.reason } : { kind: 'allowed' };
}

/** When it stopped, the gate is asked again, and what cannot be read ends the attempt. */
async function verdictOf(attempt: RunningAttempt): Promise<GateLook['verdict']> {
  try {
    return (await askGate(attempt)).verdict;
  } catch (error) {
    if (isBeyondLimits(error)) return { kind: 'passed', hasChanges: true, notes: [] };
    throw error;
  }
}

/** False when the task was handed back as often as the policy allows; then nothing is recorded. */
export async function handBack(
  context: AttemptContext,
  { task: id, token }: Orders,
  { because, reason }: Extract<GateLook['verdict'], { kind: 'refused' }>,
): Promise<boolean> {
  const outcome = await change(context, async (change) => {
    const task = await change.require('task', id);
    const decision = decideHandback(
      task,
      { kind: 'gate', token },
      { because, reason },
      change.at,
      context.policy,
    );
    const mayGoOn =
      decision.kind === 'decided' && decision.events.every(({ type }) => type === 'task.handed_back');
    if (mayGoOn || decision.kind === 'refused') await change.apply(decision);
    return mayGoOn;
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
  return outcome.value;
}

/** Merges the target for an agent that cannot commit, so that it finds both sides in its files. */
export async function mergeFor(context: AttemptContext, { task }: Orders): Promise<boolean> {
  if (context.runtime.capabilities.commits) return false;
  const brought = await syncTask(context, { task, leaveConflict: true });
  if (brought.kind !== 'refused' || brought.because === 'in_progress') return true;
  context.log(`The target was not merged: ${brought.reason}`);
  return false;
}
