/**
 * Collects the overview from the board. It asks for counts first and reads only the records that are shown: a status that no
 * task has costs no read, and of the ready tasks only the most urgent ones are placed.
 */

import { plannedRestart } from '../agents/act/auto-restart.ts';
import { type OpenQuestion, lastMessageOf, openQuestionOf } from '../agents/act/answer.ts';
import { LeaseAges, type RunningTask, observeRunning } from '../agents/act/observe.ts';
import { type Session, reportedPhase } from '../agents/rules/session/session.ts';
import { personName } from '../agents/rules/session/take-over.ts';
import type { NodeId, TaskId, Timestamp } from '../kernel/ids.ts';
import { severalNodes } from '../machines/act/several-nodes.ts';
import { isBeingResolved } from '../queue/act/conflict-task.ts';
import { loadQueues } from '../queue/act/view.ts';
import type { LookContext } from '../queue/context.ts';
import type { MergeQueue } from '../queue/rules/merge-queue.ts';
import type { EntryView, QueueView } from '../queue/rules/view/view.ts';
import { unfinishedText } from '../queue/rules/unfinished.ts';
import { summarise } from '../review/rules/pull-request.ts';
import { type TaskStatus, type TaskSummary, statusesForPeople, taskStatuses } from '../tasks/rules/task.ts';
import { splitRemark } from '../kernel/shell.ts';
import { withStateNow } from './state-now.ts';
import { answering, canMerge, nextSteps, unfinishedIn } from './next-steps.ts';
import { isLapsed, lapsedText } from './rules/lapsed.ts';
import { questionText } from './question.ts';
import { questionClause, stopReason, waitingClause } from './rules/reason.ts';
import {
  type LandingTask,
  type NeedsYou,
  type Overview,
  type QueuePause,
  type ReadyTask,
  type WorkingTask,
  countUnblocked,
  rankNeeds,
  waitsForPerson,
} from './rules/overview.ts';
import { standingOn, standingText, waitText } from './rules/queue.ts';
import { waitBefore, waitSteps } from './rules/wait-steps.ts';
import {
  attentionDetails,
  beginsWithClause,
  capitalised,
  dependsOnCancelled,
  reasonForPerson,
  restartText,
  sentence,
} from './rules/status.ts';
import { loadOtherNodes } from '../machines/act/nodes.ts';
import { lackOfAgents, withStep } from './rules/waiting.ts';
import { type ReadyFate, loadFates } from './ready.ts';

export interface OverviewOptions {
  /** Whether an orchestrator runs on this machine. */
  readonly isOrchestrated: boolean;
  /** How many of the ready tasks are shown at most. */
  readonly readyLimit?: number;
}

const READY_LIMIT = 50;

export async function loadOverview(
  context: LookContext,
  { isOrchestrated, readyLimit = READY_LIMIT }: OverviewOptions,
): Promise<Overview> {
  const at = context.clock.now();
  const counts = await loadCounts(context);
  const running = counts.in_progress > 0 ? await observeRunning(context, new LeaseAges()) : [];
  const agents = await Promise.all(running.map((one) => loadAgent(context, one)));
  const queues = counts.landing > 0 ? await loadQueues(context, context.landing) : [];
  const asked = [
    ...(await needsOfTasks(context, counts)),
    ...(await needsOfPending(context, counts)),
    ...(await Promise.all(agents.map((agent) => needOfAgent(context, agent, at)))).flat(),
    ...queues.flatMap((queue) => needOfQueue(queue) ?? []),
  ];
  const needsYou = await ranked(context, asked);
  const isAsked = new Set(needsYou.map(({ task }) => task));
  return {
    at,
    counts,
    needsYou,
    working: await workingOf(
      context,
      agents.filter(({ running: { task } }) => !isAsked.has(task.id)),
    ),
    landing: queues.flatMap(landingOf).filter(({ task }) => !isAsked.has(task)),
    pauses: (await context.board.list('queue')).flatMap(pauseOf),
    ready:
      counts.ready > 0 && readyLimit > 0
        ? await loadReady(context, running, { isOrchestrated, readyLimit })
        : [],
    isOrchestrated,
    ...(!isOrchestrated && { otherNodes: await otherNodes(context) }),
    noAgents: lackOfAgents(context),
  };
}

