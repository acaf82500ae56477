/**
 * Finds branches that moved while their tasks were queued, before anything is decided about them. Only branches with a
 * workspace on this node can be checked; an unmoved branch costs reading one ref.
 */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import { type Landing, decideLanding, isCommitted } from '../rules/landing.ts';
import { type BranchFacts, type MovedBranch, decideMovedBranch } from '../rules/moved-branch.ts';
import type { WorktreeFacts } from '../../workspaces/rules/preparation.ts';
import { decideUnqueue } from '../../tasks/rules/outcomes.ts';
import type { Workspace } from '../../workspaces/rules/workspace.ts';
import { change } from '../../board/context.ts';
import { tipOfTarget } from '../act/landing-target.ts';
import { detailOf, isFaultOfMachine } from '../rules/failures.ts';
import { giveUpLanding } from './hand-back.ts';
import { type Lead, requireLead } from './leadership.ts';
import { waitInQueue } from './waits.ts';
import { branchRef, keepTip } from '../../workspaces/discard/rescue-first.ts';
import { type LookContext, type RunContext, agentNamed } from '../context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

export interface Noticed {
  /** Landings that may land as they are queued. */
  readonly landings: readonly Landing[];
  /** Something was recorded about the others. */
  readonly hasChanged: boolean;
}

/** Without a lead, for a person: it writes only about landings that are not journalled. */
export async function noticeMovedBranches(
  context: RunContext,
  lead: Lead | null,
  landings: readonly Landing[],
): Promise<Noticed> {
  const same: Landing[] = [];
  let hasChanged = false;
  for (const landing of landings) {
    const moved = await tryToLook(context, lead, landing);
    if (moved === undefined) continue;
    if (moved.kind === 'unmoved' || moved.kind === 'deleted') same.push(landing);
    else if (await act(context, lead, landing, moved)) hasChanged = true;
  }
  return { landings: same, hasChanged };
}

/** Undefined when its branch or worktree cannot be read: it waits, and the others go on. */
async function tryToLook(
  context: RunContext,
  lead: Lead | null,
  landing: Landing,
): Promise<MovedBranch | undefined> {
  try {
    return isCommitted(landing) ? { kind: 'unmoved' } : await lookAt(context, landing);
  } catch (error) {
    if (isFaultOfMachine(error)) throw error;
    await waitInQueue(context, lead, landing, { kind: 'landing_failed', detail: detailOf(error) });
    return undefined;
  }
}

type Worktree = NonNullable<Workspace['worktree']>;

async function lookAt(context: RunContext, landing: Landing): Promise<MovedBranch> {
  const seen = await seeMovedBranch(context, landing, (target) => tipOfTarget(context, target));
  const { moved, facts } = seen;
  if (facts === null) return moved;
  // The branch no longer contains the queued commits, so a ref keeps them.
  const { tip, isHeadThere } = facts;
  const isAhead = tip !== null && isHeadThere && (await context.git.isAncestor(landing.head, tip));
  if (moved.kind !== 'unmoved' && isHeadThere && !isAhead)
    await keepTip(context, landing.task, landing.head, landing.queuedAt);
  return moved;
}

type SeeContext = Pick<LookContext, 'agents' | 'board' | 'git' | 'landing' | 'node'>;
type TargetTip = (target: BranchName) => Promise<CommitId | undefined>;

interface SeenBranch {
  readonly moved: MovedBranch;
  /** Null while the branch is where it was queued. */
  readonly facts: BranchFacts | null;
}

