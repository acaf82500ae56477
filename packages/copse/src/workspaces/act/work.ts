/**
 * Work by hand: a person takes a task and gets its workspace.
 *
 * Claim and workspace are one step under the task's lock, so that one of two terminals that ask at the same moment gets the
 * task. The other one finds a worktree and has to say whether to resume or reset it.
 */

import { type Claimant, decideClaim } from '../../tasks/rules/claim.ts';
import { type Decision, decided, refused } from '../../kernel/decision.ts';
import {
  type AttemptId,
  type SessionId,
  type TaskId,
  type Timestamp,
  brand,
  drawId,
} from '../../kernel/ids.ts';
import type { SessionEvent } from '../../agents/rules/session/session.ts';
import { type Task, type TaskStatus, refusedFor } from '../../tasks/rules/task.ts';
import type { TaskEvent } from '../../tasks/rules/events.ts';
import { decideRestart, decideResume } from '../../tasks/rules/decisions.ts';
import { type Outcome, change } from '../../board/context.ts';
import { type Prepared, prepareLocked } from './prepare.ts';
import { discardEverywhere, findDiscarded } from './shared/discarded.ts';
import { holderText } from './shared/elsewhere.ts';
import { dropShared } from '../discard/drop-shared.ts';
import { resetWorkspace } from '../discard/reset.ts';
import { type WorkspaceContext, isHeldByHand, personName, workspaceOf } from './context.ts';
import { worktreePath } from './worktree-path.ts';

/** Facts for the choice between resuming and resetting a worktree. */
export interface Existing {
  readonly path: string;
  readonly crashes: number;
  readonly uncommitted: number;
  readonly ownCommits: number;
}

export type Choice = 'resume' | 'reset';

export type Worked =
  | {
      readonly kind: 'worked';
      readonly task: Task;
      readonly workspace: Extract<Prepared, { kind: 'prepared' }>;
    }
  /** Nothing was changed. */
  | { readonly kind: 'exists'; readonly existing: Existing };

export async function work(
  context: WorkspaceContext,
  id: TaskId,
  choice: Choice | undefined,
): Promise<Outcome<Worked>> {
  const done = await context.git.tryLock(`task-${id}`, () => workLocked(context, id, choice));
  return (
    done?.value ??
    refused(
      'wrong_status',
      `Another process is preparing or removing the worktree of ${id} right now.`,
      'copse worktrees',
      `copse show ${id}`,
    )
  );
}

async function workLocked(
  context: WorkspaceContext,
  id: TaskId,
  choice: Choice | undefined,
): Promise<Outcome<Worked>> {
  const found = await findExisting(context, id);
  const task = await context.board.get('task', id);
  if (task === undefined) {
    return refused('not_found', `There is no task ${id} on the board.`, 'copse list');
  }
  const existing = (await findDiscarded(context, task)) === undefined ? found : undefined;
  const mayTake = await tryTaking(task, context);
  if (mayTake.kind === 'refused') return mayTake;
  if (existing && choice === undefined) return { kind: 'done', value: { kind: 'exists', existing } };

  if (choice === 'reset') {
    const reset = await resetWorkspace(context, task);
    if (reset.kind === 'refused') return reset;
    const told = await discardEverywhere(context, task);
    if (told.kind === 'refused') return told;
    await dropShared(context, [id]);
  }
  const claimant = claimantFor(context, task);
  const { agent, session } = claimant;
  const prepared = await prepareLocked(context, { task, agent, session });
  if (prepared.kind !== 'prepared') {
    const [first = 'copse worktrees', ...others] = prepared.next;
    return refused('wrong_status', prepared.reason, first, ...others);
  }
  // Last, so that a task without a workspace stays unclaimed. The lock keeps other processes from claiming it by hand.
  const claimed = await claimByHand(context, id, claimant);
  if (claimed.kind === 'refused') return claimed;
  return { kind: 'done', value: { kind: 'worked', task: claimed.value, workspace: prepared } };
}

