/** `copse sync`: brings the newest base into a task's branch. */

import type { BranchName, CommitId, NodeId, TaskId } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { Git } from '../../git/port.ts';
import type { Sync, SyncOutcome, SyncRefusal, SyncStep } from '../ports/worktrees.ts';
import type { Context } from '../../board/context.ts';
import { baseBranchOf, findNewestBase } from './newest-base.ts';
import { refusedWithoutWorktree, whereText } from './shared/elsewhere.ts';
import { workspaceOf } from './context.ts';
import { keepTip } from '../discard/rescue-first.ts';
import type { MergeMethod } from '../../queue/rules/landing.ts';

export interface SyncContext extends Context {
  readonly git: Git;
  readonly sync: Sync;
  readonly node: NodeId;
  readonly target: string | undefined;
  readonly method?: MergeMethod;
}

export interface SyncTaskRequest {
  readonly task: TaskId;
  /** Leave a conflict in the worktree, to be resolved there. */
  readonly leaveConflict?: boolean;
  readonly onStep?: (step: SyncStep) => void;
}

type SyncDone = Exclude<SyncOutcome, { kind: 'refused' }>;

export type TaskSynced =
  | (SyncDone & {
      readonly base: BranchName;
      /** For example: the remote could not be reached, so its newest commits are missing. */
      readonly notes: readonly string[];
    })
  | {
      readonly kind: 'refused';
      readonly because: SyncRefusal | 'busy' | 'no_worktree' | 'no_base';
      readonly reason: string;
      readonly paths: readonly string[];
      readonly next: readonly string[];
    };

export async function syncTask(context: SyncContext, request: SyncTaskRequest): Promise<TaskSynced> {
  const { task } = request;
  const done = await context.git.tryLock(`task-${task}`, () => sync(context, request));
  if (done) return done.value;
  const reason = `Another process is preparing, removing or syncing the worktree of ${task} right now.`;
  return { kind: 'refused', because: 'busy', reason, paths: [], next: [`copse sync ${task}`] };
}

async function sync(context: SyncContext, request: SyncTaskRequest): Promise<TaskSynced> {
  const { git, target } = context;
  const { task } = request;
  const worktree = (await workspaceOf(context, task))?.worktree;
  const facts = worktree && (await git.look(worktree.path));
  if (!worktree || facts?.state !== 'healthy') {
    const reason = worktree
      ? `${task} has no usable worktree on this machine.`
      : await whereText(context, task, context.clock.now());
    return {
      kind: 'refused',
      because: 'no_worktree',
      paths: [],
      ...(await refusedWithoutWorktree(context, task, reason)),
    };
  }
  const name = await baseBranchOf(git, target, worktree.baseBranch);
  const fetched = name && (await git.fetch([name]));
  const base = name && (await findNewestBase(git, name));
  if (base === undefined) {
    const reason = `There is no branch ${name ?? 'to sync with'}, neither here nor on the remote.`;
    return { kind: 'refused', because: 'no_base', reason, paths: [], next: ['git fetch'] };
  }
  const { leaveConflict = false, onStep } = request;
  const { clock } = context;
  const keep = (tip: CommitId) => keepTip(context, task, tip, clock.now());
  const outcome = await context.sync.bring({
    task,
    worktree: worktree.path,
    branch: worktree.branch,
    base,
    leaveConflict,
    ...((await mayRebase(context, task, worktree.branch)) && { rebase: { at: clock.now(), keep } }),
    ...(onStep && { onStep }),
  });
  if (outcome.kind === 'refused') return explain(outcome, task, base.branch, worktree);
  const isBehind = fetched && fetched.kind === 'failed' && fetched.because !== 'no_remote';
  return { ...outcome, base: base.branch, notes: isBehind ? [fetched.reason] : [] };
}

/** As the queue does, unless its commits are known elsewhere: they were pushed, or sent to review or to the queue. */
async function mayRebase(
  { board, git, method }: SyncContext,
  task: TaskId,
  branch: BranchName,
): Promise<boolean> {
  if (method !== 'rebase') return false;
  const status = (await board.get('task', task))?.state.status;
  if (status === 'in_review' || status === 'landing') return false;
  const remote = await git.remoteName();
  return remote === undefined || (await git.tip(`refs/remotes/${remote}/${branch}`)) === undefined;
}

function explain(
  { because, paths }: Extract<SyncOutcome, { kind: 'refused' }>,
  task: TaskId,
  base: BranchName,
  worktree: { readonly path: string; readonly branch: BranchName },
): TaskSynced {
  const here = `git -C ${shellWord(worktree.path)}`;
  const say = (reason: string, ...next: readonly string[]): TaskSynced => ({
    kind: 'refused',
    because,
    reason,
    paths,
    next,
  });
  switch (because) {
    case 'conflict':
      return say(
        `${base} and the branch of ${task} conflict.`,
        `copse sync ${task} --conflict # to resolve it in the worktree`,
      );
    case 'in_the_way':
      return say(
        `${base} changes files that have uncommitted changes in the worktree of ${task}.`,
        'commit them',
        `${here} stash`,
      );
    case 'detached':
      return say(`The worktree of ${task} has a detached HEAD.`, `${here} switch ${worktree.branch}`);
    case 'elsewhere':
      return say(
        `HEAD of the worktree of ${task} is not on its branch ${worktree.branch}.`,
        `${here} switch ${worktree.branch}`,
      );
    case 'alias':
      return say(
        `The branch ${worktree.branch} of ${task} is a symbolic ref to another branch.`,
        `${here} symbolic-ref refs/heads/${worktree.branch}`,
      );
    case 'in_progress':
      return say(`The worktree of ${task} has an unfinished merge, rebase or cherry-pick.`, `${here} status`);
    case 'locked':
      return say(`Another git command is using the worktree of ${task}.`, `copse sync ${task}`);
    case 'moved':
      return say(`The branch of ${task} moved at the same moment.`, `copse sync ${task}`);
    case 'unrelated':
      return say(`${base} and the branch of ${task} have no commit in common.`, `copse show ${task}`);
    default:
      return unreachable(because);
  }
}