async function otherNodes({ board, node, policy }: LookContext): Promise<readonly string[]> {
  return (await loadOtherNodes(board, node, policy.nodes)).map(({ name }) => name);
}

async function loadCounts({ board }: LookContext): Promise<Readonly<Record<TaskStatus, number>>> {
  const known = await board.countByStatus();
  return Object.fromEntries(taskStatuses.map((status) => [status, known.get(status) ?? 0])) as Readonly<
    Record<TaskStatus, number>
  >;
}

type Need = Omit<NeedsYou, 'unblocks'> & {
  /** Tasks behind it in a queue that stalled. */
  readonly holds?: readonly TaskId[];
};

async function ranked({ board }: LookContext, needs: readonly Need[]): Promise<readonly NeedsYou[]> {
  const dependants = await board.dependantGraph(needs.flatMap(({ task, holds = [] }) => [task, ...holds]));
  return rankNeeds(
    needs.map(({ holds, ...need }) => ({ ...need, unblocks: countUnblocked(need.task, dependants, holds) })),
  );
}

async function needsOfTasks(
  context: LookContext,
  counts: Readonly<Record<TaskStatus, number>>,
): Promise<readonly Need[]> {
  const statuses = statusesForPeople.filter((status) => counts[status] > 0);
  const needs: Need[] = [];
  for (const stopped of await context.board.tasks({ statuses, order: 'urgent' })) {
    const task = await withStateNow(context, stopped);
    const why = (await isBeingResolved(context.board, task)) ? undefined : await needWith(context, task);
    if (why === undefined) continue;
    const plan = await plannedRestart(context.board, task, context.policy);
    const restart = restartText(plan, context.clock.now());
    const [step = `copse why ${task.id}`] = await nextSteps(context, task);
    const { command } = splitRemark(step);
    const { id, title, state } = task;
    needs.push({
      task: id,
      title,
      status: state.status,
      since: state.since,
      ...why,
      ...(restart !== null && {
        reason: `${capitalised(restart)}; ${why.reason}`,
        details: `${sentence(restart)}\n${why.details}`,
      }),
      command,
      agent: task.agent,
    });
  }
  return needs;
}

/** Tasks that depend on a cancelled one: they start only after a person has changed that. */
async function needsOfPending(
  context: LookContext,
  counts: Readonly<Record<TaskStatus, number>>,
): Promise<readonly Need[]> {
  if (counts.pending === 0 || counts.cancelled === 0) return [];
  const blocked = await context.board.dependsOnCancelled();
  const needs = [...blocked].map(async ([id, over]): Promise<readonly Need[]> => {
    const task = await context.board.get('task', id);
    if (task?.state.status !== 'pending') return [];
    const { title, state, agent } = task;
    const reason = capitalised(dependsOnCancelled(over));
    const [step = `copse why ${id}`] = await nextSteps(context, task);
    const about = { task: id, title, status: state.status, since: state.since, agent };
    const words = { reason, details: sentence(reason), command: splitRemark(step).command };
    return [{ ...about, kind: 'dependency', ...words }];
  });
  return (await Promise.all(needs)).flat();
}

/** As `needOf`; of a merge that a person began in its worktree: how to go on with it. */
async function needWith(context: LookContext, task: TaskSummary): Promise<ReturnType<typeof needOf>> {
  const need = needOf(task);
  const isConflict = task.state.status === 'needs_attention' && task.state.because === 'conflict';
  const unfinished = need !== undefined && isConflict ? await unfinishedIn(context, task) : null;
  if (need === undefined || unfinished === null) return need;
  const text = capitalised(unfinishedText(unfinished.operation));
  return { ...need, reason: `${text}: resolve and commit it, then copse merge ${task.id}` };
}

