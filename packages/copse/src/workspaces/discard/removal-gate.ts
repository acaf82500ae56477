/**
 * The facts for the gate (workspaces/rules/removal.ts): what is alive in a worktree, and which work would leave with it.
 */

import { type Refused, refused } from '../../kernel/decision.ts';
import { type BranchName, type CommitId, type FencingToken, type TaskId, brand } from '../../kernel/ids.ts';
import type { Attempt } from '../../tasks/rules/attempt.ts';
import { terminalName } from '../rules/naming.ts';
import type { WorktreeFacts } from '../rules/preparation.ts';
import { type RemovalFacts, decideRemoval } from '../rules/removal.ts';
import type { Workspace } from '../rules/workspace.ts';
import { branchRef } from './rescue-first.ts';
import { type WorkspaceContext, isHeldByHand } from '../act/context.ts';

export interface SeenFacts extends RemovalFacts {
  /** The tip of the branch that the decision was about. */
  readonly tip: CommitId | null;
}

interface Replacement {
  /** Copse was killed before it finished the worktree, so the lock of an ended git is Copse's own. */
  readonly isUnfinished: boolean;
  /** The command to repeat after the process has left. */
  readonly again: string;
  /** Of the attempt that asks: its own lease does not refuse it. */
  readonly token?: FencingToken | undefined;
}

/**
 * For a worktree that makes room for another. A person has decided that it goes, and it can be undone, so only what is
 * alive in it can refuse. No process is ended.
 */
export async function refuseIfAlive(
  context: WorkspaceContext,
  task: TaskId,
  path: string,
  workspace: Workspace | undefined,
  { isUnfinished, again, token }: Replacement,
): Promise<Refused | undefined> {
  const alive = await whoIsThere(context, task, path, token);
  const locks = isUnfinished ? alive.locks.filter(({ isHeld }) => isHeld) : alive.locks;
  const owned = ownership(context, task, path, workspace);
  const facts = { task, path, ...owned, ...alive, locks, ...NOTHING_AT_STAKE };
  const decision = decideRemoval(facts, { ...BY_NAME, again }, context.policy);
  if (decision.kind === 'allowed' || decision.kind === 'question') return undefined;
  if (decision.kind === 'end_first')
    throw new Error(`The gate wants to end the agent of ${task}, which only a forced removal may do`);
  return refused('wrong_status', decision.reason, ...decision.next);
}

const BY_NAME = { by: 'person', isNamed: true, isForced: false, deleteBranch: false } as const;
const NOTHING_AT_STAKE = { operation: null, uncommitted: 0, unmerged: 0, branch: 'gone' } as const;

/** Which uncommitted files are counted: none, all, or those that hooks did not write. */
type Counting = 'none' | 'all' | 'without_hooks';

/** All facts. Those about work stay true while the worktree is empty; `whoIsThere` has to be asked again. */
export async function gatherFacts(
  context: WorkspaceContext,
  task: TaskId,
  path: string,
  workspace: Workspace | undefined,
  counting: Counting,
): Promise<SeenFacts> {
  // One after the other: counting starts gits in the worktree, which would be taken for those of others.
  const stake = await whatIsAtStake(context, path, workspace, counting);
  const alive = await whoIsThere(context, task, path);
  return {
    task,
    path,
    ...ownership(context, task, path, workspace),
    ...alive,
    ...stake,
  };
}

function ownership(
  { root, worktreeFolder }: WorkspaceContext,
  task: TaskId,
  path: string,
  workspace: Workspace | undefined,
): Pick<RemovalFacts, 'isManaged' | 'disposition'> {
  return {
    isManaged: path !== root && (workspace !== undefined || path === `${worktreeFolder}/${task}`),
    disposition: workspace?.disposition ?? null,
  };
}

type Alive = Pick<
  RemovalFacts,
  'inside' | 'unreadable' | 'tmux' | 'lease' | 'locks' | 'status' | 'isByHand' | 'hasRunner'
>;

