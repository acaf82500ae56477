/** Why a task is where it is, and what would move it: one answer for every status, from the same decisions as the loop. */

import { type OpenQuestion, openQuestionOf } from '../agents/act/answer.ts';
import { delayCauses } from '../tasks/rules/claim.ts';
import { describeEscape } from '../workspaces/rules/escape.ts';
import type { TaskId, Timestamp } from '../kernel/ids.ts';
import { explain, summarise } from '../review/rules/pull-request.ts';
import { rangeText, standingText, waitText } from './rules/queue.ts';
import { named } from '../kernel/text.ts';
import { type WaitingFor, Scheduler } from '../orchestrator/rules/schedule.ts';
import { type PairVerdict, findingsOf } from '../radar/rules/radar.ts';
import { type AttentionCause, type Task, isFinished, suggestCommands } from '../tasks/rules/task.ts';
import { describeResolver } from '../queue/act/conflict-task.ts';
import { type Outcome, refusal } from '../board/context.ts';
import { refused } from '../kernel/decision.ts';
import { LeaseAges, observeRunning } from '../agents/act/observe.ts';
import { loadCollisions } from '../radar/prefer-apart.ts';
import { howItLanded, whyItLeftTheQueue } from '../queue/act/last-landing.ts';
import { lastSighting } from '../radar/radar.ts';
import { loadPlace } from '../queue/act/view.ts';
import { scheduleFacts } from '../agents/act/schedule-facts.ts';
import type { LookContext } from '../queue/context.ts';
import { undoingOf } from '../queue/act/undoing.ts';

export interface Why {
  readonly task: Task;
  /** The first sentence answers the question; the rest is detail. */
  readonly because: readonly string[];
  readonly next: readonly string[];
}

export async function whyTask(context: LookContext, id: TaskId): Promise<Outcome<Why>> {
  const task = await context.board.get('task', id);
  if (task === undefined) {
    return refusal(refused('not_found', `There is no task ${id} on the board.`, 'copse list'));
  }
  const because = [
    ...(await reasonsOf(context, task)),
    ...(await collisions(context, task)),
    ...(await escapes(context, task)),
  ];
  const question = await openQuestionOf(context.board, task);
  const answers = question === undefined ? [] : [`copse answer ${id} allow`, `copse answer ${id} deny`];
  return { ok: true, value: { task, because, next: [...answers, ...nextFor(task)] } };
}

/** Whoever asks why knows that command. */
function nextFor(task: Task): readonly string[] {
  return suggestCommands(task).filter((command) => !command.startsWith('copse why'));
}

async function reasonsOf(context: LookContext, task: Task): Promise<readonly string[]> {
  const { state } = task;
  switch (state.status) {
    case 'pending':
      return whyPending(context, task);
    case 'ready':
      return whyReady(context, task);
    case 'in_progress':
      return whyRunning(context, task);
    case 'landing':
      return whyLanding(context, task);
    case 'paused':
      return ['It was paused by a person; its worktree is kept.'];
    case 'stuck':
      return [`Its agent asks for a decision: ${state.reason}`];
    case 'in_review':
      return [
        ...(state.pullRequest === null
          ? ['It is finished and waits for a person to review it.']
          : explain(state.pullRequest)),
        ...(await leftTheQueue(context, task)),
        ...(await lastCrash(context, task)),
      ];
    case 'needs_attention':
      return [attentionTexts[state.because], state.reason, ...(await describeResolver(context, task))];
    case 'failed':
      return whyFailed(context, task, state.reason);
    case 'cancelled':
      return [state.reason === null ? 'It was cancelled.' : `It was cancelled: ${state.reason}`];
    case 'done':
      return [
        doneText[state.how] + (state.commit === null ? '' : ` (${state.commit.slice(0, 12)})`),
        ...(state.how === 'landed' ? await howItLanded(context.board, task.id) : []),
        ...(await undone(context, task)),
      ];
    default:
      throw new Error(`There is no status such as ${String(state satisfies never)}`);
  }
}

async function leftTheQueue({ board }: LookContext, { id }: Task): Promise<readonly string[]> {
  const reason = await whyItLeftTheQueue(board, id);
  return reason === null ? [] : [reason];
}

async function undone({ board }: LookContext, { id }: Task): Promise<readonly string[]> {
  const undoing = await undoingOf(board, id);
  if (undoing.kind === 'none') return [];
  return [
    undoing.kind === 'undone'
      ? `It was undone by ${undoing.by}.`
      : `It is being undone by ${undoing.by}, which is ${undoing.status}.`,
  ];
}

