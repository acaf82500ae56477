/** What a person can do about a task: only commands that would not be refused, as far as the board can tell. */

import { landingsOf, loadUndoing } from '../queue/act/undoing.ts';
import { loadPlace } from '../queue/act/view.ts';
import type { LookContext } from '../queue/context.ts';
import { unfinishedSteps } from '../queue/rules/unfinished.ts';
import {
  commandByHand,
  continuing,
  hasAgent,
  hasWorktree,
  isForAny,
  isTakenHere,
  sameCommand,
  untilFinished,
} from '../queue/act/continue-steps.ts';
import { findUndoable } from '../queue/rules/undo-landing.ts';
import {
  type AttentionCause,
  type StuckBy,
  type Task,
  type TaskSummary,
  isAllowed,
} from '../tasks/rules/task.ts';
import { shellWord, splitFirstStep, splitRemark } from '../kernel/shell.ts';
import { unreachable } from '../kernel/unreachable.ts';
import type { LandingId, TaskId } from '../kernel/ids.ts';
import { FIRST_COMMIT } from './rules/ahead.ts';
import { conflictNow, hasBase, isWorktreeRescued } from './state-now.ts';
import { isHeldByHand, lastBranchHere, workspaceOf } from '../workspaces/act/context.ts';
import { branchRef } from '../workspaces/discard/rescue-first.ts';
import { movedBranch } from './moved.ts';
import { loadWait } from './wait.ts';

/** `isOrchestrated`: of a ready task; what an orchestrator was started with may take it. */
export async function nextSteps(
  context: LookContext,
  task: TaskSummary,
  { isOrchestrated = false }: { readonly isOrchestrated?: boolean } = {},
): Promise<readonly string[]> {
  const { id, state } = task;
  const cancel = `copse cancel ${id} # to give it up`;
  const byHand = () => commandByHand(context, task);
  switch (state.status) {
    case 'pending':
      return [...(await withoutUnmet(context, task)), cancel];
    case 'ready':
      return [
        ...((await hasAgent(context, task)) || (isOrchestrated && (await isTakenHere(context, task)))
          ? []
          : otherAgents(context, task)),
        ...((await lacksCommit(context, task)) ? [FIRST_COMMIT] : [`${await byHand()} # to do it yourself`]),
        cancel,
      ];
    case 'in_progress':
      return [
        ...(isHeldByHand(context, task) ? [`copse finish ${id} # after your commit`] : []),
        ...(await answering(context, task)),
        ...(state.claim.isByHand ? [] : [`copse logs ${id} # to see its output`]),
        `copse pause ${id} # to ${state.claim.isByHand ? 'put it aside' : 'stop its agent'} for now`,
        cancel,
      ];
    case 'paused':
      return [...(await continuing(context, task)), cancel];
    case 'stuck':
      // Neither a restart nor `copse work` can start before it has one.
      if (state.lacks !== undefined && !(await hasBase(context))) return [...firstStep(state), cancel];
      return [...firstStep(state), ...(await answers(context, task, byHand)), cancel];
    case 'failed':
      // It becomes ready, whether or not an agent can take it.
      return [
        ...otherAgent(context, task),
        await restart(context, task),
        `${await byHand()} # to do it yourself`,
        ...(task.session === null ? [] : [`copse logs ${id} # to see the output of its agent`]),
        cancel,
      ];
    case 'in_review':
      return [...reviewSteps(state, id), ...(await continuing(context, task)).slice(0, 1), cancel];
    case 'needs_attention': {
      if (state.because === 'conflict') return [...(await conflictSteps(context, task)), cancel];
      const why =
        state.because === 'accept'
          ? 'to land it although its accept command failed'
          : 'if you fixed it without copse work';
      const isRescued = await isWorktreeRescued(context, task);
      const undo = `copse undo ${id} --worktree # to bring its worktree back`;
      return [
        ...(isRescued ? [undo] : []),
        ...(await continuing(context, task)),
        ...(canMerge(state) ? [`copse merge ${id} # ${why}`] : []),
        ...(isWithoutResult(state)
          ? [`${await byHand()} && copse finish ${id} --no-changes # if there is nothing to change`]
          : []),
        cancel,
      ];
    }
    case 'landing':
      return [...(await landingSteps(context, state.landing, id)), cancel];
    case 'done': {
      const again = (await hasAgent(context, task))
        ? [`copse resume ${id}${sameCommand(context)} # to let its agent do more`]
        : [];
      const undo = (await canUndo(context, task)) ? [`copse undo ${id} # to revert it`] : [];
      const onBranch = state.how === 'as_it_is' ? await branchSteps(context, task) : [];
      return [...onBranch, ...again, ...undo, `copse delete ${id} # to remove it from the board`];
    }
    case 'cancelled': {
      const cleanup = (await hasWorktree(context, task))
        ? [`copse cleanup ${id} # to remove its worktree`]
        : [];
      return [...cleanup, await deletion(context, task)];
    }
    default:
      return unreachable(state);
  }
}

