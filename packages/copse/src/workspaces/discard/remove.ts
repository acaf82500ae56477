/**
 * Removes a worktree:
 *
 *   end the agent → discard (discard.ts) → delete the branch from the tip that was seen → record
 *
 * The gate (workspaces/rules/removal.ts) decides before the first step and again inside `discard`. A removal that was
 * killed is finished by calling it again.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { shown } from '../../kernel/text.ts';
import { type EndFirst, type RemovalDecision, type RemovalRequest, decideRemoval } from '../rules/removal.ts';
import { decidePause } from '../../tasks/rules/decisions.ts';
import { decideWorkspace, type Workspace } from '../rules/workspace.ts';
import type { TrashEntry, TrashRecord } from '../ports/trash.ts';
import { change } from '../../board/context.ts';
import { endSession } from '../../tasks/act/end-session.ts';
import { furnishingOf } from '../act/furnishing-of.ts';
import { releasePorts } from '../act/ports-of-sessions.ts';
import { discard } from './discard.ts';
import { type SeenFacts, gatherFacts, whoIsThere } from './removal-gate.ts';
import { branchRef, keepTip } from './rescue-first.ts';
import { findStrays, removeStrays } from './stray-branches.ts';
import { type WorkspaceContext, isHeldByHand, workspaceOf } from '../act/context.ts';
import { findElsewhere, whereText } from '../act/shared/elsewhere.ts';
import { worktreePath } from '../act/worktree-path.ts';

export const removalSteps = [
  'agent_ended',
  'torn_down',
  'rescued',
  'trashed',
  'branch_deleted',
  'released',
] as const;
export type RemovalStep = (typeof removalSteps)[number];

/** `gone`: it was already deleted. */
export type BranchFate = 'kept' | 'deleted' | 'gone';

export type Removed =
  | {
      readonly kind: 'removed';
      readonly task: TaskId;
      /** Null when it had none of its own. */
      readonly path: string | null;
      readonly rescue: string | null;
      readonly branch: BranchName | null;
      readonly becameOfBranch: BranchFate;
      readonly notes: readonly string[];
      /** Where it is now. It has files that no rescue holds; `withIgnored` lists them. */
      readonly trashed: TrashEntry | null;
    }
  | { readonly kind: 'question'; readonly question: string }
  /** `busy`: another process prepares or removes the same worktree. */
  | {
      readonly kind: 'refused' | 'busy';
      readonly reason: string;
      readonly next: readonly string[];
      /** Only gits were inside, which mostly leave within milliseconds. */
      readonly mayPass?: boolean;
    };

/**
 * An orchestrator, `copse worktrees` and the prompts of shells start gits in a worktree for some milliseconds: when only such are
 * inside, it looks again before it refuses.
 */
export async function removeWorkspace(
  context: WorkspaceContext,
  task: TaskId,
  request: RemovalRequest,
  onStep: (step: RemovalStep) => void = () => {},
): Promise<Removed> {
  const { gitsLeaveMs, gitsLeaveTimes } = context.policy.removal;
  for (let looks = 1; ; looks++) {
    const removed = await removeLocked(context, task, request, onStep);
    const mayPass = removed.kind === 'refused' && removed.mayPass === true;
    if (!mayPass || looks > gitsLeaveTimes) return removed;
    await sleep(gitsLeaveMs);
  }
}

async function removeLocked(
  context: WorkspaceContext,
  task: TaskId,
  request: RemovalRequest,
  onStep: (step: RemovalStep) => void,
): Promise<Removed> {
  const done = await context.git.tryLock(`task-${task}`, () => remove(context, task, request, onStep));
  if (done) return done.value;
  const reason = `Another process is preparing or removing the worktree of ${task} right now.`;
  return { kind: 'busy', reason, next: ['copse worktrees'] };
}

