/** Ends an attempt that did not crash: its task, its session and the attempt itself, in one transaction. */

import { type Decision, decided } from '../../kernel/decision.ts';
import type { BoardEvent } from '../../board/rules/event.ts';
import { type BranchName, type LandingId, type Timestamp, brand, drawId } from '../../kernel/ids.ts';
import { type EndReason, type SessionRequest, decideSession } from '../rules/session/session.ts';
import type { AttentionCause, StuckBy, Task } from '../../tasks/rules/task.ts';
import type { ParkCause } from '../../tasks/rules/events.ts';
import {
  type Finish,
  decideFail,
  decideFinish,
  decideGiveUp,
  decidePark,
  decideStuck,
} from '../../tasks/rules/outcomes.ts';
import type { Orders } from '../ports/runners.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import type { GateLook } from './finish.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { type NewArtifact, recordArtifact } from '../../tasks/act/artifacts.ts';
import { promoteDependants } from '../../tasks/act/promote.ts';
import type { RunContext } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { leaveCheckout, lookAtLeft } from '../../workspaces/act/checkout/prepare-elsewhere.ts';

export type AttemptEnding =
  | {
      readonly kind: 'finished';
      readonly gate: GateLook;
      readonly policy: 'auto' | 'review' | 'pr' | 'none';
      /** Its branch is still to be pushed. */
      readonly push?: boolean;
      /** Warnings besides those of the gate. */
      readonly notes?: readonly string[];
    }
  /** By its settings: it is not retried. */
  | { readonly kind: 'failed'; readonly reason: string; readonly summary?: string | null }
  | ({ readonly kind: 'stuck' | 'over_budget'; readonly reason: string } & StuckBy)
  | { readonly kind: 'parked'; readonly until: Timestamp; readonly because: ParkCause }
  | {
      readonly kind: 'needs_attention';
      readonly because: AttentionCause;
      readonly reason: string;
      readonly summary?: string | null;
    };

/** The attempt of a runner, or a claim by hand. */
export type Ender = Pick<Orders, 'task' | 'session' | 'attempt' | 'token'>;

export async function endAttemptWith(
  context: RunContext,
  orders: Ender,
  ending: AttemptEnding,
  exitCode: number | null,
): Promise<Outcome<Task>> {
  const { task: id, attempt, session: sessionId } = orders;
  const patch = ending.kind === 'finished' ? await savePatch(context, orders, ending.gate) : null;
  const branch = (await workspaceOf(context, id))?.worktree?.branch ?? null;
  const left = await lookAtLeft(context, id);
  return change(context, async (change) => {
    const task = await change.require('task', id);
    await change.apply(decideTask(context, task, orders, { ...ending, branch }, change.at));
    const session = await change.require('session', sessionId);
    const { request, reason } = sessionEnd(ending);
    await change.apply(decideSession(session, request, change.at));
    // Work by hand has no process, and so no attempt.
    if (await change.board.get('attempt', attempt))
      await change.apply(decided({ type: 'attempt.ended', id: attempt, at: change.at, reason, exitCode }));
    await leaveCheckout(change, { task: id, node: context.node, left });
    if (ending.kind === 'needs_attention')
      await keepWorkspace(change, { task: id, node: context.node }, ending);
    if (ending.kind === 'finished') await addArtifacts(context, change, orders, ending.gate, patch);
    const after = await change.require('task', id);
    if (after.state.status === 'done') await promoteDependants(change, id, context.node);
    // A new term of the board raises the task's token above that of the claim.
    if (after.token !== task.token) throw new Error(`${id} changed hands within one transaction`);
    return after;
  });
}

interface WithBranch {
  /** The branch that was made for the task. */
  readonly branch: BranchName | null;
}

function decideTask(
  context: RunContext,
  task: Task,
  { token }: Ender,
  ending: AttemptEnding & WithBranch,
  at: Timestamp,
): Decision<BoardEvent> {
  switch (ending.kind) {
    case 'finished':
      return decideFinish(task, token, finishOf(context, ending, task), at);
    case 'stuck':
    case 'over_budget':
      return decideStuck(task, token, ending.reason, at, ending);
    case 'failed':
      return decideFail(task, token, ending.reason, at);
    case 'parked':
      return decidePark(task, token, ending, at);
    case 'needs_attention': {
      const { because, reason } = ending;
      return decideGiveUp(task, { token }, { because, reason }, at);
    }
    default:
      throw new Error(`An attempt cannot end ${String(ending satisfies never)}`);
  }
}