/** Undefined: it goes on without a person. */
function needOf(
  task: TaskSummary,
): Pick<Need, 'kind' | 'reason' | 'details' | 'hasNothingToLand'> | undefined {
  const stopped = stopReason(task);
  if (stopped === null) return undefined;
  const { state } = task;
  const reason = stopped.clause === null ? stopped.reason : `${stopped.clause}: ${stopped.reason}`;
  switch (state.status) {
    case 'stuck':
      return {
        kind: state.isByCopse ? 'failed' : 'question',
        reason: capitalised(reason),
        details: state.reason,
      };
    case 'in_review': {
      const { pullRequest } = state;
      // An orchestrator pushes it next; what it failed at, a person may have to repair.
      if (pullRequest?.is === 'wanted' && pullRequest.note === null) return undefined;
      const text = capitalised(reason);
      return { kind: 'review', reason: text, details: pullRequest === null ? text : summarise(pullRequest) };
    }
    case 'needs_attention': {
      const { text, more } = attentionDetails({ ...state, reason: reasonForPerson(state.reason) });
      const isClause = beginsWithClause(state);
      return {
        kind: 'attention',
        reason: isClause ? capitalised(reason) : reason,
        details: [isClause ? sentence(text) : text, ...more].join('\n'),
        ...(!canMerge(state) && { hasNothingToLand: true }),
      };
    }
    case 'failed':
      return { kind: 'failed', reason: capitalised(reason), details: state.reason };
    default:
      return undefined;
  }
}

interface AgentAtWork {
  readonly running: RunningTask;
  readonly session: Session | undefined;
  readonly question: OpenQuestion | undefined;
  /** What it said when it began to wait. */
  readonly message: string | null;
  /** It runs in a terminal that a person can attach to. */
  readonly hasTerminal: boolean;
}

async function loadAgent({ board, agents }: LookContext, running: RunningTask): Promise<AgentAtWork> {
  const { state } = running.task;
  const session =
    state.status === 'in_progress' ? await board.get('session', state.claim.session) : undefined;
  const hasAsked = session?.question != null && session.question.answer === null;
  const question = hasAsked ? await openQuestionOf(board, running.task) : undefined;
  const isWaiting = session?.state.life === 'live' && session.state.attention !== null;
  return {
    running,
    session,
    question,
    message: isWaiting && !question ? await lastMessageOf(board, running.task.id, session.id) : null,
    hasTerminal: agents.some(({ name, terminal }) => name === session?.agent && terminal === 'tmux'),
  };
}

async function needOfAgent(
  context: LookContext,
  { running, session, question, message, hasTerminal }: AgentAtWork,
  at: Timestamp,
): Promise<readonly Need[]> {
  const { id, title, state } = running.task;
  if (state.status !== 'in_progress') return [];
  const { agent } = state.claim;
  const terminal = hasTerminal ? ({ hasTerminal } as const) : {};
  const about = { task: id, title, status: state.status, agent, ...terminal };
  if (question !== undefined) {
    // A line cannot show all of a question, so the command is the one that does.
    const command = `copse answer ${id}`;
    const words = {
      reason: capitalised(questionClause(question)),
      details: questionText(question, at),
      command,
    };
    return [{ ...about, kind: 'permission', since: question.since, ...words }];
  }
  const attention = session?.state.life === 'live' ? session.state.attention : null;
  if (attention === null) return [];
  const { takenOver } = session ?? {};
  const taken = takenOver === undefined ? '' : `Taken over by ${personName(takenOver.person)}; `;
  const waits = waitingClause(attention, message);
  const reason = taken === '' ? capitalised(waits) : `${taken}${waits}`;
  const [step = `copse logs ${id}`] = await answering(context, running.task);
  const { command } = splitRemark(step);
  return [{ ...about, kind: 'waiting', since: state.since, reason, details: message ?? reason, command }];
}