/** What gets in its way on the branches of others, as far as the conflict radar has looked. */
async function collisions({ board, radar }: LookContext, { id, state }: Task): Promise<readonly string[]> {
  if (isFinished(state.status)) return [];
  const findings = findingsOf(lastSighting(radar)?.pairs ?? [], id);
  const lines = findings.slice(0, LISTED).map(async ({ other, verdict }) => {
    const title = (await board.get('task', other))?.title;
    const name = title === undefined ? other : `${other} (${title})`;
    return describeCollision(name, verdict);
  });
  const more = findings.length > LISTED ? [`All ${findings.length} of these: copse radar ${id}`] : [];
  return [...(await Promise.all(lines)), ...more];
}

function describeCollision(other: string, verdict: PairVerdict): string {
  switch (verdict.kind) {
    case 'conflict':
      return `It conflicts with ${other} in ${filesOf(verdict)}: whichever lands second has to be brought together with the first.`;
    case 'overlap':
      return `${other} changes the same files, so far without a conflict: ${filesOf(verdict)}.`;
    case 'pending':
      return `It and ${other} change the same files and were not compared yet, or moved since.`;
    case 'apart':
      return `It and ${other} have nothing in common.`;
    default:
      throw new Error(`Branches cannot be ${String(verdict satisfies never)}`);
  }
}

function filesOf({
  files,
  omitted,
}: {
  readonly files: readonly string[];
  readonly omitted: number;
}): string {
  const rest = files.length + omitted - LISTED;
  const names = files.slice(0, LISTED).map((file) => file.replaceAll('\n', String.raw`\n`));
  return `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

async function escapes(context: LookContext, { id }: Task): Promise<readonly string[]> {
  const workspaces = await context.board.list('workspace', { task: id });
  const { escape } = workspaces.findLast((one) => one.escape !== undefined) ?? {};
  if (escape === undefined) return [];
  const sessions = await Promise.all(escape.running.map((session) => context.board.get('session', session)));
  const tasks = [...new Set([id, ...sessions.flatMap((session) => session?.task ?? [])])];
  const files = escape.paths.slice(0, LISTED).map((file) => `  ${file}`);
  return [
    describeEscape(escape, tasks),
    ...files,
    `Move them into its worktree with: copse rescue move ${id}`,
  ];
}

const LISTED = 10;

const attentionTexts: Readonly<Record<AttentionCause, string>> = {
  conflict: 'It is finished but conflicts with its target.',
  checks: 'It is finished but its checks fail.',
  push: 'It is finished but could not be pushed.',
  dirty: 'Its agent stopped and left uncommitted changes, which are in its worktree.',
  nothing_committed: 'Its agent stopped and committed nothing.',
  commit_message: 'It is finished but its commit messages are not as they must be.',
  accept: 'Its agent stopped although what must succeed does not.',
};

const doneText = {
  landed: 'It landed',
  pull_request: 'Its pull request was merged',
  artifacts: 'Its agent finished it; there is no code to land',
  no_changes: 'Its agent found nothing to do',
  as_it_is: 'It is done as it is, on its branch',
} as const;

async function whyPending({ board }: LookContext, task: Task): Promise<readonly string[]> {
  const statuses = await board.statuses(task.dependsOn);
  const unmet = task.dependsOn.filter((id) => statuses.get(id) !== 'done');
  const lines = unmet.map((id) => `  ${id} is ${statuses.get(id) ?? 'gone'}`);
  return [`It waits for ${unmet.length === 1 ? 'a task' : `${unmet.length} tasks`} to be done:`, ...lines];
}

async function whyReady(context: LookContext, task: Task): Promise<readonly string[]> {
  const { board, policy } = context;
  const running = await observeRunning(context, new LeaseAges());
  const facts = await scheduleFacts(context, running, await board.openLandings());
  const placement = new Scheduler(facts, policy.orchestration).place(task);
  const crashes = await lastCrash(context, task);
  if (placement.kind === 'waiting') return [describeWaiting(placement.waiting, facts.at), ...crashes];
  return [
    `Nothing is in its way: ${placement.agent} takes it at the next look of an orchestrator, or as soon as one runs.`,
    ...passedOver(context, task),
    ...crashes,
  ];
}

function passedOver(context: LookContext, task: Task): readonly string[] {
  const { clock, policy } = context;
  const other = loadCollisions(context).with(task);
  const leftMs = task.state.since + policy.radar.preferMs - clock.now();
  if (other === undefined || leftMs <= 0) return [];
  return [
    `For ${Math.ceil(leftMs / 60_000)} min more, tasks that are as urgent and collide with nobody go first: the branch of ${other} has changed files that it would touch.`,
  ];
}

export function describeWaiting(waiting: WaitingFor, now: Timestamp): string {
  switch (waiting.kind) {
    case 'delay': {
      const seconds = Math.ceil((waiting.delay.until - now) / 1_000);
      return `It waits ${seconds} s more because ${delayCauses[waiting.delay.because]}.`;
    }
    case 'agent':
      return `No agent may take it: ${waiting.reasons.join('; ')}.`;
    case 'area':
      return `It waits for ${waiting.task}, which works on ${waiting.areas[1]} (it would touch ${waiting.areas[0]}).`;
    case 'agent_limit':
      return `All that could take it are busy: ${waiting.agents.join(', ')} (their \`max\` is reached).`;
    case 'node_limit':
      return `${waiting.max} sessions are running, which is the most at once on this node (policy.max_agents).`;
    case 'memory':
      return `This node has ${megabytes(waiting.freeBytes)} of memory free and needs ${megabytes(waiting.neededBytes)} (policy.min_free_memory).`;
    case 'disk':
      return `This node has ${megabytes(waiting.freeBytes)} of disk free and needs ${megabytes(waiting.neededBytes)} (policy.min_free_disk).`;
    default:
      throw new Error(`Nobody waits for ${String(waiting satisfies never)}`);
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`;
}

async function whyRunning(context: LookContext, task: Task): Promise<readonly string[]> {
  const { board, clock, node } = context;
  if (task.state.status !== 'in_progress') return [];
  const { claim, since } = task.state;
  const attempt = await board.get('attempt', claim.attempt);
  if (attempt === undefined) return [`${claim.agent} works on it by hand.`];
  const lease = await board.lease(task.id);
  const session = await board.get('session', claim.session);
  const live = session?.state.life === 'live' ? session.state : undefined;
  const where = claim.node === node ? 'here' : `on node ${claim.node}`;
  const minutes = Math.round((clock.now() - since) / 60_000);
  const seen = lease === undefined ? null : Math.max(0, Math.round((clock.now() - lease.renewedAt) / 1_000));
  return [
    `${claim.agent} works on it ${where} for ${minutes} min, in phase ${live?.phase ?? 'unknown'}.`,
    ...(seen === null ? [] : [`Its runner's last sign of life was ${seen} s ago.`]),
    ...waitsForPerson(live?.attention ?? null, await openQuestionOf(board, task), clock.now()),
    ...(await lastCrash(context, task)),
  ];
}