function finishOf(
  context: RunContext,
  { gate, policy, push = false, branch }: Extract<AttemptEnding, { kind: 'finished' }> & WithBranch,
  task: Task,
): Finish {
  const { head, target, verdict, summary } = gate;
  if (verdict.kind !== 'passed') throw new Error(`${task.id} cannot finish: the gate refused it`);
  if (!verdict.hasChanges) return { kind: 'done', how: 'no_changes', commit: null };
  if (head === null || target === null) return { kind: 'done', how: 'artifacts', commit: null };
  if (policy === 'none' || gate.isInPlace) return { kind: 'done', how: 'as_it_is', commit: head };
  if (policy === 'auto') {
    const landing = brand<LandingId>(drawId('la-', context.random));
    const claim = task.state.status === 'in_progress' ? task.state.claim : undefined;
    const by = { attempt: claim?.attempt ?? null, ...(claim && { token: claim.token }) };
    return { kind: 'landing', landing, target, ...by, head };
  }
  const isPushOnly = policy !== 'pr';
  if (branch === null || (isPushOnly && !push)) return { kind: 'review', head, pullRequest: null };
  // The orchestrator opens it later; recorded here, it survives a kill in between.
  const wanted = { is: 'wanted', branch, target, note: null, summary } as const;
  return { kind: 'review', head, pullRequest: { ...wanted, ...(isPushOnly && { isPushOnly }) } };
}

function sessionEnd(ending: AttemptEnding): { readonly request: SessionRequest; readonly reason: EndReason } {
  switch (ending.kind) {
    case 'finished': {
      const { summary, verdict } = ending.gate;
      const notes = [...(verdict.kind === 'passed' ? verdict.notes : []), ...(ending.notes ?? [])];
      return { request: { action: 'complete', ...(summary && { summary }), notes }, reason: 'completed' };
    }
    case 'failed':
    case 'needs_attention': {
      const { summary } = ending;
      return { request: { action: 'complete', ...(summary && { summary }) }, reason: 'completed' };
    }
    case 'stuck':
      return { request: { action: 'stick', reason: ending.reason }, reason: 'stuck' };
    case 'over_budget':
      return { request: { action: 'interrupt', because: ending.kind }, reason: ending.kind };
    case 'parked': {
      if (ending.because === 'handoff') return { request: { action: 'complete' }, reason: 'completed' };
      const because = ending.because === 'rate_limit' ? 'rate_limited' : 'paused';
      return { request: { action: 'interrupt', because }, reason: because };
    }
    default:
      throw new Error(`An attempt cannot end ${String(ending satisfies never)}`);
  }
}

async function addArtifacts(
  context: RunContext,
  change: Change,
  { task }: Ender,
  { head, verdict }: GateLook,
  patch: NewArtifact | null,
): Promise<void> {
  if (head === null || verdict.kind !== 'passed' || !verdict.hasChanges) return;
  const submitted = { kind: 'commit', address: head, title: 'what was submitted' } as const;
  await recordArtifact(change, context, task, submitted);
  if (patch !== null) await recordArtifact(change, context, task, patch);
}

async function savePatch(
  { git, diffs, artifacts, node }: RunContext,
  { task }: Ender,
  { head, targetTip, verdict }: GateLook,
): Promise<NewArtifact | null> {
  if (head === null || targetTip === null || verdict.kind !== 'passed' || !verdict.hasChanges) return null;
  const from = (await git.mergeBase(targetTip, head)) ?? targetTip;
  const { patch } = await diffs.compare({ from, to: head });
  const name = `${head.slice(0, 12)}.patch`;
  const { address, ...kept } = await artifacts.save(task, name, patch);
  return { kind: 'patch', address, title: 'what it changes', content: { name, ...kept, node } };
}
