/** Why a task has its status, and which commands would change that. It asks the same rules as the orchestrator. */

import { isHeldByHand, workspaceOf } from '../workspaces/act/context.ts';
import { snapshotText } from '../workspaces/act/shared/elsewhere.ts';
import { plannedRestart } from '../agents/act/auto-restart.ts';
import { lastMessageOf, openQuestionOf } from '../agents/act/answer.ts';
import { type Escape, describeEscape } from '../workspaces/rules/escape.ts';
import type { TaskId } from '../kernel/ids.ts';
import type { EntryStanding } from '../queue/rules/view/standing.ts';
import type { QueueView } from '../queue/rules/view/view.ts';
import { spanText } from '../kernel/time.ts';
import { unreachable } from '../kernel/unreachable.ts';
import { explain, summarise } from '../review/rules/pull-request.ts';
import { rangeText, standingSentence, waitText } from './rules/queue.ts';
import { counted, named, shown } from '../kernel/text.ts';
import { findingsOf } from '../radar/rules/radar.ts';
import { type Delay, type Task, delayCauses, isFinished, statusPredicate } from '../tasks/rules/task.ts';
import { describeResolver, isBeingResolved } from '../queue/act/conflict-task.ts';
import type { Outcome } from '../board/context.ts';
import { refused } from '../kernel/decision.ts';
import { LeaseAges, observeRunning } from '../agents/act/observe.ts';
import { loadCollisions } from '../radar/prefer-apart.ts';
import { howItLanded, lastHandback, whyItLeftTheQueue } from '../queue/act/last-landing.ts';
import { lastSighting } from '../radar/radar.ts';
import { severalNodes } from '../machines/act/several-nodes.ts';
import { whyNodes } from './why-nodes.ts';
import { loadPaused } from '../queue/act/paused.ts';
import { loadPlace } from '../queue/act/view.ts';
import type { LookContext } from '../queue/context.ts';
import { undoingOf } from '../queue/act/undoing.ts';
import { answerCommands, questionText } from './question.ts';
import { waitLog } from './rules/wait-steps.ts';
import { waitingClause, withoutFirstStep } from './rules/reason.ts';
import { type Attention, type Session, reportedPhase } from '../agents/rules/session/session.ts';
import { personName } from '../agents/rules/session/take-over.ts';
import { unfinishedText } from '../queue/rules/unfinished.ts';
import { withStateNow } from './state-now.ts';
import { LACKS_COMMIT } from './rules/ahead.ts';
import { hasWorktree } from '../queue/act/continue-steps.ts';
import { movedText } from './moved.ts';
import { lacksCommit, lacksProgram, nextSteps, unfinishedIn } from './next-steps.ts';
import { isLapsed, lapsedText } from './rules/lapsed.ts';
import { agentNamed, times } from './rules/amounts.ts';
import { lackOfAgents } from './rules/waiting.ts';
import { describeCollision } from './rules/collisions.ts';
import {
  afterColon,
  attentionClause,
  attentionDetails,
  attentionText,
  capitalised,
  dependsOnCancelled,
  doneText,
  failureClause,
  firstLine,
  reasonForPerson,
  restartText,
  sentence,
  statusTexts,
  stuckClauseNow,
} from './rules/status.ts';
import { loadFates } from './ready.ts';

export interface Why {
  readonly task: Task;
  /** The first sentence answers; the others are details. */
  readonly because: readonly string[];
  readonly next: readonly string[];
}