/** What Copse asks for before a restart can succeed. */
function firstStep({
  isByCopse,
  reason,
}: Extract<TaskSummary['state'], { status: 'stuck' }>): readonly string[] {
  const { command } = splitFirstStep(reason);
  if (!isByCopse || command === null) return [];
  return [command === splitRemark(FIRST_COMMIT).command ? FIRST_COMMIT : `${command} # first`];
}

type InReview = Extract<TaskSummary['state'], { status: 'in_review' }>;

/** With a pull request it lands there. */
function reviewSteps({ pullRequest }: InReview, id: TaskId): readonly string[] {
  const landing = pullRequest === null ? 'to land it without a review' : 'to land it here anyway';
  return [`copse review ${id} # to look at it and decide`, `copse merge ${id} # ${landing}`];
}

/** Only a person who holds the task can report that there is nothing to change. */
function isWithoutResult({ because }: { readonly because: AttentionCause }): boolean {
  return because === 'nothing_committed' || because === 'no_artifact';
}

/** Its agent resolves a conflict, or a person does it in its worktree. */
async function conflictSteps(context: LookContext, task: TaskSummary): Promise<readonly string[]> {
  const { id } = task;
  const byAgent = (await hasAgent(context, task))
    ? [`copse resume ${id}${sameCommand(context)} # to let its agent resolve it`]
    : [];
  const unfinished = await unfinishedIn(context, task);
  if (unfinished !== null) return unfinishedSteps(id, unfinished.worktree, unfinished.operation);
  const now = await conflictNow(context, task);
  if (now !== null) {
    const merge = `copse merge ${id} # to ${now.kind === 'resolved' ? '' : 'try to '}land it`;
    return [merge, `copse diff ${id} # to look at it first`, ...byAgent];
  }
  if (!(await hasWorktree(context, task)))
    return [...byAgent, untilFinished(`copse work ${id} # to resolve it yourself`, id)];
  const byHand = [
    `copse sync ${id} --conflict # to resolve it yourself`,
    `copse merge ${id} # after your commit`,
  ];
  return [...byAgent, ...byHand];
}

/** A merge, rebase or the like that is not finished in its worktree on this machine. */
export async function unfinishedIn(
  context: Pick<LookContext, 'board' | 'git' | 'node'>,
  { id }: Pick<Task, 'id'>,
): Promise<{ readonly worktree: string; readonly operation: string } | null> {
  const worktree = (await workspaceOf(context, id))?.worktree?.path;
  const facts = worktree === undefined ? undefined : await context.git.look(worktree);
  if (worktree === undefined || facts?.state !== 'healthy' || facts.operation === null) return null;
  return { worktree, operation: facts.operation };
}

/** Whether it has commits, and nothing uncommitted beside them. */
export function canMerge({ because }: { readonly because: AttentionCause }): boolean {
  return because !== 'dirty' && !isWithoutResult({ because });
}

/** The shell could not start the program of its agent. */
export function lacksProgram(state: TaskSummary['state']): boolean {
  return state.status === 'stuck' && state.isByCopse === true && /exit code 12[67]\)/.test(state.reason);
}

/** Without an agent of the repository: with a command as the agent, if the task takes any agent, or by hand. */
async function answers(
  context: LookContext,
  task: TaskSummary,
  byHand: () => Promise<string>,
): Promise<readonly string[]> {
  const { isByCopse, isByHand }: StuckBy = task.state.status === 'stuck' ? task.state : {};
  const restart = `copse restart ${task.id}${isByCopse ? '' : ' --answer "…"'}`;
  const yourself = `${await byHand()} # to ${isByHand ? 'continue' : 'do it'} yourself`;
  if (context.agentCommand !== undefined && lacksProgram(task.state))
    return [`${restart} --command "…" # to start it again with another command`];
  const start = isByHand ? 'to answer it and let an agent do it' : 'to answer it and start it again';
  const what = isByCopse ? 'to start it again' : start;
  const byAgent = (await hasAgent(context, task))
    ? [`${restart}${sameCommand(context)} # ${what}`]
    : isForAny(task)
      ? [`${restart} --command "…" # ${what}${isByHand ? '' : ', with a command as its agent'}`]
      : [];
  return [...byAgent, yourself];
}

/** A restart alone makes a failed task wait for an agent; with a command as the agent it starts at once. */
async function restart(context: LookContext, task: TaskSummary): Promise<string> {
  const command = `copse restart ${task.id}`;
  if ((await hasAgent(context, task)) || !isForAny(task))
    return `${command}${sameCommand(context)} # to start it again`;
  return `${command} --command "…" # to start it again, with a command as its agent`;
}

