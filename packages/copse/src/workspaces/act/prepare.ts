/**
 * Prepares the workspace of a task, new or not: looks, decides (workspaces/rules/preparation.ts), acts. If it is killed, the
 * next call looks again and continues.
 *
 * The order makes that safe. An unusable worktree is rescued before it is moved. The board gets the workspace before
 * anything is created, so that nothing exists without a record. The branch comes before the worktree, and a worktree
 * counts only when its checkout is finished.
 */

import {
  type BranchName,
  type CommitId,
  type FencingToken,
  type TaskId,
  type WorkspaceId,
  brand,
  drawId,
} from '../../kernel/ids.ts';
import {
  type Preparation,
  type PreparationFacts,
  type PreparationStep,
  decidePreparation,
  noBaseText,
} from '../rules/preparation.ts';
import { type Refused, decided } from '../../kernel/decision.ts';
import { shellWord } from '../../kernel/shell.ts';
import type { NoBase, Task } from '../../tasks/rules/task.ts';
import { type Workspace, decideWorkspace } from '../rules/workspace.ts';
import type { FurnishReport } from '../ports/furnishing.ts';
import type { NewWorktree } from '../../git/port.ts';
import {
  type BranchChoice,
  type NamedWork,
  freeName,
  isNamedAlike,
  isOnForeignBranch,
  nameBranch,
  worktreesOfOthers,
} from './branch-of.ts';
import { change } from '../../board/context.ts';
import { type Worker, furnishRecord, furnishingOf } from './furnishing-of.ts';
import { leaveDiscarded } from './shared/discarded.ts';
import { leaveWhatLanded, setAside } from '../discard/make-room.ts';
import { leasePorts } from './ports-of-sessions.ts';
import { type Base, findNewestBase } from './newest-base.ts';
import { prepareElsewhere, strategyFor } from './checkout/prepare-elsewhere.ts';
import { hasLanded } from '../discard/removal-gate.ts';
import { branchRef, keepTip } from '../discard/rescue-first.ts';
import { beginningMessage } from '../rules/naming.ts';
import { type WorkspaceContext, workspaceOf } from './context.ts';
import { type TakeOver, findTakeOver, markTaken } from './shared/take-over.ts';
import { worktreePath } from './worktree-path.ts';

export interface PrepareRequest extends Worker, NamedWork {
  /** Of the attempt that asks: its own lease does not keep it from setting a broken worktree aside. */
  readonly token?: FencingToken;
  readonly onStep?: (step: PreparationStep) => void;
}

export type Prepared =
  | {
      readonly kind: 'prepared';
      readonly workspace: Workspace;
      readonly path: string;
      readonly branch: BranchName | null;
      readonly base: BranchName | null;
      readonly reused: boolean;
      /** From a snapshot of another machine. */
      readonly isTakenOver?: boolean;
      readonly notes: readonly string[];
      readonly ports: readonly number[];
      readonly furnished: FurnishReport;
    }
  | {
      readonly kind: 'refused';
      /** `occupied`: the worktree is unusable and cannot be set aside, because it is in use. */
      readonly because:
        | 'taken'
        | 'busy'
        | 'occupied'
        | 'no_base'
        | 'bad_branch'
        | 'no_ports'
        | 'remote_away'
        | 'setup_failed';
      /** Of `no_base`. */
      readonly lacks?: NoBase;
      readonly reason: string;
      readonly next: readonly string[];
    };

export async function prepareWorkspace(
  context: WorkspaceContext,
  request: PrepareRequest,
): Promise<Prepared> {
  const { id } = request.task;
  const done = await context.git.tryLock(`task-${id}`, () => prepareLocked(context, request));
  if (done) return done.value;
  return {
    kind: 'refused',
    because: 'busy',
    reason: `Another process is preparing or removing the worktree of ${id} right now.`,
    next: ['copse worktrees'],
  };
}

/** For callers that hold the task's lock. */
export async function prepareLocked(context: WorkspaceContext, request: PrepareRequest): Promise<Prepared> {
  const { task } = request;
  const strategy = strategyFor(context, task);
  if (strategy !== 'git_worktree') return elsewhere(context, task, strategy);
  const named = nameBranch(context, request);
  if (named.kind === 'refused') {
    return { kind: 'refused', because: 'bad_branch', reason: named.reason, next: ['copse config check'] };
  }
  const discarded = await leaveDiscarded(context, task, request.token);
  if (discarded.kind === 'refused') return inUse(discarded);
  const begunAnew = [...discarded.value, ...(await leaveWhatLanded(context, task, request.token))];
  const known = await workspaceOf(context, task.id);
  const own = known?.worktree?.branch;
  const foreign = new Set<BranchName>();
  for (;;) {
    const choice =
      own === undefined
        ? await freeName(context, task.id, named.branch, foreign)
        : { branch: own, isOwn: true };
    const prepared = await prepareOn(context, request, { choice, known, begunAnew });
    if (prepared.kind !== 'branch_of_others') return prepared;
    foreign.add(choice.branch);
  }
}

