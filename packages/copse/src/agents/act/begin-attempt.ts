/**
 * Begins an attempt at a task: one transaction records the claim, then a runner is started.
 *
 * A kill between the two leaves a claim whose attempt has no process. The orchestrator finds it and treats it as a crash.
 */

import { type Claimant, decideClaim } from '../../tasks/rules/claim.ts';
import { type Decision, decided, refused } from '../../kernel/decision.ts';
import {
  type AgentName,
  type AttemptId,
  type CommitId,
  type SessionId,
  type TaskId,
  type Timestamp,
  brand,
  drawId,
} from '../../kernel/ids.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import { type Session, type SessionEvent, decideFollowUp, decideSession } from '../rules/session/session.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { decideRestart, decideResume } from '../../tasks/rules/decisions.ts';
import { type HandbackCause, decideHandback } from '../../tasks/rules/outcomes.ts';
import type { Begin, Orders } from '../ports/runners.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { hookOfLost } from './hooks.ts';
import { recordCrash } from './recover.ts';
import type { RunContext } from '../../queue/context.ts';
import { type Lead, requireLead } from '../../queue/lead/leadership.ts';
import { scheduleNow } from './schedule-facts.ts';

export type BeginRequest =
  | { readonly kind: 'claim' }
  | { readonly kind: 'restart'; readonly answer: string | null }
  | { readonly kind: 'resume'; readonly message: string | null }
  | {
      readonly kind: 'handback';
      /** Of the queue that hands it back. */
      readonly lead: Lead;
      readonly landing: Landing;
      readonly cause: HandbackCause;
      readonly target: CommitId | null;
    };

export type BeginOutcome =
  | { readonly kind: 'started'; readonly orders: Orders }
  /** It was handed back as often as the policy allows: a person has to look. */
  | { readonly kind: 'needs_attention' }
  | { readonly kind: 'no_runner'; readonly reason: string };

export async function beginAttempt(
  context: RunContext,
  id: TaskId,
  agent: AgentName,
  request: BeginRequest,
): Promise<Outcome<BeginOutcome>> {
  const attempt = brand<AttemptId>(drawId('at-', context.random));
  const claimed = await change(context, async (change) => {
    const isLimited = request.kind === 'claim' || request.kind === 'handback';
    if (isLimited) await change.board.lockSchedule();
    if (request.kind === 'handback') await requireLead(change, request.lead);
    const task = await change.require('task', id);
    if (isLimited) await refuseUnlessFree(context, change, task, request);
    const before = task.session === null ? undefined : await change.board.get('session', task.session);
    const conversation = decideConversation(context, task, before, agent, request, change.at);
    const { id: session } = conversation;
    const claimant: Claimant = { session, attempt, node: context.node, agent };
    await take(context, change, task, claimant, request);
    const held = await change.require('task', id);
    if (held.state.status !== 'in_progress') {
      if (request.kind === 'handback')
        await keepWorkspace(change, { task: id, node: context.node }, request.cause);
      return undefined;
    }
    if (conversation.decision !== null) await change.apply(conversation.decision);
    const { token } = held.state.claim;
    const of = { id: attempt, at: change.at, session, task: id, node: context.node, token };
    await change.apply(decided({ type: 'attempt.started', ...of }));
    // Only the agent that began a conversation can continue it.
    const isSame = session === before?.id && before.agent === agent;
    const isHere = isSame && (await wasHere(context, change, task.id, attempt));
    const resumed = isHere ? before.conversation : null;
    const begin: Begin = isHere && request.kind === 'claim' ? { why: 'continued' } : beginOf(task, request);
    return { task: id, session, attempt, token, agent, conversation: resumed, begin };
  });
  if (claimed.kind === 'refused') return claimed;
  const orders = claimed.value;
  if (orders === undefined) return { kind: 'done', value: { kind: 'needs_attention' } };
  try {
    await context.runners.start(orders);
  } catch (error) {
    const reason = `its runner could not be started: ${error instanceof Error ? error.message : String(error)}`;
    const hooked = await hookOfLost(context, orders, reason);
    const hookNote = hooked.kind === 'over' ? hooked.note : null;
    await recordCrash(context, { ...orders, reason, because: 'crashed', exitCode: null, hookNote });
    return { kind: 'done', value: { kind: 'no_runner', reason } };
  }
  return { kind: 'done', value: { kind: 'started', orders } };
}

