/** What `copse show` says about a task beside the task itself. */

import { lastMessageOf, openQuestionOf } from '../../agents/act/answer.ts';
import type { Session } from '../../agents/rules/session/session.ts';
import type { Context } from '../../board/context.ts';
import { eventsSoFar } from '../../board/events-so-far.ts';
import type { Board, BoardReader } from '../../board/port.ts';
import { effectiveAgent } from '../../config/effective.ts';
import { waitText } from '../../explain/rules/queue.ts';
import type { EventNumber, Timestamp } from '../../kernel/ids.ts';
import { type Usage, addUsage, isNothing, noUsage } from '../../kernel/usage.ts';
import { waitNow } from '../../queue/act/view.ts';
import { undoingOf } from '../../queue/act/undoing.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import type { Attempt } from '../../tasks/rules/attempt.ts';
import type { LedgerEntry } from '../../tasks/rules/ledger.ts';
import type { AttentionCause, Task } from '../../tasks/rules/task.ts';
import type { Workspace } from '../../workspaces/rules/workspace.ts';
import type { Access, AttemptProcess, CloneHere } from '../access.ts';

export type ShowFacts = Awaited<ReturnType<typeof loadFacts>>;

export async function loadFacts(access: Pick<Access, 'here' | 'look'>, { board }: Context, task: Task) {
  const { here } = access;
  const { id, dependsOn } = task;
  const sessions = await board.list('session', { task: id });
  const last = sessions.at(-1);
  const landings = await board.list('landing', { task: id });
  const workspaces = await board.list('workspace', { task: id });
  const ledger = await board.list('ledger', { task: id });
  const attempts = await loadAttempts(board, task, sessions, ledger);
  return {
    attempts,
    // Over all its sessions; null when no agent reported usage.
    usage: usageOf(sessions.map((session) => session.usage)),
    session: last,
    attention: last?.state.life === 'live' ? last.state.attention : null,
    message: await lastMessageOf(board, id, last?.id),
    question: await openQuestionOf(board, task),
    takenOver: last?.takenOver ?? null,
    hasTerminal: await runsInTerminal(here, task),
    finish: last?.finish,
    process: await processOfTask(here, board, task, attempts.at(-1)?.attempt),
    workspace: workspaces.findLast((one) => one.worktree !== null),
    machine: await machineOf(here, board, workspaces),
    snapshot: attempts.at(-1)?.attempt.lastSnapshot ?? null,
    travelProblem: attempts.at(-1)?.attempt.travelProblem ?? null,
    waiting: await waitingOf(access, task, landings),
    landed: landedOf(landings),
    undoing: await undoingOf(board, id),
    dependants: await board.dependants(id),
    statuses: await board.statuses(dependsOn),
    ledger,
    artifacts: await board.list('artifact', { task: id }),
    item: task.workItem === null ? undefined : (await board.list('item', { task: id })).at(0),
  };
}

/** Of a worktree on another machine. */
async function machineOf(
  here: CloneHere,
  board: Board,
  workspaces: readonly Workspace[],
): Promise<string | null> {
  const last = workspaces.findLast((one) => one.worktree !== null);
  if (board.engine !== 'postgres' || last === undefined) return null;
  if (last.node === here.node()) return null;
  const { labelOf } = await import('../../workspaces/act/shared/elsewhere.ts');
  return labelOf(board, last.node);
}

export interface ShownAttempt {
  readonly attempt: Attempt;
  readonly agent: string | null;
  readonly usage: Usage | null;
  /** Why its work needs a person, if it ended so. */
  readonly needs: AttentionCause | null;
  /** What its agent said at its end: a summary, or a question. */
  readonly words: string | null;
  /** What a person answered to its question. */
  readonly answer: string | null;
}

/** Usage and words are recorded for the session; they belong to the attempt that ran then. */
async function loadAttempts(
  board: BoardReader,
  { id: task }: Task,
  sessions: readonly Session[],
  ledger: readonly LedgerEntry[],
): Promise<readonly ShownAttempt[]> {
  const attempts = await board.list('attempt', { task });
  if (attempts.length === 0) return [];
  const usages = new Map<string, Usage[]>();
  const words = new Map<string, string>();
  const needs = new Map<string, AttentionCause>();
  const types = ['session.used', 'session.completed', 'session.stuck', 'task.needs_attention'] as const;
  for await (const { event } of eventsSoFar(board, { after: 0 as EventNumber, task, types })) {
    if (event.type === 'task.needs_attention') {
      // One transaction ends the attempt and says what became of the task.
      const ended = attempts.find(({ end }) => end?.at === event.at);
      if (ended !== undefined) needs.set(ended.id, event.because);
      continue;
    }
    const { id } = attempts.findLast((one) => one.session === event.id && one.startedAt <= event.at) ?? {};
    if (id === undefined) continue;
    if (event.type === 'session.used') usages.set(id, [...(usages.get(id) ?? []), event.usage]);
    if (event.type === 'session.completed' && event.summary) words.set(id, event.summary);
    if (event.type === 'session.stuck') words.set(id, event.reason);
  }
  return attempts.map((attempt) => ({
    attempt,
    agent: sessions.find(({ id }) => id === attempt.session)?.agent ?? null,
    usage: usageOf(usages.get(attempt.id) ?? []),
    needs: needs.get(attempt.id) ?? null,
    words: words.get(attempt.id) ?? null,
    answer: answerTo(attempt, ledger),
  }));
}

/** `copse restart --answer` notes it as the first decision after the question. */
function answerTo({ end }: Attempt, ledger: readonly LedgerEntry[]): string | null {
  if (end?.reason !== 'stuck') return null;
  const decision = ledger.find(
    ({ kind, at, session }) => kind === 'decision' && session === null && at > end.at,
  );
  return decision?.text ?? null;
}

function usageOf(usages: readonly Usage[]): Usage | null {
  const usage = usages.reduce(addUsage, noUsage);
  return isNothing(usage) ? null : usage;
}

async function processOfTask(
  here: CloneHere,
  board: Context['board'],
  { state }: Task,
  attempt: Attempt | undefined,
): Promise<AttemptProcess | null> {
  if (state.status !== 'in_progress' || attempt === undefined || attempt.id !== state.claim.attempt)
    return null;
  const { severalNodes } = await import('../../machines/act/several-nodes.ts');
  const name = (await severalNodes(board)).get(attempt.node) ?? null;
  return here.processOf(attempt, name);
}

async function waitingOf(
  access: Pick<Access, 'look'>,
  { state }: Task,
  landings: readonly Landing[],
): Promise<string | null> {
  if (state.status !== 'landing') return null;
  const recorded = landings.find(({ id }) => id === state.landing)?.waiting ?? null;
  // Git is opened only if the checkout must be looked at.
  const waiting =
    recorded?.kind === 'checkout_changed' ? await access.look((look) => waitNow(look, recorded)) : recorded;
  return waiting && waitText(waiting);
}

/** By the accepted copse.yml, as `copse status` says it. */
async function runsInTerminal(here: CloneHere, { state }: Task): Promise<boolean> {
  if (state.status !== 'in_progress' || state.claim.isByHand) return false;
  return effectiveAgent(await here.config(), state.claim.agent)?.terminal === 'tmux';
}

interface LandedAt {
  readonly commit: string;
  readonly target: string;
  readonly at: Timestamp;
}

function landedOf(landings: readonly Landing[]): LandedAt | null {
  const last = landings.findLast(({ state }) => state.status === 'landed');
  if (last?.state.status !== 'landed') return null;
  return { commit: last.state.commit, target: last.target, at: last.state.since };
}