interface OnBranch {
  readonly choice: BranchChoice;
  readonly known: Workspace | undefined;
  /** What became of the work of the task that landed before. */
  readonly begunAnew: readonly string[];
}

/** On a branch that may turn out to be another's: it is then not touched. */
async function prepareOn(
  context: WorkspaceContext,
  request: PrepareRequest,
  { choice, known, begunAnew }: OnBranch,
): Promise<Prepared | { readonly kind: 'branch_of_others' }> {
  const { task, onStep = () => {} } = request;
  const { branch: free, isOwn } = choice;
  const path = await worktreePath(context, task.id, known);
  await context.git.repair(path);
  const isHere = async () =>
    (await context.git.look(path)).state === 'healthy' ||
    (await context.git.tip(branchRef(free))) !== undefined;
  const taking = await findTakeOver(context, task.id, { token: request.token, isHere });
  if (taking.kind === 'unreachable') return remoteAway(task.id, taking.reason);
  const found = await gatherFacts(context, task.id, path, free);
  // Its name was free a moment ago, so another process made it since, for something else.
  const isThere = found.isPushed || found.facts.localTip !== undefined || found.facts.holder !== undefined;
  if (!isOwn && isThere) return { kind: 'branch_of_others' };
  const snapshotStart = taking.kind === 'found' ? taking.start : undefined;
  const facts = { ...found.facts, snapshotStart };
  const notes = [...taking.notes, ...found.notes];
  const plan = decidePreparation(facts);
  if (plan.kind === 'taken') return taken(task.id, facts.branch, plan.by);
  if (plan.kind === 'no_base') return noBase(context, task.id);

  const base = await baseOf(context, facts, plan);
  const isInTheWay = plan.kind === 'new_worktree' && plan.aside !== null;
  const aside = isInTheWay
    ? await setAside(context, task.id, { path, known, facts, token: request.token })
    : ({ kind: 'free', rescue: null } as const);
  if (aside.kind === 'refused') return inUse(aside);
  const { rescue } = aside;
  if (isInTheWay) onStep('set_aside');
  const workspace = await recordIntent(context, task.id, known, { path, branch: facts.branch, base });
  if (workspace === 'branch_of_others') return { kind: 'branch_of_others' };
  onStep('intended');
  if (plan.kind === 'new_worktree') context.furnishing.startOver(furnishRecord(context, task.id));
  const made = plan.kind === 'reuse' ? undefined : await make(context, task.id, facts, plan, path, onStep);
  if (made && 'takenBy' in made) return taken(task.id, facts.branch, made.takenBy);
  if (taking.kind === 'found') notes.push(...(await restoreTaken(context, taking, path)));

  const branch = plan.kind === 'reuse' ? plan.branch : (made?.branch ?? facts.branch);
  const leased = await leasePorts(context, context.portProbe, { holder: task.id, node: context.node });
  if (leased.kind === 'refused') return { kind: 'refused', because: 'no_ports', ...leased.refusal };
  const { ports, occupied } = leased.value;
  const furnished = await context.furnishing.furnish({
    ...furnishingOf(context, request, { path, branch: facts.branch, base: base.branch, ports }),
    commit: plan.kind === 'new_worktree' ? plan.start : await headOf(context, path),
    isFresh: plan.kind === 'new_worktree',
    // Restored files are an agent's.
    isAsBase: plan.kind === 'new_worktree' && plan.from !== 'snapshot' && (await isOfBase(context, facts)),
  });
  onStep('furnished');
  if (furnished.setup.kind === 'failed') return setupFailed(task.id, path, furnished.setup);
  return {
    kind: 'prepared',
    workspace,
    path,
    branch,
    base: base.branch,
    reused: plan.kind === 'reuse',
    isTakenOver: taking.kind === 'found',
    notes: [
      ...begunAnew,
      ...(plan.kind === 'new_worktree' && plan.aside !== null
        ? [`The worktree was not usable: ${plan.aside}.`]
        : []),
      ...(rescue === null ? [] : [`Its files are saved as ${rescue}. Restore them: copse undo ${task.id}`]),
      ...notes,
      ...plan.notes,
      ...furnished.notes,
      ...occupied.map((port) => `Another program listens on its port ${port}.`),
    ],
    ports,
    furnished,
  };
}

/** Whether the branch, from which a worktree was made in this call, has nothing that the base does not have. */
async function isOfBase({ git }: WorkspaceContext, { branch, base }: PreparationFacts): Promise<boolean> {
  const tip = await git.tip(branchRef(branch));
  if (tip === undefined || base === undefined) return false;
  return tip === base.commit || git.isAncestor(tip, base.commit);
}

