import type { Context } from '../../board/context.ts';
import type { Board, TaskFilter } from '../../board/port.ts';
import { questionView } from '../../explain/question.ts';
import { mayHaveChanged, withStateNow } from '../../explain/state-now.ts';
import type { AgentName, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Finding } from '../../radar/rules/radar.ts';
import type { TaskStatus, TaskSummary } from '../../tasks/rules/task.ts';
import type { Access, CloneHere } from '../access.ts';
import { requirePlanId } from '../find.ts';
import { findingView } from '../views/radar-views.ts';
import { taskView } from '../views/views.ts';
import { type ListedFacts, NO_FACTS, loadFacts, loadFindings } from './list-facts.ts';

interface Input {
  readonly status?: readonly TaskStatus[] | undefined;
  readonly plan?: string | undefined;
  readonly agent?: string | undefined;
  /** All finished tasks, not only the latest. */
  readonly all?: boolean | undefined;
  readonly sort?: TaskOrder | undefined;
  readonly limit?: number | undefined;
}

export interface ListedTasks {
  readonly live: readonly TaskSummary[];
  readonly finished: readonly TaskSummary[];
  /** How many live tasks match, shown or not. */
  readonly liveCount: number;
  readonly hasMore: boolean;
  readonly isFiltered: boolean;
  readonly facts: ReadonlyMap<TaskId, ListedFacts>;
  readonly findings: (task: TaskId) => readonly Finding[];
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<ListedTasks> {
  return access.board(async (context) => {
    const filter = {
      ...(input.status && { statuses: input.status }),
      ...(input.plan && { plan: await requirePlanId(context.board, input.plan) }),
      ...(input.agent && { agent: input.agent as AgentName }),
    };
    const { sort = 'status', limit = Infinity, all = false } = input;
    const recent = all ? undefined : context.policy.list.recentlyFinished;
    const listed = await load(access.here, context, filter, { sort, limit, recent });
    return { ...listed, live: await withStatesNow(access, listed.live) };
  });
}

/** Git is opened only if a task needs it. */
async function withStatesNow(access: Access, live: readonly TaskSummary[]): Promise<readonly TaskSummary[]> {
  if (!live.some(mayHaveChanged)) return live;
  return access.look((context) => Promise.all(live.map((task) => withStateNow(context, task))));
}

export function view(listed: ListedTasks) {
  return { tasks: views(listed), hasMore: listed.hasMore };
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
}

async function load(
  here: CloneHere,
  context: Context,
  filter: TaskFilter,
  order: Order,
): Promise<ListedTasks> {
  const { board } = context;
  const all = await board.tasks({ ...filter, finished: false, order: 'urgent' });
  const live = sorted(all, order.sort).slice(0, order.limit);
  const { finished, hasMore } = await loadFinished(board, filter, order, order.limit - live.length);
  return {
    live,
    finished,
    liveCount: all.length,
    hasMore: hasMore || live.length < all.length,
    isFiltered: Object.keys(filter).length > 0,
    facts: await loadFacts(here, context, live),
    findings: loadFindings(here),
    at: context.clock.now(),
  };
}

async function loadFinished(board: Board, filter: TaskFilter, { sort, recent }: Order, room: number) {
  // By another order, the first ones may be among the oldest.
  const most = Math.min(recent ?? Infinity, sort === 'updated' || sort === 'status' ? room : Infinity);
  const found = await board.tasks({
    ...filter,
    finished: true,
    order: 'recent',
    // One more than is shown tells whether there are more.
    ...(most !== Infinity && { limit: most + 1 }),
  });
  const shown = found.slice(0, most);
  const finished = (sort === 'status' ? shown : sorted(shown, sort)).slice(0, room);
  return { finished, hasMore: finished.length < found.length };
}

/** Running tasks first, then tasks that need a person, then waiting ones. */
const ranks: Readonly<Record<TaskStatus, number>> = {
  in_progress: 1,
  landing: 2,
  stuck: 3,
  needs_attention: 4,
  failed: 5,
  in_review: 6,
  paused: 7,
  ready: 8,
  pending: 9,
  done: 10,
  cancelled: 10,
};

/** Equal ones stay as they came: the most urgent first. */
const sorts = {
  age: (a, b) => a.state.since - b.state.since,
  priority: (a, b) => b.priority - a.priority,
  status: (a, b) => ranks[a.state.status] - ranks[b.state.status],
  title: (a, b) => compared(a.title.toLowerCase(), b.title.toLowerCase()),
  updated: (a, b) => b.updatedAt - a.updatedAt,
} as const satisfies Readonly<Record<string, (a: TaskSummary, b: TaskSummary) => number>>;

export type TaskOrder = keyof typeof sorts;

export const taskOrders = Object.keys(sorts) as readonly TaskOrder[];

function sorted(tasks: readonly TaskSummary[], sort: TaskOrder): readonly TaskSummary[] {
  return tasks.toSorted(sorts[sort]);
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
