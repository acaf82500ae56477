/** What `copse list` says about a task beside the task itself: its session, its question, its place in the queue. */

import { lastMessageOf, openQuestionOf } from '../../agents/act/answer.ts';
import type { Session } from '../../agents/rules/session/session.ts';
import type { Context } from '../../board/context.ts';
import type { Board } from '../../board/port.ts';
import type { ReasonFacts } from '../../explain/rules/reason.ts';
import { standingText, waitText } from '../../explain/rules/queue.ts';
import type { NodeId, SessionId, TaskId } from '../../kernel/ids.ts';
import { severalNodes } from '../../machines/act/several-nodes.ts';
import { loadQueues } from '../../queue/act/view.ts';
import type { WaitReason } from '../../queue/rules/wait-reason.ts';
import type { EntryState } from '../../queue/rules/view/view.ts';
import { lastSighting } from '../../radar/radar.ts';
import { type Finding, findingsOf } from '../../radar/rules/radar.ts';
import { type TaskSummary, statusesForPeople } from '../../tasks/rules/task.ts';
import type { Access, CloneHere } from '../access.ts';

interface QueuePlace {
  readonly position: number;
  readonly of: number;
  readonly state: EntryState;
  readonly why: string;
}

export interface ListedFacts extends ReasonFacts {
  readonly session?: Session | undefined;
  readonly question?: Awaited<ReturnType<typeof openQuestionOf>>;
  /** Why it does not land. */
  readonly waiting?: string | null;
  readonly queue?: QueuePlace | undefined;
}

export const NO_FACTS: ListedFacts = {};

/** Tasks that are ready, pending or finished have none, so that a long list costs little. */
export async function loadFacts(
  access: Pick<Access, 'here' | 'look'>,
  context: Context,
  live: readonly TaskSummary[],
): Promise<ReadonlyMap<TaskId, ListedFacts>> {
  const { board } = context;
  const facts = new Map<TaskId, ListedFacts>();
  const withSession = live.filter((task) => sessionOf(task) !== null);
  const sessions = await board.some(
    'session',
    withSession.map((task) => sessionOf(task) ?? ''),
  );
  const names = withSession.some(({ state }) => state.status === 'in_progress')
    ? await severalNodes(board)
    : new Map<NodeId, string>();
  for (const task of withSession) {
    const session = sessions.get(sessionOf(task) ?? '');
    const attention = session?.state.life === 'live' ? session.state.attention : null;
    const hasAsked = attention !== null && session?.question?.answer === null;
    const question = hasAsked ? await openQuestionOf(board, task) : undefined;
    const message = attention === null || question ? null : await lastMessageOf(board, task.id, session?.id);
    const node = task.state.status === 'in_progress' ? names.get(task.state.claim.node) : undefined;
    const travelProblem = await travelProblemOf(board, task);
    facts.set(task.id, { session, question, message, node, travelProblem });
  }
  if (live.some(({ state }) => state.status === 'landing')) await addPlaces(access, context, facts);
  return facts;
}

/** Work travels only between the machines of a board on PostgreSQL. */
async function travelProblemOf(board: Board, { state }: TaskSummary): Promise<string | null> {
  if (board.engine !== 'postgres' || state.status !== 'in_progress') return null;
  return (await board.get('attempt', state.claim.attempt))?.travelProblem ?? null;
}

function sessionOf({ state, session }: TaskSummary): SessionId | null {
  if (state.status === 'in_progress') return state.claim.session;
  return statusesForPeople.includes(state.status) ? session : null;
}

async function addPlaces(
  access: Pick<Access, 'here' | 'look'>,
  context: Context,
  facts: Map<TaskId, ListedFacts>,
): Promise<void> {
  const landings = new Map((await context.board.openLandings()).map((one) => [one.task, one]));
  for (const { task, waiting } of landings.values())
    facts.set(task, { waiting: waiting && waitText(waiting) });
  const { landing } = await access.here.config();
  const isForCheckout = [...landings.values()].some(({ waiting }) => waiting?.kind === 'checkout_changed');
  // Git is opened only if the checkout must be looked at.
  const queues = isForCheckout
    ? await access.look((seen) => loadQueues(seen, landing))
    : await loadQueues({ ...context, node: access.here.node(), isLedHere: access.here.isLedHere }, landing);
  for (const { entries } of queues)
    for (const { task, position, state, standing } of entries) {
      const queue = { position, of: entries.length, state, why: standingText(standing) };
      // What it waited for is over.
      const isOver = canEnd(landings.get(task)?.waiting?.kind) && state !== 'held';
      const waiting = isOver ? null : (facts.get(task)?.waiting ?? null);
      const place = waiting ?? `${position} of ${queue.of} in the queue, ${queue.why}`;
      facts.set(task, { waiting, queue, place });
    }
}

/** A view sees the end of such a wait before a leader records it. */
function canEnd(kind: WaitReason['kind'] | undefined): boolean {
  return kind === 'paused' || kind === 'not_accepted' || kind === 'checkout_changed';
}

/** The latest result of the conflict radar, without a new comparison. */
export function loadFindings(here: CloneHere): (task: TaskId) => readonly Finding[] {
  const pairs = lastSighting(here.radar())?.pairs ?? [];
  const involved = new Set(pairs.flatMap(({ tasks }) => tasks));
  return (task) => (involved.has(task) ? findingsOf(pairs, task) : []);
}