async function headOf({ git }: WorkspaceContext, path: string): Promise<CommitId> {
  const facts = await git.look(path);
  if (facts.state !== 'healthy')
    throw new Error(`The worktree at ${path} has just been looked at and is gone`);
  return facts.head;
}

async function elsewhere(
  context: WorkspaceContext,
  record: Task,
  strategy: 'static' | 'none',
): Promise<Prepared> {
  const { id: task } = record;
  const outcome = await prepareElsewhere(context, record, strategy);
  if ('impossible' in outcome) {
    const reason = `${task} cannot work in the main checkout. ${outcome.impossible}`;
    return { kind: 'refused', because: 'no_base', reason, next: ['copse config check'] };
  }
  if ('usedBy' in outcome) {
    const reason = `${task} works in the main checkout, which ${outcome.usedBy} uses now.`;
    return { kind: 'refused', because: 'taken', reason, next: [`copse show ${outcome.usedBy}`] };
  }
  if ('endingOf' in outcome) {
    const { endingOf } = outcome;
    const reason = `${task} works in the main checkout, where processes of ${endingOf} have not ended yet.`;
    return { kind: 'refused', because: 'busy', reason, next: [`copse show ${endingOf}`] };
  }
  const nothing = { brought: [], linked: [], skipped: [], submodules: [], notes: [] };
  return {
    kind: 'prepared',
    ...outcome,
    path: context.root,
    branch: null,
    base: null,
    notes: strategy === 'static' ? ['It works in the main checkout.'] : ['It has no worktree.'],
    ports: [],
    furnished: { ...nothing, setup: { kind: 'done', ran: 0 } },
  };
}

async function gatherFacts(
  context: WorkspaceContext,
  task: TaskId,
  path: string,
  branch: BranchName,
): Promise<{
  readonly facts: PreparationFacts;
  readonly isPushed: boolean;
  readonly notes: readonly string[];
}> {
  const { git, settings } = context;
  const worktree = await git.look(path);
  const remote = await git.remoteName();
  const localTip = await git.tip(`refs/heads/${branch}`);
  const baseBranch =
    context.target === undefined ? await git.detectBase() : brand<BranchName>(context.target);
  const isNew = worktree.state !== 'healthy' && localTip === undefined;
  const fetched =
    isNew && remote !== undefined && settings.fetch_before_setup
      ? await git.fetch(baseBranch === undefined ? [branch] : [branch, baseBranch])
      : undefined;
  const base = baseBranch && (await findNewestBase(git, baseBranch));
  const pushed = remote === undefined ? undefined : await git.tip(`refs/remotes/${remote}/${branch}`);
  const isOver = pushed && base && (await hasLanded(context, task, pushed, [base.commit]));
  const ignoring = await worktreesOfOthers(context, task, branch);
  const holder = await git.holderOf(branch, ignoring);
  const facts: PreparationFacts = {
    worktree,
    branch,
    localTip,
    remoteTip: isOver ? undefined : pushed,
    holder: holder === path ? undefined : holder,
    base,
    isOnForeignBranch: await isOnForeignBranch(context, worktree, { task, own: branch, base: baseBranch }),
  };
  const notes =
    fetched?.kind === 'failed' ? [`It starts from the commits on this machine. ${fetched.reason}`] : [];
  return { facts, isPushed: pushed !== undefined, notes };
}

async function baseOf(
  { git }: WorkspaceContext,
  { worktree, base }: PreparationFacts,
  plan: Extract<Preparation, { kind: 'reuse' | 'new_worktree' }>,
): Promise<Base> {
  const start =
    plan.kind === 'new_worktree' ? plan.start : worktree.state === 'healthy' ? worktree.head : undefined;
  if (start === undefined) throw new Error('A worktree that is reused has a HEAD');
  if (base === undefined) return { branch: brand('HEAD'), commit: start };
  const commit = (await git.mergeBase(base.commit, start)) ?? base.commit;
  return { branch: base.branch, commit };
}