export async function whyTask(
  context: LookContext,
  id: TaskId,
  { isOrchestrated }: { readonly isOrchestrated: boolean },
): Promise<Outcome<Why>> {
  const found = await context.board.get('task', id);
  if (found === undefined) {
    return refused('not_found', `The board has no task ${id}.`, 'copse list');
  }
  const task = await withStateNow(context, found);
  const ready = task.state.status === 'ready' ? await whyReady(context, task, isOrchestrated) : undefined;
  const because = [
    ...(ready?.because ?? (await reasonsOf(context, task))),
    ...(await handedBackBefore(context, task)),
    ...(await restarts(context, task)),
    ...(task.state.status === 'in_progress' ? [] : await finishWords(context, task)),
    ...(task.state.status === 'done' ? await removalNotes(context, task) : []),
    ...(await collisions(context, task)),
    ...(await escapes(context, task)),
  ];
  const question = await openQuestionOf(context.board, task);
  const answers = question === undefined ? [] : answerCommands(question);
  const recovery =
    !isOrchestrated && (await hasLapsed(context, task)) ? ['copse orchestrate # to recover it'] : [];
  const next = [
    ...answers,
    ...recovery,
    ...(ready?.next ?? []),
    ...(await nextSteps(context, task, { isOrchestrated })),
  ];
  return { kind: 'done', value: { task, because, next } };
}

async function reasonsOf(context: LookContext, task: Task): Promise<readonly string[]> {
  const { state } = task;
  switch (state.status) {
    case 'pending':
      return whyPending(context, task);
    case 'ready':
      // See `whyReady`.
      return [];
    case 'in_progress':
      return whyRunning(context, task);
    case 'landing':
      return whyLanding(context, task);
    case 'paused':
      return [sentence(statusTexts.paused)];
    case 'stuck':
      return [stuckText(task.id, state), ...(await unfoundProgram(context, task))];
    case 'in_review':
      return [
        ...(state.pullRequest === null ? [sentence(statusTexts.in_review)] : explain(state.pullRequest)),
        ...(await leftTheQueue(context, task)),
        ...(await lastCrash(context, task)),
      ];
    case 'needs_attention':
      return [
        ...(await needsPerson(context, state)),
        ...handedBackFor(task, state.because),
        ...(state.because === 'conflict' ? await unfinishedMerge(context, task) : []),
        ...(await describeResolver(context, task)),
      ];
    case 'failed':
      return whyFailed(context, task, state.reason);
    case 'cancelled':
      return [state.reason === null ? sentence(statusTexts.cancelled) : `Cancelled: ${state.reason}`];
    case 'done':
      return [
        sentence(doneText(state)),
        ...(state.how === 'landed' ? await howItLanded(context.board, task.id) : []),
        ...(await undone(context, task)),
      ];
    default:
      return unreachable(state);
  }
}

function stuckText(id: TaskId, state: Extract<Task['state'], { status: 'stuck' }>): string {
  const clause = stuckClauseNow({ id, state });
  const reason = withoutFirstStep(state);
  return clause === null ? reason : `${sentence(clause).slice(0, -1)}: ${reason}`;
}

/** The shell could not start the program of its agent. */
async function unfoundProgram(
  { agents, board, unusable = [] }: LookContext,
  { state, session }: Task,
): Promise<readonly string[]> {
  if (!lacksProgram(state)) return [];
  const agent = session === null ? undefined : (await board.get('session', session))?.agent;
  if (agent === undefined) return [];
  if (![...agents, ...unusable].some(({ name }) => name === agent))
    return ['Install it, or start the task again with another command.'];
  return [`Install it, or correct agents.${agent}.command in copse.yml and run: copse config accept`];
}

/** Of a task that crashed after that: the crash alone would hide why its agent had to continue. */
async function handedBackBefore({ board }: LookContext, task: Task): Promise<readonly string[]> {
  if (task.retries === 0 || isFinished(task.state.status)) return [];
  const event = await lastHandback(board, task);
  return event === null ? [] : [`Handed back before: ${afterColon(attentionText(event))}.`];
}

/** How often it was restarted without a person, and when it is again. */
async function restarts({ board, clock, policy }: LookContext, task: Task): Promise<readonly string[]> {
  const text = restartText(await plannedRestart(board, task, policy), clock.now());
  if (text !== null) return [sentence(text)];
  const { autoRestarts = 0 } = task;
  if (autoRestarts === 0 || isFinished(task.state.status)) return [];
  return [`It was restarted automatically ${times(autoRestarts)}.`];
}

type AttentionState = Extract<Task['state'], { status: 'needs_attention' }>;