async function findExisting(context: WorkspaceContext, id: TaskId): Promise<Existing | undefined> {
  const { git, board } = context;
  const known = await workspaceOf(context, id);
  const path = await worktreePath(context, id, known);
  const facts = await git.look(path);
  if (facts.state !== 'healthy') return undefined;
  const { changed, untracked } = await git.uncommitted(path);
  const base = known?.worktree?.baseCommit;
  const attempts = await board.list('attempt', { task: id });
  return {
    path,
    // A restart sets the task's own count back to zero.
    crashes: attempts.filter(({ end }) => end?.reason === 'crashed').length,
    uncommitted: changed.length + untracked.length,
    ownCommits: base === undefined ? 0 : await git.countCommits(base, facts.head),
  };
}

/** Decides the claim without making it, before a person is asked to choose. */
async function tryTaking(task: Task, context: WorkspaceContext): Promise<Outcome<null>> {
  const decision = await decideTaking(task, context, claimantFor(context, task), context.clock.now());
  return decision === 'held_already' || decision.kind === 'decided'
    ? { kind: 'done', value: null }
    : decision;
}

async function decideTaking(
  task: Task,
  context: WorkspaceContext,
  claimant: Claimant,
  at: Timestamp,
): Promise<Decision<TaskEvent> | 'held_already'> {
  const lease = { ...context.policy.lease, durationMs: context.policy.lease.byHandMs };
  const { state } = task;
  if (state.status === 'in_progress') {
    if (isHeldByHand(context, task)) return 'held_already';
    return refusedFor(task, `${await holderText(context.board, task.id, state.claim)}.`);
  }
  if (state.status === 'stuck') return decideRestart(task, claimant, at, lease);
  if (state.status === 'failed') {
    // With the claim, so that no agent takes it in between.
    const restart = decideRestart(task, null, at, lease);
    const ready: Task = { ...task, state: { status: 'ready', since: at, delay: null } };
    const claim = decideClaim(ready, claimant, at, lease);
    if (restart.kind === 'refused' || claim.kind === 'refused')
      return restart.kind === 'refused' ? restart : claim;
    return decided(...restart.events, ...claim.events);
  }
  if (isResumable[state.status]) return decideResume(task, claimant, at, lease);
  return decideClaim(task, claimant, at, lease);
}

async function claimByHand(
  context: WorkspaceContext,
  id: TaskId,
  claimant: Claimant,
): Promise<Outcome<Task>> {
  return change(context, async (change) => {
    const task = await change.require('task', id);
    const decision = await decideTaking(task, context, claimant, change.at);
    if (decision === 'held_already') return task;
    await change.apply(decision);
    const before = await change.board.get('session', claimant.session);
    await change.apply(openOrReopen(before !== undefined, claimant, task, change.at));
    return change.require('task', id);
  });
}

function openOrReopen(
  isKnown: boolean,
  { session: id, agent }: Claimant,
  task: Task,
  at: Timestamp,
): Decision<SessionEvent> {
  if (isKnown) return decided({ type: 'session.reopened', id, at, phase: 'working' });
  const workItem = task.workItem?.id ?? null;
  const follows = task.session;
  return decided({
    type: 'session.opened',
    id,
    at,
    task: task.id,
    agent,
    workItem,
    follows,
    phase: 'working',
  });
}

/** Statuses in which a person continues the agent's session. */
const isResumable: Readonly<Record<TaskStatus, boolean>> = {
  pending: false,
  ready: false,
  in_progress: false,
  paused: true,
  stuck: false,
  in_review: true,
  landing: false,
  needs_attention: true,
  done: false,
  failed: false,
  cancelled: false,
};

/** A resumed task keeps its session; any other gets a new one. */
function claimantFor(context: WorkspaceContext, task: Task): Claimant {
  const draw = (prefix: string) => drawId(prefix, context.random);
  const session: SessionId =
    isResumable[task.state.status] && task.session !== null ? task.session : brand(draw('se-'));
  const attempt: AttemptId = brand(draw('at-'));
  return { session, attempt, node: context.node, agent: personName(context), isByHand: true };
}
