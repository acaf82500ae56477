/**
 * The escape guard: compares the main checkout before and after a session, and records changes on the board. It moves
 * nothing: a person asks for that (`copse rescue move`).
 */

import { decided } from '../../kernel/decision.ts';
import { type CheckoutState, type Escape, type RunningSession, decideEscape } from '../rules/escape.ts';
import type { CommitId, NodeId, SessionId, TaskId } from '../../kernel/ids.ts';
import type { MainCheckout, PathMove } from '../ports/worktrees.ts';
import type { Git, Rescues } from '../../git/port.ts';
import { type Context, type Outcome, change } from '../../board/context.ts';
import { isFinished } from '../../tasks/rules/task.ts';
import { workspaceOf } from '../act/context.ts';

export interface GuardContext extends Context {
  readonly checkout: MainCheckout;
  readonly git: Pick<Git, 'tip' | 'tryLock'>;
  readonly rescues: Pick<Rescues, 'snapshot'>;
  readonly node: NodeId;
  readonly root: string;
}

/** The state to pass to the next check. It can be stored as JSON. */
export function beginGuard({ checkout }: Pick<GuardContext, 'checkout'>): Promise<CheckoutState> {
  return checkout.look();
}

export interface CheckOptions {
  /** Sessions of which a process had the main checkout as its folder. */
  readonly seenThere?: readonly SessionId[];
  /** Commits that landings moved the checkout to since. */
  readonly expectedHeads?: readonly CommitId[];
  /** Only these of the running sessions; all if absent. */
  readonly among?: readonly SessionId[];
  /** Files that were reported before. */
  readonly told?: readonly string[];
  /** Sessions that ran since the last look and have ended. */
  readonly ended?: readonly { readonly session: SessionId; readonly task: TaskId }[];
}

interface Checked {
  /** For the next check. */
  readonly state: CheckoutState;
  readonly escape: Escape | null;
  readonly tasks: readonly TaskId[];
}

export async function checkGuard(
  context: GuardContext,
  before: CheckoutState,
  options: CheckOptions = {},
): Promise<Checked> {
  const { checkout, git, policy } = context;
  const { expectedHeads = [], told = [] } = options;
  const state = await checkout.look({ since: before });
  const isExpected = state.head !== null && expectedHeads.includes(state.head);
  const wasThere = before.head !== null && (await git.tip(before.head)) !== undefined;
  // Files are compared with the commit of the first look, so that the changes of a commit made since then count too.
  const compared =
    state.head === before.head || isExpected || before.head === null || !wasThere
      ? state
      : await checkout.look({ since: state, against: before.head });
  const sessions = await runningSessions(context, options);
  const rules = { listedPaths: policy.escape.listedPaths, expectedHeads };
  const escape = decideEscape(before, compared, sessions, rules);
  const isKnown =
    escape?.head === null && escape.paths.every((one) => told.includes(one)) && escape.more === 0;
  if (escape === null || isKnown) return { state, escape: null, tasks: [] };
  const meant = sessions.filter(({ session }) => escape.session === null || session === escape.session);
  await tell(context, escape, meant);
  return { state, escape, tasks: meant.map(({ task }) => task) };
}

async function runningSessions(
  context: GuardContext,
  { seenThere = [], ended = [], among }: CheckOptions,
): Promise<readonly RunningSession[]> {
  const { board, node } = context;
  const running = new Map<SessionId, TaskId>(ended.map(({ session, task }) => [session, task]));
  for (const { id } of await board.tasks({ statuses: ['in_progress'], order: 'recent' })) {
    const task = await board.get('task', id);
    const claim = task?.state.status === 'in_progress' ? task.state.claim : undefined;
    if (claim?.node !== node || among?.includes(claim.session) === false) continue;
    running.set(claim.session, id);
  }
  const sessions: RunningSession[] = [];
  for (const [session, task] of running) {
    const workspace = await workspaceOf(context, task);
    sessions.push({
      session,
      task,
      workspace: workspace?.id ?? null,
      isAtHome: workspace?.strategy === 'static',
      wasSeenThere: seenThere.includes(session),
    });
  }
  return sessions;
}

/** Records the escape on the workspace of every session that can have caused it. */
async function tell(context: GuardContext, escape: Escape, meant: readonly RunningSession[]): Promise<void> {
  const outcome = await change(context, async (change) => {
    for (const { workspace: id } of meant)
      if (id !== null)
        await change.apply(decided({ type: 'workspace.escaped', id, at: change.at, ...escape }));
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
}

export interface MoveEscapeRequest {
  readonly task: TaskId;
  /** All paths of the task's latest escape if absent. */
  readonly paths?: readonly string[];
}

export type EscapeMoved =
  | {
      readonly kind: 'moved';
      readonly moved: readonly string[];
      readonly left: readonly PathMove[];
      /** The rescue of the main checkout before the move. */
      readonly rescue: string;
    }
  | {
      readonly kind: 'refused';
      readonly because: 'no_worktree' | 'nothing_to_move' | 'busy';
      readonly reason: string;
      readonly next: readonly string[];
    };

/** The only operation besides a landing that writes into a person's checkout: because they ask, and only these paths. */
export async function moveEscape(context: GuardContext, request: MoveEscapeRequest): Promise<EscapeMoved> {
  const { task } = request;
  const done = await context.git.tryLock(`task-${task}`, () => move(context, request));
  if (done) return done.value;
  const reason = `Another process is preparing or removing the worktree of ${task} right now.`;
  return { kind: 'refused', because: 'busy', reason, next: ['copse worktrees'] };
}

async function move(context: GuardContext, { task, paths }: MoveEscapeRequest): Promise<EscapeMoved> {
  const { checkout, rescues, root, clock } = context;
  const workspace = await workspaceOf(context, task);
  if (!workspace?.worktree) {
    const reason = `Cannot move files to ${task}: it has no worktree on this machine.`;
    const status = (await context.board.get('task', task))?.state.status;
    const next = status === undefined || isFinished(status) ? 'git status' : `copse show ${task}`;
    return { kind: 'refused', because: 'no_worktree', reason, next: [next] };
  }
  const wanted = paths ?? workspace.escape?.paths ?? [];
  const saved =
    wanted.length > 0 && (await rescues.snapshot({ task, worktree: root, why: 'escape', at: clock.now() }));
  if (saved === false || saved.kind === 'nothing_to_save') {
    const reason = `The main checkout has no changes to move to ${task}.`;
    return { kind: 'refused', because: 'nothing_to_move', reason, next: ['git status'] };
  }
  const { rescue } = saved;
  const moves = await checkout.move({
    paths: wanted,
    snapshot: rescue.commit,
    worktree: workspace.worktree.path,
  });
  const moved = moves.filter(({ outcome }) => outcome === 'moved').map(({ path }) => path);
  if (moved.length > 0) must(await noteMoved(context, workspace.id, moved, rescue.ref));
  return {
    kind: 'moved',
    moved,
    left: moves.filter(({ outcome }) => outcome !== 'moved'),
    rescue: rescue.ref,
  };
}

function noteMoved(
  context: GuardContext,
  id: NonNullable<RunningSession['workspace']>,
  paths: readonly string[],
  rescue: string,
): Promise<Outcome<void>> {
  return change(context, (change) =>
    change.apply(decided({ type: 'workspace.escape_moved', id, at: change.at, paths, rescue })),
  );
}

function must(outcome: Outcome<void>): void {
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
}