async function needsPerson({ board }: LookContext, state: AttentionState): Promise<readonly string[]> {
  if (await isBeingResolved(board, { state }))
    return [
      `You need not act: ${attentionClause(state.because)}, and another task resolves that.`,
      reasonForPerson(state.reason),
    ];
  const { text, more } = attentionDetails({ ...state, reason: reasonForPerson(state.reason) });
  return [`It needs you. ${sentence(text)}`, ...more];
}

/** Its agent had as many chances: to let it continue may give the same result. */
function handedBackFor({ handbacks }: Task, because: AttentionState['because']): readonly string[] {
  const count = new Map(Object.entries(handbacks)).get(because) ?? 0;
  return count === 0 ? [] : [`It was already handed back to its agent ${times(count)} because of that.`];
}

async function unfinishedMerge(context: LookContext, task: Task): Promise<readonly string[]> {
  const unfinished = await unfinishedIn(context, task);
  return unfinished === null ? [] : [sentence(unfinishedText(unfinished.operation))];
}

/** What its agent or a person said when it finished, and the warnings of the gate. */
async function finishWords({ board }: LookContext, { session: id }: Task): Promise<readonly string[]> {
  const finish = id === null ? undefined : (await board.get('session', id))?.finish;
  if (finish === undefined) return [];
  const said = finish.summary === undefined ? [] : [`Summary: ${finish.summary}`];
  return [...said, ...(finish.notes ?? []).map((note) => `Warning: ${note}`)];
}

/** What a person should know about the removal of its worktree. */
async function removalNotes({ board }: LookContext, { id }: Task): Promise<readonly string[]> {
  const last = (await board.list('workspace', { task: id })).at(-1)?.disposition;
  return last?.is === 'released' ? (last.notes ?? []) : [];
}

async function leftTheQueue({ board }: LookContext, { id }: Task): Promise<readonly string[]> {
  const reason = await whyItLeftTheQueue(board, id);
  return reason === null ? [] : [sentence(`it left the queue: ${afterColon(reason)}`)];
}

async function undone({ board }: LookContext, { id }: Task): Promise<readonly string[]> {
  const undoing = await undoingOf(board, id);
  if (undoing.kind === 'none') return [];
  return [
    undoing.kind === 'undone'
      ? `${undoing.by} undid it.`
      : `${undoing.by} will undo it; ${undoing.by} ${statusPredicate(undoing.status)}.`,
  ];
}

/** Branches that conflict or overlap with its own, as the conflict radar saw them last. */
async function collisions({ board, radar }: LookContext, { id, state }: Task): Promise<readonly string[]> {
  if (isFinished(state.status)) return [];
  const findings = findingsOf(lastSighting(radar)?.pairs ?? [], id);
  const lines = findings.slice(0, LISTED).map(async ({ other, verdict }) => {
    const title = (await board.get('task', other))?.title;
    const name = title === undefined ? other : `${other} (${title})`;
    return describeCollision(name, verdict);
  });
  const more = findings.length > LISTED ? [`All ${findings.length}: copse radar ${id}`] : [];
  return [...(await Promise.all(lines)), ...more];
}

async function escapes(context: LookContext, { id }: Task): Promise<readonly string[]> {
  const workspaces = await context.board.list('workspace', { task: id });
  const { escape } = workspaces.findLast((one) => one.escape !== undefined) ?? {};
  if (escape === undefined) return [];
  const sessions = await Promise.all(escape.running.map((session) => context.board.get('session', session)));
  const tasks = [...new Set([id, ...sessions.flatMap((session) => session?.task ?? [])])];
  const files = escape.paths.slice(0, LISTED).map((file) => `  ${file}`);
  const move = `To move the change into its worktree: copse rescue move ${id}`;
  const canMove =
    files.length > 0 && (await hasWorktree(context, { id })) && (await isThere(context, escape));
  return [describeEscape(escape, tasks), ...files, ...(canMove ? [move] : [])];
}

/** Whether the main checkout still has one of the changes. */
async function isThere({ git, root }: LookContext, { paths }: Pick<Escape, 'paths'>): Promise<boolean> {
  const { changed, untracked } = await git.uncommitted(root);
  return [...changed, ...untracked].some((path) => paths.includes(path));
}

const LISTED = 10;

