/**
 * Removes a worktree, through the one gate (domain/removal.ts) and in the one order that loses nothing wherever it is
 * interrupted:
 *
 *   end the agent → rescue → teardown → look again → keep the tip → trash → branch, from the tip that was seen → record
 *
 * Whoever is killed on the way is repeated: what is rescued is rescued again only if it changed, a worktree that is in the
 * trash already is absent, a branch that is gone is gone.
 */

import { type BranchName, type CommitId, type TaskId, brand } from '../domain/ids.ts';
import type { Policy } from '../domain/policy.ts';
import {
  type EndFirst,
  type RemovalDecision,
  type RemovalFacts,
  type RemovalRequest,
  decideRemoval,
} from '../domain/removal.ts';
import { decidePause } from '../domain/task-decisions.ts';
import { decideWorkspace, type Workspace } from '../domain/workspace.ts';
import { change } from './context.ts';
import { furnishingOf } from './furnishing-of.ts';
import { branchRef, keepTip, rescueFirst } from './rescue-first.ts';
import { releasePorts } from './ports-of-sessions.ts';
import { type WorkspaceContext, isHeldByHand, workspaceOf } from './workspace-context.ts';
import { worktreePath } from './worktree-path.ts';

export const removalSteps = [
  'agent_ended',
  'torn_down',
  'rescued',
  'trashed',
  'branch_deleted',
  'released',
] as const;
export type RemovalStep = (typeof removalSteps)[number];

export type Removed =
  | {
      readonly removed: true;
      readonly task: TaskId;
      /** Null when it had none of its own. */
      readonly path: string | null;
      readonly rescue: string | null;
      readonly branch: BranchName | null;
      readonly isBranchDeleted: boolean;
      readonly notes: readonly string[];
    }
  | { readonly removed: false; readonly question: string }
  | { readonly removed: false; readonly reason: string; readonly next: readonly string[] };

const END_ATTEMPTS = 3;

export async function removeWorkspace(
  context: WorkspaceContext,
  task: TaskId,
  request: RemovalRequest,
  onStep: (step: RemovalStep) => void = () => {},
): Promise<Removed> {
  const done = await context.git.tryLock(`task-${task}`, () => remove(context, task, request, onStep));
  if (done) return done.value;
  const reason = `Another process is preparing or removing the worktree of ${task} right now.`;
  return { removed: false, reason, next: ['copse worktrees'] };
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
  if (!workspace && found.state === 'absent' && !found.isRegistered) return notThere(task);
  const { facts, decision } = await endTheAgent(context, { task, path, workspace, request });
  onStep('agent_ended');
  if (decision.may === false) return { removed: false, reason: decision.reason, next: decision.next };
  if (decision.may === 'ask') return { removed: false, question: decision.question };
  if (decision.may === 'end_first') return stillAlive(task);

  const at = context.clock.now();
  const asBranch = (await branchOf(context, path, workspace)) ?? undefined;
  const saved = { task, worktree: path, why: 'removal', at, ...(asBranch && { asBranch }) } as const;
  // Before the teardown, which may clean up more than it should, and after it, since it may write.
  const before = await rescueFirst(context, saved);
  const notes = await tearDown(context, task, path, workspace);
  onStep('torn_down');
  const after = before === null ? await rescueFirst(context, saved) : null;
  const rescue = before ?? after;
  onStep('rescued');

  // Somebody may have gone in, or an agent may have been started, while the files were being saved.
  const now = { ...facts, ...(await whoIsThere(context, task, path)) };
  const again = decideRemoval(now, force(request), context.policy);
  if (again.may === false) return { removed: false, reason: again.reason, next: again.next };
  if (again.may !== true) return stillAlive(task);

  const branch = await branchOf(context, path, workspace);
  const tip = (branch && (await context.git.tip(branchRef(branch)))) ?? null;
  const base = workspace?.worktree?.baseCommit ?? null;
  // Whatever becomes of the branch, here or by somebody else's hand: what the trash leaves out must be in git.
  if (tip !== null) await keepTip(context, task, tip, at);
  await context.trash.put({
    path,
    gitDir: context.git.gitDirOf(path) ?? null,
    record: { task, path, branch, branchTip: tip, head: tip, base, rescue, at, why: 'removal' },
  });
  onStep('trashed');
  const isBranchDeleted =
    decision.branch === 'delete' &&
    branch !== null &&
    tip !== null &&
    (await isOurs(context, branch, workspace, notes))
      ? await deleteBranch(context, task, branch, tip, notes)
      : false;
  onStep('branch_deleted');
  if (workspace) await recordRelease(context, workspace, rescue);
  await putDown(context, task);
  await releasePorts(context, { holder: task, node: context.node });
  onStep('released');
  return { removed: true, task, path, rescue, branch, isBranchDeleted, notes };
}