async function remove(
  context: WorkspaceContext,
  task: TaskId,
  request: RemovalRequest,
  onStep: (step: RemovalStep) => void,
): Promise<Removed> {
  const workspace = await workspaceOf(context, task);
  if (workspace && workspace.worktree === null) return releaseOnly(context, workspace);
  const path = await worktreePath(context, task, workspace);
  const found = await context.git.look(path);
  if (!workspace && found.state === 'absent' && !found.isRegistered) return notThere(context, task);
  const { facts, decision } = await endTheAgent(context, { task, path, workspace, request });
  onStep('agent_ended');
  if (decision.kind === 'refused') return refusedFor(facts, decision);
  if (decision.kind === 'question') return { kind: 'question', question: decision.question };
  if (decision.kind === 'end_first') return stillAlive(task);

  const notes: string[] = [];
  const isBranchOver = decision.branch === 'delete' || facts.branch === 'gone';
  const strays = workspace && isBranchOver ? await findStrays(context, workspace) : [];
  const discarded = await discard(context, {
    task,
    path,
    rescueReason: 'removal',
    recordedBranch: workspace?.worktree?.branch ?? null,
    base: workspace?.worktree?.baseCommit ?? null,
    reason: () => 'removal',
    hasLooked: true,
    look: () => refuseNow(context, { task, path, facts, request }),
    tearDown: () => tearDown(context, task, { path, workspace, notes }),
    onSetAside:
      request.by === 'person' && request.isForced
        ? (place) => notes.push(`Its object store is beyond the limits of Copse and was moved to ${place}.`)
        : undefined,
    earlier: found.state === 'absent' ? await begunRemoval(context, path, workspace) : undefined,
    onStep,
  });
  if (discarded.kind === 'refused') return discarded.refusal;
  const { entry: trashed, rescueAfterTeardown } = discarded;
  const branch = workspace?.worktree?.branch ?? discarded.branch;
  const other = discarded.branch === branch ? null : discarded.branch;
  if (other !== null && strays.every((stray) => stray.branch !== other))
    notes.push(`HEAD was on ${shown(other)}, which was not made for the task. That branch stays as it is.`);
  const { record } = trashed;
  if (rescueAfterTeardown !== null && rescueAfterTeardown !== record.rescue)
    notes.push(`Its teardown changed files. They are saved as ${rescueAfterTeardown}.`);
  const mayDelete = decision.branch === 'delete' && (await isOurs(context, branch, workspace, notes));
  const becameOfBranch =
    facts.branch === 'gone'
      ? 'gone'
      : await endOfBranch(context, task, {
          branch,
          seen: facts.tip,
          mayDelete,
          isKept: record.branchTip === facts.tip,
          // On the remote, others may go on with it; only a person deletes it there.
          isHereOnly: request.by === 'sweep' && facts.branch === 'unmerged',
          notes,
        });
  if (workspace) notes.push(...(await removeStrays(context, workspace, strays)));
  onStep('branch_deleted');
  if (workspace) await recordRelease(context, workspace, record.rescue, notes);
  await putDown(context, task);
  await releasePorts(context, { holder: task, node: context.node });
  onStep('released');
  return { kind: 'removed', task, path, rescue: record.rescue, branch, becameOfBranch, notes, trashed };
}

function refusedFor(
  { inside }: Pick<SeenFacts, 'inside'>,
  { because, reason, next }: Extract<RemovalDecision, { readonly kind: 'refused' }>,
): Removed {
  // Copse starts its own gits through a shell, which limits their memory (git/run/limits.ts).
  const areGits = inside?.every(({ name }) => name.startsWith('git') || name === 'sh') ?? false;
  return { kind: 'refused', reason, next, mayPass: because === 'foreign_process' && areGits };
}

/** The person answered before the rescue; this asks only whether anything is alive in the worktree now. */
async function refuseNow(
  context: WorkspaceContext,
  of: {
    readonly task: TaskId;
    readonly path: string;
    readonly facts: SeenFacts;
    readonly request: RemovalRequest;
  },
): Promise<Removed | undefined> {
  const { task, path, request } = of;
  const facts = { ...of.facts, ...(await whoIsThere(context, task, path)) };
  const answered: RemovalRequest =
    request.by === 'person' ? { ...request, isForced: true, isNamed: true } : request;
  const decision = decideRemoval(facts, answered, context.policy);
  if (decision.kind === 'allowed') return undefined;
  if (decision.kind === 'refused') return refusedFor(facts, decision);
  return stillAlive(task);
}

/** The record of a removal that was killed after it had moved the worktree to the trash. */
async function begunRemoval(
  { trash }: WorkspaceContext,
  path: string,
  workspace: Workspace | undefined,
): Promise<TrashRecord | undefined> {
  if (workspace === undefined) return undefined;
  const latest = (await trash.list()).find(({ record }) => record.task === workspace.task)?.record;
  const isOfThis = latest?.path === path && latest.at >= workspace.preparedAt;
  return isOfThis && latest.why === 'removal' ? latest : undefined;
}