async function whyPending({ board }: LookContext, task: Task): Promise<readonly string[]> {
  const statuses = await board.statuses(task.dependsOn);
  const unmet = task.dependsOn.filter((id) => statuses.get(id) !== 'done');
  const over = unmet.filter((id) => statuses.get(id) === 'cancelled');
  const rest = unmet.filter((id) => statuses.get(id) !== 'cancelled');
  const lines = rest.map((id) => {
    const status = statuses.get(id);
    return `  ${id} ${status === undefined ? 'was deleted' : statusPredicate(status)}`;
  });
  return [
    ...(over.length === 0 ? [] : [sentence(dependsOnCancelled(over))]),
    ...(rest.length === 0 && over.length > 0
      ? []
      : [`It waits for ${rest.length === 1 ? 'a task' : `${rest.length} tasks`}:`, ...lines]),
  ];
}

interface WhyReady {
  readonly because: readonly string[];
  readonly next: readonly string[];
}

/** The text of `copse status`, and the command that lets it start. */
async function whyReady(context: LookContext, task: Task, isOrchestrated: boolean): Promise<WhyReady> {
  const { board } = context;
  const running = await observeRunning(context, new LeaseAges());
  const urgent = await board.tasks({ statuses: ['ready'], order: 'urgent', limit: PLACED });
  const ready = urgent.some(({ id }) => id === task.id) ? urgent : [...urgent, task];
  const fate = (await loadFates(context, ready, running, isOrchestrated)).get(task.id);
  if (fate === undefined) return { because: [], next: [] };
  const { text, step, waiting } = fate;
  const isUnstarted = !isOrchestrated && waiting?.kind !== 'agent' && waiting?.kind !== 'moved';
  const crash = waiting?.kind === 'delay' && waiting.delay.because === 'crash' && task.retries > 0;
  const because = [
    ...((await lacksCommit(context, task)) ? [LACKS_COMMIT] : []),
    ...(waiting !== null && isUnstarted ? [sentence(NONE_RUNS)] : []),
    ...(crash ? [] : [waiting === null ? `It is ready. ${sentence(text)}` : text]),
    ...(await whyNodes(context, task, { waiting, isOrchestrated })),
    ...(waiting === null ? passedOver(context, task) : []),
    ...(await lastCrash(context, task, crash ? retryText(waiting.delay, context, isOrchestrated) : '')),
  ];
  const hasAgents = lackOfAgents(context) === null;
  const orchestrate = hasAgents
    ? 'copse orchestrate # to start agents'
    : 'copse orchestrate --command "…" # to start agents, with a command as the agent';
  const start = isUnstarted ? [orchestrate] : [];
  return { because, next: step === null ? start : [step, ...start] };
}

const NONE_RUNS = 'No orchestrator is running here';

/** As many as `copse status` places. */
const PLACED = 50;

function passedOver(context: LookContext, task: Task): readonly string[] {
  const { clock, policy } = context;
  const other = loadCollisions(context).with(task);
  const leftMs = task.state.since + policy.radar.preferMs - clock.now();
  if (other === undefined || leftMs <= 0) return [];
  const found = findingsOf(lastSighting(context.radar)?.pairs ?? [], task.id).find(
    (one) => one.other === other,
  );
  const [file] = found !== undefined && 'files' in found.verdict ? found.verdict.files : [];
  const changed = file === undefined ? 'has changed files in its areas' : `changes ${shown(file)} too`;
  return [
    `For up to ${Math.ceil(leftMs / 60_000)} min, equally urgent tasks start first: the branch of ${other} ${changed}.`,
  ];
}

