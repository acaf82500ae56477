/** Restarts tasks that stopped because of failures, as tasks/rules/auto-restart.ts decides. */

import type { BoardReader } from '../../board/port.ts';
import { type Context, type Outcome, change } from '../../board/context.ts';
import { decided } from '../../kernel/decision.ts';
import { type LedgerEntryId, type TaskId, brand, drawId } from '../../kernel/ids.ts';
import { defaultPolicy, type Policy } from '../../kernel/policy.ts';
import {
  type PlannedRestart,
  type RestartFacts,
  decideAutoRestart,
  mayRestart,
  planRestart,
} from '../../tasks/rules/auto-restart.ts';
import type { Task, TaskSummary } from '../../tasks/rules/task.ts';
import { endReason } from '../rules/session/session.ts';

/** When the task is restarted without a person, if at all. */
export async function plannedRestart(
  board: BoardReader,
  task: Pick<Task, 'id' | 'session' | 'state' | 'autoRestarts'>,
  policy: Pick<Policy, 'retry'>,
): Promise<PlannedRestart> {
  if (policy.retry.maxStuckRestarts === 0 || !mayRestart(task)) return { kind: 'none' };
  return planRestart(task, await factsOf(board, task), policy.retry);
}

async function factsOf(
  board: BoardReader,
  { id, session }: Pick<Task, 'id' | 'session'>,
): Promise<RestartFacts> {
  const last = session === null ? undefined : await board.get('session', session);
  const attempts = await board.list('attempt', { task: id });
  return {
    lastEnd: last === undefined ? null : endReason(last.state),
    isByHand: !attempts.some((attempt) => attempt.session === session),
  };
}

/** Tasks that will be restarted without a person. */
export async function plannedRestarts({
  board,
  policy,
}: Pick<Context, 'board' | 'policy'>): Promise<
  readonly { readonly task: TaskSummary; readonly plan: Extract<PlannedRestart, { kind: 'planned' }> }[]
> {
  if (policy.retry.maxStuckRestarts === 0) return [];
  const stopped = await board.tasks({ statuses: ['stuck', 'needs_attention'], order: 'urgent' });
  const plans = [];
  for (const task of stopped) {
    const plan = await plannedRestart(board, task, policy);
    if (plan.kind === 'planned') plans.push({ task, plan });
  }
  return plans;
}

/** Those whose delay is over. Another machine may be first: that one is not told as a problem. */
export async function restartDue(context: Context): Promise<void> {
  const now = context.clock.now();
  for (const { task, plan } of await plannedRestarts(context))
    if (plan.at <= now) await restartOne(context, task.id);
}

async function restartOne(context: Context, id: TaskId): Promise<Outcome<void>> {
  return change(context, async (change) => {
    const task = await change.require('task', id);
    const facts = await factsOf(change.board, task);
    await change.apply(decideAutoRestart(task, facts, context.policy.retry, change.at));
    // The next agent reads it: it begins a conversation of its own.
    const entry = {
      id: brand<LedgerEntryId>(drawId('le-', context.random)),
      task: id,
      session: task.session,
      kind: 'handoff',
      text: stoppedText(task),
      at: change.at,
    } as const;
    await change.apply(decided({ type: 'ledger.added', ...entry }));
  });
}

function stoppedText({ state }: Task): string {
  const reason = 'reason' in state && state.reason !== null ? state.reason : state.status;
  const most = defaultPolicy.commands.hookReasonLength;
  return `The earlier agent stopped, and the task was restarted automatically. It stopped because: ${reason.slice(0, most)}`;
}