export async function whoIsThere(
  context: WorkspaceContext,
  task: TaskId,
  path: string,
  token?: FencingToken,
): Promise<Alive> {
  const { git, board, occupancy, clock, node } = context;
  const record = await board.get('task', task);
  const attempts = (await board.list('attempt', { task })).filter(({ end }) => end === null);
  const sessions = await board.list('session', { task });
  // First: an agent in tmux descends from its pane and not from its runner.
  const tmux = await occupancy.tmuxSessions(terminalName(task));
  const panes = tmux.kind === 'known' ? tmux.sessions.flatMap(({ launchers }) => launchers) : [];
  const owners = {
    roots: [...attempts.flatMap(({ process }) => process ?? []), ...panes],
    sessions: sessions.map(({ id }) => id),
  };
  const [inside, locks] = await Promise.all([occupancy.inside(path, owners), git.locks(path)]);
  const lease = await board.lease(task);
  // A lease of another machine is by that machine's clock. It is no reason to remove anything: without a lease that counts,
  // the folder must still be free of processes, locks and content that git lacks.
  const now = clock.now();
  const hasGit = inside.kind === 'known' && inside.processes.some(({ name }) => name.startsWith('git'));
  const holder =
    record?.state.status === 'in_progress' && record.state.claim.node !== node ? 'elsewhere' : 'here';
  return {
    inside: inside.kind === 'known' ? inside.processes : null,
    unreadable: inside.kind === 'known' ? inside.unreadable : [],
    tmux: tmux.kind === 'known' ? tmux.sessions : null,
    lease:
      // The person who works by hand is the person who asks.
      lease === undefined || lease.token === token || (record && isHeldByHand(context, record))
        ? { kind: 'none' }
        : lease.expiresAt > now
          ? { kind: 'live', holder }
          : { kind: 'expired', forMs: now - lease.expiresAt },
    locks: locks.map(({ file, since }) => ({ file, ageMs: now - since, isHeld: hasGit })),
    isByHand: record?.state.status === 'in_progress' && record.state.claim.isByHand === true,
    hasRunner: await isAnyAlive(context, attempts),
    status: record?.state.status ?? null,
  };
}

/** On this machine: a process of another one has the same number as one here only by chance. */
async function isAnyAlive(
  { occupancy, node }: WorkspaceContext,
  attempts: readonly Attempt[],
): Promise<boolean> {
  for (const { process, node: where } of attempts)
    if (process !== null && where === node && (await occupancy.isAlive(process))) return true;
  return false;
}

async function whatIsAtStake(
  context: WorkspaceContext,
  path: string,
  workspace: Workspace | undefined,
  counting: Counting,
): Promise<Pick<SeenFacts, 'operation' | 'uncommitted' | 'branch' | 'unmerged' | 'tip'>> {
  const look = await context.git.look(path);
  const isHealthy = look.state === 'healthy';
  const own = workspace?.worktree?.branch ?? branchOf(look, null);
  const [uncommitted, branch, elsewhere] = await Promise.all([
    isHealthy
      ? counting === 'none'
        ? null
        : countUncommitted(context, path, counting === 'all' ? [] : (workspace?.byHooks ?? []))
      : countInRuins(look, workspace),
    branchState(context, own, workspace),
    isHealthy && isElsewhere(context, path, look, own) ? stateOf(context, look.head, workspace) : undefined,
  ]);
  const operation = isHealthy ? look.operation : null;
  // Commits that were made in the worktree, on another branch than its own.
  if (elsewhere?.branch !== 'unmerged') return { operation, uncommitted, ...branch };
  const unmerged = elsewhere.unmerged === null ? null : elsewhere.unmerged + (branch.unmerged ?? 0);
  return { operation, uncommitted, branch: 'unmerged', unmerged, tip: branch.tip };
}

/** Commits on another branch count if they were made here; on no branch of a worktree that the board does not know, always. */
function isElsewhere(
  { git }: WorkspaceContext,
  path: string,
  look: Extract<WorktreeFacts, { state: 'healthy' }>,
  own: BranchName | null,
): boolean {
  if (look.branch === null && own === null) return true;
  return look.branch !== own && git.isMadeIn(path, look.head);
}

/** Zero only where no file can have been written; otherwise unknown. */
function countInRuins(
  look: Exclude<WorktreeFacts, { state: 'healthy' }>,
  workspace: Workspace | undefined,
): number | null {
  if (look.state === 'broken') return look.isUnfinished ? 0 : null;
  // The folder was deleted. The rescue saves the staged files of a worktree that Copse made.
  return look.isRegistered && workspace === undefined ? null : 0;
}