async function whyRunning(context: LookContext, task: Task): Promise<readonly string[]> {
  const { board, clock, node, policy } = context;
  if (task.state.status !== 'in_progress') return [];
  const { claim, since } = task.state;
  const attempt = await board.get('attempt', claim.attempt);
  if (attempt === undefined)
    return [
      isHeldByHand(context, task) ? 'You work on it by hand.' : `${claim.agent} is working on it by hand.`,
    ];
  const stopped = await context.runners.stoppedOf(claim.attempt);
  if (stopped !== undefined)
    return [`${sentence(delayCauses[stopped.because])} An orchestrator goes on with it.`, stopped.reason];
  const lease = await board.lease(task.id);
  const session = await board.get('session', claim.session);
  const live = session?.state.life === 'live' ? session.state : undefined;
  const name = (await severalNodes(board)).get(claim.node);
  const elsewhere = name === undefined ? `machine ${claim.node}` : `node ${name}`;
  const where = claim.node === node ? 'this machine' : elsewhere;
  const phase = reportedPhase(live?.phase);
  const silentMs = lease === undefined ? null : Math.max(0, clock.now() - lease.renewedAt);
  if (silentMs !== null && isLapsed(silentMs, policy) && claim.node === node)
    return [`${lapsedText(silentMs, policy)} An orchestrator recovers the task.`];
  return [
    `${agentNamed(claim.agent)} has been working on it for ${spanText(Math.max(1_000, clock.now() - since))} on ${where}${phase === null ? '' : `, in phase ${phase}`}.`,
    ...(task.moveTo == null ? [] : [`It goes to node ${task.moveTo.name} as soon as its work is saved.`]),
    ...(silentMs === null ? [] : [`Its runner was last heard from ${Math.round(silentMs / 1_000)} s ago.`]),
    ...(attempt.travelProblem === undefined ? [] : [attempt.travelProblem]),
    ...(board.engine === 'postgres' && claim.node !== node
      ? [await snapshotText(board, task.id, clock.now())]
      : []),
    ...(await waitsForPerson(context, task, live?.attention ?? null)),
    ...takenOverText(session, clock.now()),
    ...(await lastCrash(context, task)),
    ...(task.retries === 0 ? await processesLeft(context, task.id, since) : []),
  ];
}

/** Its runner on this machine let its lease run out: only an orchestrator goes on with it. */
async function hasLapsed({ board, clock, node, policy }: LookContext, { id, state }: Task): Promise<boolean> {
  if (state.status !== 'in_progress' || state.claim.node !== node || state.claim.isByHand) return false;
  const lease = await board.lease(id);
  return lease !== undefined && isLapsed(clock.now() - lease.renewedAt, policy);
}

/** Its agent is gone, and its processes cannot be ended (agents/act/recover.ts). */
async function processesLeft(
  { board }: LookContext,
  task: TaskId,
  since: number,
): Promise<readonly string[]> {
  const entries = await board.list('ledger', { task });
  const crash = entries.findLast(({ kind, at }) => kind === 'crash' && at >= since);
  return crash === undefined ? [] : [crash.text];
}

function takenOverText(session: Session | undefined, now: number): readonly string[] {
  const { takenOver } = session ?? {};
  if (session === undefined || takenOver === undefined) return [];
  const span = spanText(Math.max(1_000, now - takenOver.at));
  return [
    `${shown(capitalised(personName(takenOver.person)))} took over its terminal ${span} ago. To give it back: copse give-back ${session.task}`,
  ];
}

async function waitsForPerson(
  { board, clock }: LookContext,
  task: Task,
  attention: Attention | null,
): Promise<readonly string[]> {
  const question = await openQuestionOf(board, task);
  if (question === undefined) {
    if (attention === null || task.state.status !== 'in_progress') return [];
    const message = await lastMessageOf(board, task.id, task.state.claim.session);
    return [sentence(`it ${waitingClause(attention, message)}`)];
  }
  const [first = '', ...what] = questionText(question, clock.now()).split('\n');
  return [first, ...what.map((line) => `  ${line}`)];
}