/** Records a removal that was killed after the worktree had moved to the trash. */
export async function finishRemoval(context: WorkspaceContext, task: TaskId): Promise<void> {
  await context.git.tryLock(`task-${task}`, async () => {
    const workspace = await workspaceOf(context, task);
    if (!workspace?.worktree) return;
    const path = await worktreePath(context, task, workspace);
    const found = await context.git.look(path);
    if (found.state !== 'absent' || found.isRegistered) return;
    const begun = await begunRemoval(context, path, workspace);
    if (begun === undefined) return;
    await recordRelease(context, workspace, begun.rescue, []);
    await putDown(context, task);
    await releasePorts(context, { holder: task, node: context.node });
  });
}

/** The task works in the main checkout or has no files: nothing is removed, only its ports are released. */
async function releaseOnly(context: WorkspaceContext, workspace: Workspace): Promise<Removed> {
  const { task } = workspace;
  await recordRelease(context, workspace, null, []);
  await releasePorts(context, { holder: task, node: context.node });
  return {
    kind: 'removed',
    task,
    path: null,
    rescue: null,
    branch: null,
    becameOfBranch: 'kept',
    notes: [],
    trashed: null,
  };
}

async function endTheAgent(
  context: WorkspaceContext,
  of: {
    readonly task: TaskId;
    readonly path: string;
    readonly workspace: Workspace | undefined;
    readonly request: RemovalRequest;
  },
): Promise<{ readonly facts: SeenFacts; readonly decision: RemovalDecision }> {
  for (let ended = 0; ; ended += 1) {
    // Counting reads every file. A forced removal asks no question that needs the count.
    const { request } = of;
    const counting = request.by !== 'person' ? 'without_hooks' : request.isForced ? 'none' : 'all';
    const facts = await gatherFacts(context, of.task, of.path, of.workspace, counting);
    const decision = decideRemoval(facts, of.request, context.policy);
    if (decision.kind !== 'end_first' || ended === context.policy.removal.endTimes)
      return { facts, decision };
    await end(context, of.task, decision.ends, context.policy);
  }
}