/** A queue that one person's act sets in motion again is shown once, at the first task that it holds. */
function needOfQueue({ entries, stalled, target, isLed }: QueueView): Need | undefined {
  for (const { task, title, standing, queuedAt } of entries) {
    const held = standing.kind === 'held' ? standing.reason : null;
    const reason = standing.kind === 'stalled' ? (stalled?.reason ?? null) : held;
    if (reason === null || !waitsForPerson(reason)) continue;
    const words = waitText(reason, target);
    const about = { task, title, status: 'landing', since: queuedAt, agent: null } as const;
    const [step = 'copse queue'] = waitSteps(reason, { task, target, isLed });
    const { command } = splitRemark(step);
    const said = `The queue waits: ${waitBefore(reason, target)}`;
    const holds = standing.kind === 'stalled' || stalled !== null ? entries.map((one) => one.task) : [];
    return { ...about, kind: 'landing', reason: said, details: words, command, holds };
  }
  return undefined;
}

async function workingOf(
  { board, clock, node, policy, runners }: LookContext,
  agents: readonly AgentAtWork[],
): Promise<readonly WorkingTask[]> {
  const working: WorkingTask[] = [];
  const names = agents.length === 0 ? new Map<NodeId, string>() : await severalNodes(board);
  for (const { running, session, hasTerminal } of agents) {
    const { id, title, state } = running.task;
    if (state.status !== 'in_progress') continue;
    const { claim, since, status } = state;
    const isHere = claim.node === node;
    const isByHand = claim.isByHand ?? false;
    const silentMs = clock.now() - running.renewedAt;
    const lapsed = isHere && !isByHand && isLapsed(silentMs, policy) ? lapsedText(silentMs, policy) : null;
    working.push({
      task: id,
      title,
      status,
      since,
      agent: claim.agent,
      isByHand,
      phase: reportedPhase(session?.state.phase),
      node: names.get(claim.node) ?? (isHere ? null : claim.node),
      lastLine: lapsed ?? (isHere && !isByHand ? await runners.lastLineOf(id, claim.attempt) : null),
      ...(lapsed !== null && { isLapsed: true }),
      ...(hasTerminal && { hasTerminal }),
      ...(session?.takenOver && { takenOverBy: personName(session.takenOver.person) }),
    });
  }
  return working.toSorted((one, other) => one.since - other.since || (one.task < other.task ? -1 : 1));
}

function landingOf({ target, entries }: QueueView): readonly LandingTask[] {
  return entries.map(({ task, title, queuedAt, position, standing }: EntryView) => ({
    task,
    title,
    status: 'landing',
    since: queuedAt,
    target,
    position,
    of: entries.length,
    why: position === 1 ? standingOn(standing, target) : standingText(standing),
    ...(standing.kind === 'no_leader' && { isUnled: true }),
  }));
}

function pauseOf({ id, paused }: MergeQueue): readonly QueuePause[] {
  if (paused.land !== null) return [{ target: id, what: 'land' }];
  return paused.accept === null ? [] : [{ target: id, what: 'accept' }];
}

async function loadReady(
  context: LookContext,
  running: readonly RunningTask[],
  { isOrchestrated, readyLimit }: Required<OverviewOptions>,
): Promise<readonly ReadyTask[]> {
  const { board } = context;
  const ready = await board.tasks({ statuses: ['ready'], order: 'urgent', limit: readyLimit });
  const fates = await loadFates(context, ready, running, isOrchestrated);
  return ready.map(({ id, title, state }) => ({
    task: id,
    title,
    status: state.status,
    since: state.since,
    why: readyText(id, fates.get(id)),
    isUntakable: fates.get(id)?.waiting?.kind === 'agent',
  }));
}

/** In one line. That no orchestrator runs is said once, above all tasks. */
function readyText(id: TaskId, fate: ReadyFate | undefined): string {
  if (fate === undefined) return '';
  const isExplained = fate.waiting?.kind !== 'agent' || fate.text.includes('(copse ');
  return withStep(fate.text, fate.step ?? (isExplained ? null : `copse why ${id}`));
}