/** Its agent waits for a person, and has no question that `copse answer` could answer. */
export async function answering(context: LookContext, task: TaskSummary): Promise<readonly string[]> {
  const { agents, board, node } = context;
  const { id, state } = task;
  if (state.status !== 'in_progress' || state.claim.isByHand) return [];
  const session = await board.get('session', state.claim.session);
  if (session?.state.life !== 'live' || session.state.attention === null) return [];
  if (session.question != null && session.question.answer === null) return [];
  const isInTerminal = agents.some(({ name, terminal }) => name === session.agent && terminal === 'tmux');
  if (isInTerminal && state.claim.node === node) return [`copse attach ${id} # to answer in its terminal`];
  const resume = `copse pause ${id} && copse resume ${id} --message "…"`;
  if (await hasAgent(context, task)) return [`${resume}${sameCommand(context)} # to answer it`];
  return isForAny(task) ? [`${resume} --command "…" # to answer it, with a command as its agent`] : [];
}

export async function lacksCommit(context: LookContext, { repository }: TaskSummary): Promise<boolean> {
  return repository === undefined && context.target === undefined && !(await hasBase(context));
}

/** What lets it land: the end of a pause, files that a person commits or stashes, or a leader for its queue. */
async function landingSteps(context: LookContext, id: LandingId, task: TaskId): Promise<readonly string[]> {
  const landing = await context.board.get('landing', id);
  if (landing === undefined) return [];
  if ((await movedBranch(context, landing))?.kind === 'for_review')
    return [`copse review ${task} # to look at it and decide`];
  const { steps } = (await loadWait(context, context.landing, landing)) ?? { steps: [] };
  if (steps.length > 0) return steps;
  const place = await loadPlace(context, context.landing, landing);
  return place?.entry.standing.kind === 'no_leader' ? [`copse merge ${task} # to land it now`] : [];
}

/** Its work stays on its branch: a person looks at it, while its worktree is here, and merges it. */
async function branchSteps(context: LookContext, { id }: TaskSummary): Promise<readonly string[]> {
  const own = await lastBranchHere(context, id);
  if (own === null || (await context.git.tip(branchRef(own.branch))) === undefined) return [];
  const merge = `git merge ${shellWord(own.branch)} # to merge it yourself`;
  return own.isWorktreeHere ? [`copse diff ${id} # to look at its branch`, merge] : [merge];
}

/** Its agent is no longer in copse.yml: a restart alone would wait for it. */
function otherAgent({ agents, unusable = [] }: LookContext, { id, agent }: TaskSummary): readonly string[] {
  if (agent === null || agents.length === 0) return [];
  return [...agents, ...unusable].some(({ name }) => name === agent) ? [] : [withAnyAgent(id)];
}

function withAnyAgent(id: TaskId): string {
  return `copse edit ${id} --no-agent # to let another agent take it`;
}

function otherAgents(
  { agents, unusable = [], pendingAgents }: LookContext,
  { id, agent, requires }: TaskSummary,
): readonly string[] {
  return [
    ...(agent === null || agents.some(({ name }) => name === agent) ? [] : [withAnyAgent(id)]),
    ...(requires.length === 0 ? [] : [`copse edit ${id} --no-requires # to let any agent take it`]),
    ...(pendingAgents === undefined ? [agentsStep(agents.length + unusable.length)] : []),
  ];
}

function agentsStep(count: number): string {
  return count === 0
    ? 'copse agents detect # to see how to install an agent'
    : 'copse agents # to see the agents and what each can do';
}

async function withoutUnmet(
  { board }: LookContext,
  { id, dependsOn }: TaskSummary,
): Promise<readonly string[]> {
  const statuses = await board.statuses(dependsOn);
  const over = dependsOn.find((one) => statuses.get(one) === 'cancelled');
  if (over !== undefined)
    return [
      `copse edit ${id} --not-depends ${over} # to start it without ${over}`,
      `copse why ${over} # to see why ${over} was cancelled`,
    ];
  const unmet = dependsOn.find((one) => statuses.get(one) !== 'done');
  if (unmet === undefined) return [];
  return [
    ...(statuses.has(unmet) ? [`copse why ${unmet} # to see why ${unmet} is not done`] : []),
    `copse edit ${id} --not-depends ${unmet} # to start it without ${unmet}`,
  ];
}

async function canUndo({ board }: LookContext, task: TaskSummary): Promise<boolean> {
  const landings = await landingsOf(board, task.id);
  const undoings = await loadUndoing(board, task.id, landings);
  const found = findUndoable(task, landings, (landing) => undoings.get(landing) ?? { kind: 'none' });
  return found.kind !== 'refused';
}

/** A task that others wait for is deleted only together with those links. */
async function deletion({ board }: LookContext, { id }: TaskSummary): Promise<string> {
  const dependants = await board.dependants(id);
  const statuses = await board.statuses(dependants);
  const isWaitedFor = dependants.some((one) => isAllowed('change_dependencies', statuses.get(one) ?? 'done'));
  return `copse delete ${id}${isWaitedFor ? ' --unlink' : ''} # to remove it from the board`;
}