async function countUncommitted(
  { git }: WorkspaceContext,
  path: string,
  byHooks: readonly string[],
): Promise<number | null> {
  try {
    const { changed, untracked, unreadable, isIndexLost } = await git.uncommitted(path);
    if (isIndexLost || unreadable.length > 0) return null;
    return [...changed, ...untracked].filter((file) => !byHooks.includes(file)).length;
  } catch {
    // Unknown to the gate; the rescue reports the error.
    return null;
  }
}

/** The branch that is checked out, or the one that is recorded. */
export function branchOf(found: WorktreeFacts, recorded: BranchName | null | undefined): BranchName | null {
  const current = found.state === 'healthy' ? found.branch : null;
  return current ?? recorded ?? null;
}

async function branchState(
  context: WorkspaceContext,
  branch: BranchName | null,
  workspace: Workspace | undefined,
): Promise<Pick<SeenFacts, 'branch' | 'unmerged' | 'tip'>> {
  const tip = branch && (await context.git.tip(branchRef(branch)));
  return tip ? stateOf(context, tip, workspace) : { branch: 'gone', unmerged: 0, tip: null };
}

/** Whether these commits are in the base, or landed as others. */
export async function stateOf(
  context: WorkspaceContext,
  tip: CommitId,
  workspace: Workspace | undefined,
): Promise<Pick<SeenFacts, 'branch' | 'unmerged' | 'tip'> & { readonly isInBase?: true }> {
  const { git, target } = context;
  const base = target ?? workspace?.worktree?.baseBranch ?? (await git.detectBase());
  const bases = base === undefined ? [] : await tipsOfBase(context, brand(base));
  const [first] = bases;
  if (first === undefined) return { branch: 'unmerged', unmerged: null, tip };
  for (const into of bases) {
    if (into === tip || (await git.isAncestor(tip, into)))
      return { branch: 'merged', unmerged: 0, tip, isInBase: true };
  }
  if (
    workspace &&
    (await hasLanded(context, workspace.task, tip, [...bases, ...(await targetsOf(context, workspace))]))
  )
    return { branch: 'merged', unmerged: 0, tip };
  if (workspace && (await hasLandedElsewhere(context, workspace.task, tip)))
    return { branch: 'merged', unmerged: 0, tip };
  const counts = await Promise.all(bases.map((into) => git.countCommits(into, tip)));
  return { branch: 'unmerged', unmerged: Math.min(...counts), tip };
}

/** The tips of the branches it landed on, which need not be the one it began from. */
async function targetsOf(context: WorkspaceContext, { task }: Workspace): Promise<readonly CommitId[]> {
  const landings = await context.board.list('landing', { task });
  const targets = new Set(
    landings.flatMap(({ state, target }) => (state.status === 'landed' ? [target] : [])),
  );
  return (await Promise.all([...targets].map((target) => tipsOfBase(context, target)))).flat();
}

/** Whether it landed as other commits: this tip was submitted, and the commit it became is in the base. */
export async function hasLanded(
  { board, git }: WorkspaceContext,
  task: TaskId,
  tip: CommitId,
  bases: readonly CommitId[],
): Promise<boolean> {
  const done = (await board.get('task', task))?.state;
  // Landed by a pull request, or together with the task that resolved its conflict.
  if (done?.status === 'done' && done.head === tip) return true;
  for (const { head, state } of await board.list('landing', { task })) {
    if (head !== tip || state.status !== 'landed') continue;
    // A commit that landed on another machine may be missing here.
    for (const into of bases) if ((await git.mergeBase(state.commit, into)) === state.commit) return true;
  }
  return false;
}

/** Another machine landed this tip, and the commit that it became is not here yet. The branch's tip stays under a ref. */
async function hasLandedElsewhere(
  { board, git }: WorkspaceContext,
  task: TaskId,
  tip: CommitId,
): Promise<boolean> {
  for (const { head, state } of await board.list('landing', { task }))
    if (head === tip && state.status === 'landed' && (await git.tip(state.commit)) === undefined) return true;
  return false;
}

export async function tipsOfBase({ git }: WorkspaceContext, base: BranchName): Promise<readonly CommitId[]> {
  const remote = await git.remoteName();
  const refs = [branchRef(base), ...(remote === undefined ? [] : [`refs/remotes/${remote}/${base}`])];
  const tips = await Promise.all(refs.map((ref) => git.tip(ref)));
  return tips.filter((tip) => tip !== undefined);
}