async function recordIntent(
  context: WorkspaceContext,
  task: TaskId,
  known: Workspace | undefined,
  { path, branch, base }: { readonly path: string; readonly branch: BranchName; readonly base: Base },
): Promise<Workspace | 'branch_of_others'> {
  const isElsewhere = known !== undefined && known.worktree?.path !== path;
  if (known?.disposition.is === 'in_use' && !isElsewhere) return known;
  const outcome = await change(context, async (change) => {
    // The repository was moved, so the workspace at the old place is released.
    if (isElsewhere) {
      await change.apply(decideWorkspace(known, { action: 'release', rescue: null }, change.at));
    } else if (known !== undefined) {
      await change.apply(decideWorkspace(known, { action: 'use' }, change.at));
      return change.require('workspace', known.id);
    }
    if (known === undefined && (await isNamedAlike(change, task, branch))) return 'branch_of_others' as const;
    const id: WorkspaceId = brand(drawId('ws-', context.random));
    const worktree = { path, branch, baseBranch: base.branch, baseCommit: base.commit };
    const strategy = context.settings.strategy;
    const { node } = context;
    await change.apply(
      decided({ type: 'workspace.prepared', id, at: change.at, task, node, strategy, worktree }),
    );
    return change.require('workspace', id);
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
  return outcome.value;
}

async function make(
  context: WorkspaceContext,
  task: TaskId,
  { branch, localTip }: PreparationFacts,
  plan: Extract<Preparation, { kind: 'new_worktree' }>,
  path: string,
  onStep: (step: PreparationStep) => void,
): Promise<{ readonly branch: BranchName } | { readonly takenBy: string }> {
  const { git, settings } = context;
  if (plan.from === 'snapshot' && localTip !== undefined) {
    if (!(await git.isAncestor(localTip, plan.start)))
      await keepTip(context, task, localTip, context.clock.now());
    const moved = await git.moveRef(branchRef(branch), localTip, plan.start, beginningMessage(task));
    if (moved.kind !== 'moved') throw new Error(`The branch ${branch} moved while ${task} was prepared`);
  } else if (plan.from !== 'branch') {
    const moved = await git.moveRef(`refs/heads/${branch}`, null, plan.start, beginningMessage(task));
    // If another process made the branch meanwhile, it is continued.
    if (moved.kind !== 'moved' && moved.tip === null)
      throw new Error(`The branch ${branch} could not be made: it is locked`);
  }
  onStep('branch_made');
  const sparse = settings.sparse ?? [];
  if (sparse.length === 0 && (await takeFromPool(context, { path, name: task, branch }))) {
    onStep('checked_out');
    return { branch };
  }
  const ignoring = await worktreesOfOthers(context, task, branch);
  const registered = await git.register({ path, name: task, branch, ignoring });
  if (registered.kind === 'taken') return { takenBy: registered.takenBy };
  onStep('registered');
  await git.checkOut(registered.place, sparse);
  onStep('checked_out');
  return { branch };
}

/** Uncommitted files come back uncommitted. Before set-up, which may write files too. */
async function restoreTaken(
  context: WorkspaceContext,
  { from, rescue }: Extract<TakeOver, { kind: 'found' }>,
  path: string,
): Promise<readonly string[]> {
  const restored = await context.rescues.restore(rescue, path);
  await markTaken(context, from);
  if (restored.kind === 'restored') return [];
  const files = restored.inTheWay.join(', ');
  return [`Its uncommitted files were not restored, because of ${files}. They are in ${rescue.ref}.`];
}

function inUse({ refusal: { reason, next } }: Refused): Prepared {
  return { kind: 'refused', because: 'occupied', reason, next };
}

function remoteAway(task: TaskId, reason: string): Prepared {
  return {
    kind: 'refused',
    because: 'remote_away',
    reason,
    next: [`copse work ${task}`, `copse show ${task}`],
  };
}

/** A pool entry is a finished worktree. False: make a new one. */
async function takeFromPool({ git, pool }: WorkspaceContext, worktree: NewWorktree): Promise<boolean> {
  const tip = await git.tip(branchRef(worktree.branch));
  if (tip === undefined || pool.list().length === 0) return false;
  const taken = await pool.take({ ...worktree, tip });
  return taken.kind === 'taken';
}

function taken(task: TaskId, branch: BranchName, by: string): Prepared {
  return {
    kind: 'refused',
    because: 'taken',
    reason: `The branch ${branch} of ${task} is checked out at ${by}.`,
    next: [`git -C ${shellWord(by)} switch --detach # after you finish there`],
  };
}

async function noBase({ git, target }: WorkspaceContext, task: TaskId): Promise<Prepared> {
  const hasRemote = (await git.remoteName()) !== undefined;
  const lacks: NoBase = target === undefined ? { kind: 'no_commit' } : { kind: 'no_branch', branch: target };
  return {
    kind: 'refused',
    because: 'no_base',
    lacks,
    reason: noBaseText(task, lacks),
    next: [hasRemote ? 'git fetch' : 'git commit --allow-empty --message="First commit"'],
  };
}

function setupFailed(
  task: TaskId,
  path: string,
  {
    command,
    tail,
    log,
  }: { readonly command: string; readonly tail: readonly string[]; readonly log: string },
): Prepared {
  return {
    kind: 'refused',
    because: 'setup_failed',
    reason: `The worktree of ${task} is at ${path}, but its set-up failed at: ${command}\n${tail.join('\n')}`,
    next: [
      `less ${shellWord(log)} # to see its output`,
      `copse work ${task} --resume # runs the set-up again`,
    ],
  };
}
