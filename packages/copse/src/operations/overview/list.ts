import type { Context } from '../../board/context.ts';
import type { Board, TaskFilter } from '../../board/port.ts';
import { questionView } from '../../explain/question.ts';
import { mayHaveChanged, withStateNow } from '../../explain/state-now.ts';
import type { AgentName, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Finding } from '../../radar/rules/radar.ts';
import type { TaskStatus, TaskSummary } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { requirePlanId } from '../find.ts';
import { findingView } from '../views/radar-views.ts';
import { taskView } from '../views/views.ts';
import { type TaskOrder, cursorText, isAfter, requireCursor, sorted } from './list-order.ts';
import { type ListedFacts, NO_FACTS, loadFacts, loadFindings } from './list-facts.ts';

interface Input {
  readonly status?: readonly TaskStatus[] | undefined;
  readonly plan?: string | undefined;
  readonly agent?: string | undefined;
  /** All finished tasks, not only the latest. */
  readonly all?: boolean | undefined;
  readonly sort?: TaskOrder | undefined;
  readonly limit?: number | undefined;
  /** Only the tasks after those of the page that gave it. */
  readonly cursor?: string | undefined;
}

export interface ListedTasks {
  readonly live: readonly TaskSummary[];
  readonly finished: readonly TaskSummary[];
  /** How many live tasks match, shown or not. */
  readonly liveCount: number;
  readonly hasMore: boolean;
  /** For the next page; null when this is the last one. */
  readonly cursor: string | null;
  readonly isFiltered: boolean;
  readonly facts: ReadonlyMap<TaskId, ListedFacts>;
  readonly findings: (task: TaskId) => readonly Finding[];
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<ListedTasks> {
  return access.board(async (context) => {
    const filter = {
      ...(input.status && { statuses: input.status }),
      ...(input.plan !== undefined && { plan: await requirePlanId(context.board, input.plan) }),
      ...(input.agent !== undefined && { agent: input.agent as AgentName }),
    };
    const { sort = 'status', limit = Infinity, all = false } = input;
    const recent = all ? undefined : context.policy.list.recentlyFinished;
    const after = input.cursor === undefined ? undefined : requireCursor(input.cursor, sort);
    const listed = await load(access, context, filter, { sort, limit, recent, after });
    return { ...listed, live: await withStatesNow(access, listed.live) };
  });
}

/** Git is opened only if a task needs it. */
async function withStatesNow(access: Access, live: readonly TaskSummary[]): Promise<readonly TaskSummary[]> {
  if (!live.some(mayHaveChanged)) return live;
  return access.look((context) => Promise.all(live.map((task) => withStateNow(context, task))));
}

export function view(listed: ListedTasks) {
  return { tasks: views(listed), hasMore: listed.hasMore, cursor: listed.cursor };
}

function views({ live, finished, facts, findings }: ListedTasks) {
  const view = (task: TaskSummary) => {
    const { session, question, message, waiting, queue } = facts.get(task.id) ?? NO_FACTS;
    const running = session?.state.life === 'live' ? session.state : null;
    const isAsking = task.state.status === 'stuck' || running?.attention != null;
    return {
      ...taskView(task, waiting ?? null),
      phase: running?.phase ?? null,
      attention: running?.attention ?? null,
      message: message ?? null,
      askedBy: isAsking ? (session?.agent ?? null) : null,
      question: question ? questionView(question) : null,
      queue: queue ?? null,
      collisions: findings(task.id).map(findingView),
    };
  };
  return [...live, ...finished].map(view);
}

interface Order {
  readonly sort: TaskOrder;
  readonly limit: number;
  /** How many finished tasks; undefined for all. */
  readonly recent: number | undefined;
  readonly after: ReturnType<typeof requireCursor> | undefined;
}

async function load(
  access: Pick<Access, 'here' | 'look'>,
  context: Context,
  filter: TaskFilter,
  order: Order,
): Promise<ListedTasks> {
  const { board } = context;
  const { sort, limit, after } = order;
  const isNext = after && isAfter(after, sort);
  const all = after?.isFinished ? [] : await board.tasks({ ...filter, finished: false, order: 'urgent' });
  const following = sorted(isNext ? all.filter(isNext) : all, sort);
  const live = following.slice(0, limit);
  const { finished, isCut, hasOlder } = await loadFinished(board, filter, order, limit - live.length);
  const hasNext = isCut || live.length < following.length;
  const last = finished.at(-1) ?? live.at(-1);
  return {
    live,
    finished,
    liveCount: all.length,
    hasMore: hasNext || hasOlder,
    cursor: hasNext && last ? cursorText(last, sort) : null,
    isFiltered: Object.keys(filter).length > 0,
    facts: await loadFacts(access, context, live),
    findings: loadFindings(access.here),
    at: context.clock.now(),
  };
}

/** `isCut`: the next page has more of them. `hasOlder`: only a list of all finished tasks has the rest. */
async function loadFinished(
  board: Board,
  filter: TaskFilter,
  { sort, recent = Infinity, after }: Order,
  room: number,
): Promise<{
  readonly finished: readonly TaskSummary[];
  readonly isCut: boolean;
  readonly hasOlder: boolean;
}> {
  // By another order, or after an earlier page, the first ones may be among the oldest.
  const isLatestFirst = (sort === 'updated' || sort === 'status') && !after?.isFinished;
  const most = Math.min(recent, isLatestFirst ? room : Infinity);
  const found = await board.tasks({
    ...filter,
    finished: true,
    order: 'recent',
    // One more than is shown tells whether there are more.
    ...(most !== Infinity && { limit: most + 1 }),
  });
  const shown = found.slice(0, most);
  const following = sorted(after ? shown.filter(isAfter(after, sort)) : shown, sort);
  const finished = following.slice(0, room);
  const isCut = finished.length < following.length || (most < recent && shown.length < found.length);
  return { finished, isCut, hasOlder: shown.length < found.length };
}