function waitsForPerson(
  attention: string | null,
  question: OpenQuestion | undefined,
  now: Timestamp,
): readonly string[] {
  if (question !== undefined) {
    const seconds = Math.max(0, Math.round((now - question.since) / 1_000));
    return [
      `It waits for a person: for ${seconds} s it asks whether it may use ${question.tool}:`,
      ...question.what
        .trimEnd()
        .split('\n')
        .map((line) => `  ${line}`),
    ];
  }
  return attention === null ? [] : [`It waits for a person: ${attention}.`];
}

async function whyLanding(context: LookContext, task: Task): Promise<readonly string[]> {
  const { board } = context;
  if (task.state.status !== 'landing') return [];
  const landing = await board.get('landing', task.state.landing);
  const place = landing && (await loadPlace(context, context.landing, landing));
  if (place === undefined) return ['It is about to leave the queue.'];
  const { queue, entry } = place;
  const behind = entry.behind.length === 0 ? '' : `, behind ${named(entry.behind)}`;
  return [
    `It is number ${entry.position} of ${queue.entries.length} to land on ${queue.target}${behind}.`,
    `It ${standingText(entry.standing)}.`,
    ...(entry.range === null || entry.state === 'landing'
      ? []
      : [`It lands in ${rangeText(entry.range)}, if it is green.`]),
    ...(queue.isLed || entry.standing.kind === 'no_leader'
      ? []
      : [`\`copse merge ${task.id}\` lands it now.`]),
    ...(queue.stalled === null ? [] : [`The queue is stalled: ${waitText(queue.stalled.reason)}.`]),
    ...(landing?.note === undefined ? [] : [landing.note]),
    ...(landing?.pullRequest === undefined ? [] : [`It was in review: ${summarise(landing.pullRequest)}.`]),
    ...(queue.hasChecks && !entry.isUnchecked ? [] : ['It lands unverified: without checks.']),
  ];
}

async function whyFailed({ board }: LookContext, task: Task, reason: string): Promise<readonly string[]> {
  const entries = await board.list('ledger', { task: task.id });
  const crash = entries.findLast(({ kind }) => kind === 'crash');
  return [`It was tried as often as may be and failed; the last time:`, crash?.text ?? reason];
}

async function lastCrash({ board }: LookContext, task: Task): Promise<readonly string[]> {
  if (task.retries === 0) return [];
  const attempts = await board.list('attempt', { task: task.id });
  const ended = attempts.findLast(({ end }) => end !== null)?.end;
  const entries = await board.list('ledger', { task: task.id });
  const crash = entries.findLast(({ kind }) => kind === 'crash');
  const times = task.retries === 1 ? 'once' : `${task.retries} times`;
  return [
    `It crashed ${times}${ended ? ` (last: ${ended.reason.replaceAll('_', ' ')})` : ''}.`,
    ...(crash ? [crash.text] : []),
  ];
}