/** The files of a conversation are on the machine of its last attempt: elsewhere a fresh one begins, with the ledger. */
async function wasHere(
  { node }: RunContext,
  change: Change,
  task: TaskId,
  attempt: AttemptId,
): Promise<boolean> {
  const others = (await change.board.list('attempt', { task })).filter(({ id }) => id !== attempt);
  return others.toSorted((one, other) => other.token - one.token)[0]?.node === node;
}

/** Keeps what orchestrators begin within the limits, also when several begin something at once. */
async function refuseUnlessFree(
  context: RunContext,
  change: Change,
  task: Task,
  { kind }: BeginRequest,
): Promise<void> {
  const schedule = await scheduleNow(context, change.board);
  const placement = kind === 'claim' ? schedule.place(task) : undefined;
  const isTaken = placement?.kind === 'waiting' && placement.waiting.kind !== 'agent';
  if (isTaken || (kind === 'handback' && schedule.isFull)) {
    const { waiting } = placement?.kind === 'waiting' ? placement : { waiting: undefined };
    const isLeaving = waiting?.kind === 'draining' || waiting?.kind === 'moved';
    const because = isLeaving ? 'this node may not take it' : 'another task took the free slot';
    const reason = `${task.id} cannot start now: ${because}.`;
    change.refuse(refused('too_early', reason, `copse why ${task.id}`));
  }
}

/** The session to resume, or a new one. The decision is null for a live session, which continues unchanged. */
function decideConversation(
  context: RunContext,
  task: Task,
  before: Session | undefined,
  agent: AgentName,
  { kind }: BeginRequest,
  at: Timestamp,
): { readonly id: SessionId; readonly decision: Decision<SessionEvent> | null } {
  const isSame = kind === 'resume' || kind === 'handback' || isParked(before, agent);
  if (before !== undefined && isSame) {
    const action = kind === 'handback' ? 'handback' : 'reopen';
    const isLive = before.state.life === 'live';
    return { id: before.id, decision: isLive ? null : decideSession(before, { action }, at) };
  }
  const id = brand<SessionId>(drawId('se-', context.random));
  if (before?.agent === agent) return { id, decision: decideFollowUp(before, id, at) };
  const of = { task: task.id, agent, workItem: task.workItem?.id ?? null, follows: before?.id ?? null };
  return { id, decision: decided({ type: 'session.opened', id, at, ...of, phase: 'registered' }) };
}

/** After a rate limit the same conversation continues. */
function isParked(before: Session | undefined, agent: AgentName): boolean {
  return (
    before?.agent === agent && before.state.life === 'interrupted' && before.state.because === 'rate_limited'
  );
}

async function take(
  { policy }: RunContext,
  change: Change,
  task: Task,
  claimant: Claimant,
  request: BeginRequest,
): Promise<void> {
  const { at } = change;
  switch (request.kind) {
    case 'claim':
      return change.apply(decideClaim(task, claimant, at, policy.lease));
    case 'restart':
      return change.apply(decideRestart(task, claimant, at, policy.lease));
    case 'resume':
      return change.apply(decideResume(task, claimant, at, policy.lease));
    case 'handback': {
      const landing = await change.require('landing', request.landing.id);
      const from = { kind: 'queue', landing, claimant } as const;
      return change.apply(decideHandback(task, from, request.cause, at, policy));
    }
    default:
      throw new Error(`An attempt cannot begin by ${String(request satisfies never)}`);
  }
}

/** Why the task needed attention. The agent may not know: it may have ended before that was found. */
function attentionOf({ state }: Task): Pick<Extract<Begin, { why: 'resumed' }>, 'attention'> {
  if (state.status !== 'needs_attention') return {};
  return { attention: { because: state.because, reason: state.reason } };
}

function beginOf(task: Task, request: BeginRequest): Begin {
  switch (request.kind) {
    case 'claim':
      return task.retries === 0 ? { why: 'claimed' } : { why: 'retried', crashes: task.retries };
    case 'restart':
      return { why: 'restarted', answer: request.answer };
    case 'resume':
      return { why: 'resumed', message: request.message, ...attentionOf(task) };
    case 'handback': {
      const { because, reason } = request.cause;
      return { why: 'handed_back', because, reason, target: request.target };
    }
    default:
      throw new Error(`An attempt cannot begin by ${String(request satisfies never)}`);
  }
}