async function whyLanding(context: LookContext, task: Task): Promise<readonly string[]> {
  const { board } = context;
  if (task.state.status !== 'landing') return [];
  const landing = await board.get('landing', task.state.landing);
  const place = landing && (await loadPlace(context, context.landing, landing));
  if (place === undefined) return ['It is about to leave the queue.'];
  const { queue, entry } = place;
  const moved = landing === undefined ? null : await movedText(context, landing);
  const behind = entry.behind.length === 0 ? '' : `, behind ${named(entry.behind)}`;
  return [
    ...(moved === null ? [] : [moved]),
    `It is number ${entry.position} of ${queue.entries.length} to land on ${queue.target}${behind}.`,
    ...(entry.standing.kind === 'stalled' && queue.stalled !== null
      ? []
      : [standingSentence(entry.standing)]),
    ...(entry.range === null || entry.state === 'landing'
      ? []
      : [`It lands in ${rangeText(entry.range)}, if its checks pass.`]),
    ...(queue.isLed ||
    queue.stalled !== null ||
    entry.standing.kind === 'no_leader' ||
    (await loadPaused(board, landing))
      ? []
      : [`\`copse merge ${task.id}\` lands it now.`]),
    ...stallLines(queue, entry.standing),
    ...waitLog(entry.standing.kind === 'held' ? entry.standing.reason : queue.stalled?.reason),
    ...(landing?.note === undefined ? [] : [landing.note]),
    ...(landing?.pullRequest === undefined ? [] : [`It was in review: ${summarise(landing.pullRequest)}.`]),
    ...(queue.hasChecks && !entry.isUnchecked ? [] : ['It lands without checks.']),
  ];
}

/** Nothing when the entry waits for the same reason: its own sentence says it. */
function stallLines({ stalled, target }: QueueView, standing: EntryStanding): readonly string[] {
  if (stalled === null) return [];
  const why = waitText(stalled.reason, target);
  if (standing.kind === 'held' && waitText(standing.reason, target) === why) return [];
  return [standing.kind === 'stalled' ? `It waits: ${why}.` : sentence(why)];
}

async function whyFailed(context: LookContext, task: Task, reason: string): Promise<readonly string[]> {
  const { board } = context;
  const entries = await board.list('ledger', { task: task.id });
  const crash = entries.findLast(({ kind }) => kind === 'crash');
  const failed = sentence(failureClause(task.retries, reason));
  const told = task.retries === 0 ? reason : (crash?.text ?? '');
  // Its first line has the error that the sentence names.
  const [first = '', ...details] = told.split('\n');
  const isSaid = first.includes(firstLine(reason));
  return [
    failed,
    ...(isSaid ? details : told.split('\n')).filter((line) => line !== ''),
    ...(await commitsLeft(context, task)),
  ];
}

/** What its agent committed before it failed. */
async function commitsLeft(context: LookContext, { id }: Task): Promise<readonly string[]> {
  const { git } = context;
  const worktree = (await workspaceOf(context, id))?.worktree;
  if (worktree == null) return [];
  const base = worktree.baseCommit;
  const tip = await git.tip(`refs/heads/${worktree.branch}`);
  const count = tip === undefined || tip === base ? 0 : await git.countCommits(base, tip);
  if (count === 0) return [];
  return [`Its branch has ${counted(count, 'commit')}. To see what it changes: copse diff ${id}`];
}

function retryText({ until }: Delay, { clock }: LookContext, isOrchestrated: boolean): string {
  const span = spanText(Math.ceil((until - clock.now()) / 1_000) * 1_000);
  return isOrchestrated ? `; retry in ${span}` : `; it can start in ${span}, when an orchestrator runs`;
}

/** `Crashed once: the agent program ended with exit code 1; retry in 15 s.`, then the details of the last crash. */
async function lastCrash({ board }: LookContext, task: Task, retry = ''): Promise<readonly string[]> {
  if (task.retries === 0) return [];
  const attempts = await board.list('attempt', { task: task.id });
  const ended = attempts.findLast(({ end }) => end !== null)?.end;
  const entries = await board.list('ledger', { task: task.id });
  const crash = entries.findLast(({ kind }) => kind === 'crash');
  const last = ended && ended.reason !== 'crashed' ? ` (last: ${ended.reason.replaceAll('_', ' ')})` : '';
  const [first = '', ...details] = crash?.text.split('\n') ?? [];
  const error = /^The attempt crashed: (.*?)\.?$/.exec(first)?.[1];
  return [
    `Crashed ${times(task.retries)}${last}${error === undefined ? '' : `: ${error}`}${retry}.`,
    ...(error === undefined && first !== '' ? [first] : []),
    ...details,
  ];
}