/** Writes nothing. */
export async function seeMovedBranch(
  context: SeeContext,
  landing: Landing,
  tipOf: TargetTip,
): Promise<SeenBranch> {
  const unmoved: SeenBranch = { moved: { kind: 'unmoved' }, facts: null };
  const worktree = (await workspaceOf(context, landing.task))?.worktree;
  if (!worktree || !(await isFromHere(context, landing))) return unmoved;
  const tip = (await context.git.tip(branchRef(worktree.branch))) ?? null;
  if (tip === landing.head) return unmoved;
  const seen = await context.git.look(worktree.path);
  if (seen.state === 'healthy' && seen.head === landing.head) return unmoved;
  const facts = await gatherFacts(context, landing, { ...worktree, tip, seen, tipOf });
  return { moved: decideMovedBranch(facts), facts };
}

/** A branch of an earlier attempt on this node may be older than the commits that another node submitted. */
async function isFromHere({ board, node }: SeeContext, { attempt, task }: Landing): Promise<boolean> {
  // Work by hand has the id of an attempt, and no record of one.
  const recorded = attempt === null ? undefined : await board.get('attempt', attempt);
  if (recorded !== undefined) return recorded.node === node;
  const workspaces = await board.list('workspace', { task });
  return workspaces.every((one) => one.node === node);
}

async function gatherFacts(
  context: SeeContext,
  landing: Landing,
  {
    path,
    branch,
    tip,
    seen,
    tipOf,
  }: Worktree & { readonly tip: CommitId | null; readonly seen: WorktreeFacts; readonly tipOf: TargetTip },
): Promise<BranchFacts> {
  const { git } = context;
  const { head } = landing;
  const worktree = seen.state === 'healthy' ? await lookInside(context, path, branch, seen) : null;
  const target = tip === null ? undefined : await tipOf(landing.target);
  return {
    head,
    tip,
    worktree,
    isHeadThere: (await git.tip(head)) !== undefined,
    isEmpty: tip !== null && target !== undefined && (await git.isAncestor(tip, target)),
    mustBeReviewed: await mustBeReviewed(context, landing),
  };
}

async function lookInside(
  { git }: SeeContext,
  path: string,
  own: string,
  { head, branch, operation }: { head: CommitId; branch: string | null; operation: string | null },
): Promise<BranchFacts['worktree']> {
  let uncommitted;
  try {
    uncommitted = await git.uncommitted(path);
  } catch (error) {
    // Removed at this moment, or its branch was.
    if ((await git.look(path)).state !== 'healthy') return null;
    throw error;
  }
  const { changed, untracked } = uncommitted;
  const isClean = operation === null && changed.length + untracked.length === 0;
  return { head, isOnBranch: branch === own, isClean };
}

/** Its head was reviewed, or the landing policy of its agent asks for a review. */
async function mustBeReviewed(context: SeeContext, landing: Landing): Promise<boolean> {
  if (landing.isReviewed) return true;
  const { board } = context;
  const task = await board.get('task', landing.task);
  const session = task?.session ? await board.get('session', task.session) : undefined;
  const agent = session && agentNamed(context, session.agent);
  return (agent?.landing ?? context.landing).policy !== 'auto';
}

/** True when something was recorded. */
async function act(
  context: RunContext,
  lead: Lead | null,
  landing: Landing,
  moved: Exclude<MovedBranch, { kind: 'unmoved' | 'deleted' }>,
): Promise<boolean> {
  const { reason } = moved;
  if (moved.kind === 'lost')
    return (
      (await giveUpLanding(context, landing, { because: 'nothing_committed', reason }, lead)).kind === 'done'
    );
  const outcome = await change(context, async (change) => {
    if (lead !== null) await requireLead(change, lead);
    const task = await change.require('task', landing.task);
    const current = await change.require('landing', landing.id);
    // Another process noticed it at the same time, or it landed.
    if (current.head !== landing.head || task.state.status !== 'landing' || isCommitted(current)) return;
    const { head } = moved;
    const decision =
      moved.kind === 'requeued'
        ? decideLanding(current, { action: 'requeue', head, reason }, change.at)
        : decideUnqueue(task, current, { head, reason }, change.at);
    await change.apply(decision);
  });
  return outcome.kind === 'done';
}