/** Pauses a task that a person works on by hand. */
async function putDown(context: WorkspaceContext, id: TaskId): Promise<void> {
  const outcome = await change(context, async (change) => {
    const task = await change.board.get('task', id);
    if (task && isHeldByHand(context, task)) await change.apply(decidePause(task, change.at));
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
}

/** The claim first: the orchestrator restarts a session that still holds its task. */
async function end(context: WorkspaceContext, id: TaskId, ends: EndFirst, policy: Policy): Promise<void> {
  if (ends.lease) {
    const outcome = await change(context, async (change) => {
      const task = await change.require('task', id);
      if (task.state.status !== 'in_progress') return;
      await change.apply(decidePause(task, change.at));
      await endSession(change, task, { action: 'interrupt', because: 'paused' });
    });
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
  }
  for (const name of ends.tmux) await context.occupancy.killTmuxSession(name);
  await context.occupancy.end(ends.processes, { graceMs: policy.removal.endGraceMs });
}

/** Whether any command ran. */
async function tearDown(
  context: WorkspaceContext,
  id: TaskId,
  of: { readonly path: string; readonly workspace: Workspace | undefined; readonly notes: string[] },
): Promise<boolean> {
  const { path, workspace, notes } = of;
  const task = await context.board.get('task', id);
  const worktree = workspace?.worktree;
  if (task === undefined || !worktree || (await context.git.look(path)).state !== 'healthy') {
    return false;
  }
  const place = { path, branch: worktree.branch, base: worktree.baseBranch, ports: [] };
  const session = task.session === null ? undefined : await context.board.get('session', task.session);
  const request = { task, agent: session?.agent ?? null, session: task.session };
  const own = request.agent === null ? undefined : await context.settingsOf(request.agent);
  const settings = own ?? context.settings;
  const outcome = await context.furnishing.dismantle({
    ...furnishingOf({ ...context, settings }, request, place),
    // `HEAD` is recorded where no base branch was known: the commit may be the agent's.
    base: worktree.baseBranch === 'HEAD' ? null : worktree.baseCommit,
    sparse: settings.sparse ?? [],
  });
  if (outcome.kind === 'done') return outcome.ran > 0;
  if (outcome.because === 'not_started') {
    notes.push(`Its teardown did not run: ${outcome.tail.at(-1) ?? ''} Its log is ${outcome.log}.`);
    return false;
  }
  const where = `a checkout of ${worktree.baseBranch} (${worktree.baseCommit.slice(0, 10)})`;
  notes.push(
    `Its teardown failed at: ${outcome.command}. It ran in ${where}. The output is in ${outcome.log}.`,
  );
  return true;
}

/** Whether the branch was made for the task and no other checkout has it. An agent may have switched to another one. */
async function isOurs(
  { git, target }: WorkspaceContext,
  branch: BranchName | null,
  workspace: Workspace | undefined,
  notes: string[],
): Promise<boolean> {
  const worktree = workspace?.worktree;
  const isMade = branch !== null && branch === worktree?.branch;
  const isWanted = branch === target || branch === worktree?.baseBranch;
  if (isMade && !isWanted && (await git.holderOf(branch)) === undefined) return true;
  if (branch !== null)
    notes.push(`The branch ${branch} was kept: it is not the one that was made for the task.`);
  return false;
}

/** Deletes the branch only from the tip that the decision was about, so that a later commit keeps it. */
async function endOfBranch(
  context: WorkspaceContext,
  task: TaskId,
  of: {
    readonly branch: BranchName | null;
    readonly seen: CommitId | null;
    readonly mayDelete: boolean;
    /** A ref has its tip. */
    readonly isKept: boolean;
    readonly isHereOnly: boolean;
    readonly notes: string[];
  },
): Promise<BranchFate> {
  const { branch, seen, mayDelete, notes } = of;
  if (!mayDelete || branch === null || seen === null) return 'kept';
  if (!of.isKept) await keepTip(context, task, seen, context.clock.now());
  const moved = await context.git.moveRef(branchRef(branch), seen, null, `copse: ${task} is removed`);
  if (moved.kind !== 'moved' && moved.tip !== null) {
    notes.push(`The branch ${branch} was kept: it moved while it was being removed.`);
    return 'kept';
  }
  if (!of.isHereOnly) await deleteRemoteBranch(context, task, branch, seen, notes);
  return 'deleted';
}

async function deleteRemoteBranch(
  context: WorkspaceContext,
  task: TaskId,
  branch: BranchName,
  tip: CommitId,
  notes: string[],
): Promise<void> {
  const { git, clock } = context;
  const remote = await git.remoteName();
  const pushed = remote && (await git.tip(`refs/remotes/${remote}/${branch}`));
  if (pushed && pushed !== tip && !(await git.isAncestor(pushed, tip))) {
    await keepTip(context, task, pushed, clock.now());
    notes.push(`The branch ${branch} on ${remote} was kept: it has commits that are not here.`);
  } else if (pushed) {
    const deletion = await git.deleteRemoteBranch(branch, pushed);
    if ('reason' in deletion) {
      notes.push(`The branch ${branch} on ${remote} was kept: ${deletion.reason}`);
    }
  }
}

async function recordRelease(
  context: WorkspaceContext,
  { id }: Workspace,
  rescue: string | null,
  notes: readonly string[],
): Promise<void> {
  const outcome = await change(context, async (change) => {
    const workspace = await change.require('workspace', id);
    if (workspace.disposition.is === 'released') return;
    await change.apply(decideWorkspace(workspace, { action: 'release', rescue, notes }, change.at));
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
}

async function notThere(context: WorkspaceContext, task: TaskId): Promise<Removed> {
  const isElsewhere = (await findElsewhere(context, task)) !== undefined;
  const where = await whereText(context, task, context.clock.now());
  const reason = isElsewhere ? `${where} Only that machine can remove it.` : `${task} has no worktree here.`;
  const undo = `copse undo ${task} --worktree # to bring back the one that was removed`;
  const canUndo = (await context.trash.list()).some(
    ({ record }) => record.task === task && record.why !== 'leftover',
  );
  return { kind: 'refused', reason, next: ['copse worktrees', ...(canUndo ? [undo] : [])] };
}

function stillAlive(task: TaskId): Removed {
  return {
    kind: 'refused',
    reason: `The agent of ${task} could not be ended, so its worktree is kept.`,
    next: [
      `copse show ${task} # to look at it`,
      `copse cleanup ${task} --force # to stop its agent and remove its worktree`,
    ],
  };
}