/** The checkout itself, or nothing: there is nothing to remove, only to give back. */
async function releaseOnly(context: WorkspaceContext, workspace: Workspace): Promise<Removed> {
  const { task } = workspace;
  await recordRelease(context, workspace, null);
  await releasePorts(context, { holder: task, node: context.node });
  return {
    removed: true,
    task,
    path: null,
    rescue: null,
    branch: null,
    isBranchDeleted: false,
    notes: [],
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
): Promise<{ readonly facts: RemovalFacts; readonly decision: RemovalDecision }> {
  for (let attempt = 0; ; attempt += 1) {
    // Counting reads every file; whoever forces is not asked, and the rescue finds out by itself.
    const mayCount = of.request.by !== 'person' || !of.request.isForced;
    const facts = await gatherFacts(context, of.task, of.path, of.workspace, mayCount);
    const decision = decideRemoval(facts, of.request, context.policy);
    if (decision.may !== 'end_first' || attempt === END_ATTEMPTS) return { facts, decision };
    await end(context, of.task, decision.ends, context.policy);
  }
}

/** What a person worked on by hand is paused from now on. */
async function putDown(context: WorkspaceContext, id: TaskId): Promise<void> {
  const outcome = await change(context, async (change) => {
    const task = await change.board.get('task', id);
    if (task && isHeldByHand(context, task)) await change.apply(decidePause(task, change.at));
  });
  if (!outcome.ok) throw new Error(outcome.refusal.reason);
}

/** The claim first: a session that still holds its task would be started again. */
async function end(context: WorkspaceContext, id: TaskId, ends: EndFirst, policy: Policy): Promise<void> {
  if (ends.lease) {
    const outcome = await change(context, async (change) => {
      const task = await change.require('task', id);
      if (task.state.status === 'in_progress') await change.apply(decidePause(task, change.at));
    });
    if (!outcome.ok) throw new Error(outcome.refusal.reason);
  }
  for (const name of ends.tmux) await context.occupancy.killTmuxSession(name);
  await context.occupancy.end(ends.processes, { graceMs: policy.removal.endGraceMs });
}

/** What is at stake does not change while nobody is inside; who is inside does. */
async function gatherFacts(
  context: WorkspaceContext,
  task: TaskId,
  path: string,
  workspace: Workspace | undefined,
  mayCount: boolean,
): Promise<RemovalFacts> {
  const [alive, stake] = await Promise.all([
    whoIsThere(context, task, path),
    whatIsAtStake(context, path, workspace, mayCount),
  ]);
  return {
    task,
    path,
    isManaged:
      path !== context.root && (workspace !== undefined || path === `${context.worktreeFolder}/${task}`),
    disposition: workspace?.disposition ?? null,
    ...alive,
    ...stake,
  };
}

type Alive = Pick<RemovalFacts, 'inside' | 'unreadable' | 'tmux' | 'lease' | 'locks' | 'status'>;

async function whoIsThere(context: WorkspaceContext, task: TaskId, path: string): Promise<Alive> {
  const { git, board, occupancy, clock, node } = context;
  const record = await board.get('task', task);
  const attempts = (await board.list('attempt', { task })).filter(({ end }) => end === null);
  const sessions = await board.list('session', { task });
  const owners = {
    roots: attempts.flatMap(({ process }) => process ?? []),
    sessions: sessions.map(({ id }) => id),
  };
  const [inside, tmux, locks] = await Promise.all([
    occupancy.inside(path, owners),
    occupancy.tmuxSessions(`copse-${task}`),
    git.locks(path),
  ]);
  const lease = await board.lease(task);
  const now = clock.now();
  const hasGit = inside.known && inside.processes.some(({ name }) => name.startsWith('git'));
  const holder =
    record?.state.status === 'in_progress' && record.state.claim.node !== node ? 'elsewhere' : 'here';
  return {
    inside: inside.known ? inside.processes : null,
    unreadable: inside.known ? inside.unreadable : [],
    tmux: tmux.known ? tmux.sessions : null,
    lease:
      // Whoever works by hand is the person who asks, or somebody at the same desk.
      lease === undefined || (record && isHeldByHand(context, record))
        ? { is: 'none' }
        : lease.expiresAt > now
          ? { is: 'live', holder }
          : { is: 'expired', forMs: now - lease.expiresAt },
    locks: locks.map(({ file, since }) => ({ file, ageMs: now - since, isHeld: hasGit })),
    status: record?.state.status ?? null,
  };
}

async function whatIsAtStake(
  context: WorkspaceContext,
  path: string,
  workspace: Workspace | undefined,
  mayCount: boolean,
): Promise<Pick<RemovalFacts, 'operation' | 'uncommitted' | 'branch' | 'unmerged'>> {
  const look = await context.git.look(path);
  const isHealthy = look.state === 'healthy';
  const [uncommitted, branch] = await Promise.all([
    isHealthy ? (mayCount ? countUncommitted(context, path) : null) : 0,
    branchState(context, await branchOf(context, path, workspace), workspace),
  ]);
  return { operation: isHealthy ? look.operation : null, uncommitted, ...branch };
}

async function countUncommitted({ git }: WorkspaceContext, path: string): Promise<number | null> {
  try {
    const { changed, untracked } = await git.uncommitted(path);
    return changed.length + untracked.length;
  } catch {
    // The gate treats it as unknown; the rescue will say what is wrong.
    return null;
  }
}

async function branchOf(
  { git }: WorkspaceContext,
  path: string,
  workspace: Workspace | undefined,
): Promise<BranchName | null> {
  const look = await git.look(path);
  const current = look.state === 'healthy' ? look.branch : null;
  return current ?? workspace?.worktree?.branch ?? null;
}

async function branchState(
  context: WorkspaceContext,
  branch: BranchName | null,
  workspace: Workspace | undefined,
): Promise<Pick<RemovalFacts, 'branch' | 'unmerged'>> {
  const { git, target } = context;
  const tip = branch && (await git.tip(branchRef(branch)));
  if (!tip) return { branch: 'gone', unmerged: 0 };
  const base = target ?? workspace?.worktree?.baseBranch ?? (await git.detectBase());
  const bases = base === undefined ? [] : await tipsOfBase(context, brand(base));
  const [first] = bases;
  if (first === undefined) return { branch: 'unmerged', unmerged: null };
  for (const into of bases) {
    if (into === tip || (await git.isAncestor(tip, into))) return { branch: 'merged', unmerged: 0 };
  }
  const counts = await Promise.all(bases.map((into) => git.countCommits(into, tip)));
  return { branch: 'unmerged', unmerged: Math.min(...counts) };
}

async function tipsOfBase({ git }: WorkspaceContext, base: BranchName): Promise<readonly CommitId[]> {
  const remote = await git.remoteName();
  const refs = [branchRef(base), ...(remote === undefined ? [] : [`refs/remotes/${remote}/${base}`])];
  const tips = await Promise.all(refs.map((ref) => git.tip(ref)));
  return tips.filter((tip) => tip !== undefined);
}

async function tearDown(
  context: WorkspaceContext,
  id: TaskId,
  path: string,
  workspace: Workspace | undefined,
): Promise<string[]> {
  const task = await context.board.get('task', id);
  const worktree = workspace?.worktree;
  if (task === undefined || !worktree || (await context.git.look(path)).state !== 'healthy') return [];
  const of = { path, branch: worktree.branch, base: worktree.baseBranch, ports: [] };
  const request = { task, agent: null, session: task.session };
  const outcome = await context.furnishing.dismantle(furnishingOf(context, request, of));
  return outcome.ok ? [] : [`Its teardown failed at: ${outcome.command}. The output is in ${outcome.log}.`];
}

/** The branch that was made for the task, and that no other checkout has: an agent may have switched to any other. */
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

/** Only from the tip that was seen. */
async function deleteBranch(
  context: WorkspaceContext,
  task: TaskId,
  branch: BranchName,
  tip: CommitId,
  notes: string[],
): Promise<boolean> {
  const { git, clock } = context;
  const moved = await git.moveRef(branchRef(branch), tip, null, `copse: ${task} is removed`);
  if (!moved.moved && moved.tip !== null) {
    notes.push(`The branch ${branch} was kept: it moved while it was being removed.`);
    return false;
  }
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
  return true;
}

async function recordRelease(
  context: WorkspaceContext,
  { id }: Workspace,
  rescue: string | null,
): Promise<void> {
  const outcome = await change(context, async (change) => {
    const workspace = await change.require('workspace', id);
    if (workspace.disposition.is === 'released') return;
    await change.apply(decideWorkspace(workspace, { action: 'release', rescue }, change.at));
  });
  if (!outcome.ok) throw new Error(outcome.refusal.reason);
}

/** The question was answered before the rescue; what is asked now is only whether anything lives there. */
function force(request: RemovalRequest): RemovalRequest {
  return request.by === 'person' ? { ...request, isForced: true, isNamed: true } : request;
}

function notThere(task: TaskId): Removed {
  const reason = `${task} has no worktree here.`;
  return { removed: false, reason, next: ['copse worktrees', `copse undo ${task}`] };
}

function stillAlive(task: TaskId): Removed {
  return {
    removed: false,
    reason: `The agent of ${task} could not be ended, so its worktree stays.`,
    next: [`copse show ${task}`, `copse cleanup ${task} --force`],
  };
}
