import type { Board, TaskFilter } from '../../../board/port.ts';
import type { Context } from '../../../board/context.ts';
import { questionView } from '../../../explain/question.ts';
import type { AgentName, TaskId } from '../../../kernel/ids.ts';
import { findingView } from '../../../operations/views/radar-views.ts';
import { taskView } from '../../../operations/views/views.ts';
import type { Finding } from '../../../radar/rules/radar.ts';
import { type TaskStatus, type TaskSummary, taskStatuses } from '../../../tasks/rules/task.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { withCollisions } from '../../screen/radar-text.ts';
import { columnsFor, listLine } from '../../screen/render.ts';
import { requirePlanId, withBoard } from '../../with-board.ts';
import { type ListedFacts, NO_FACTS, loadFacts, loadFindings } from './facts/list-facts.ts';

interface Options {
  readonly status?: readonly string[];
  readonly plan?: string;
  readonly agent?: string;
  readonly all?: boolean;
  readonly sort?: string;
  readonly limit?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const asked = { ...options, statuses: options.status?.map(requireStatus) };
  const order = { sort: requireSort(options.sort ?? 'status'), limit: requireLimit(options.limit) };
  await withBoard(cli, async (context) => {
    const { board, policy } = context;
    const filter = {
      ...(asked.statuses && { statuses: asked.statuses }),
      ...(options.plan && { plan: await requirePlanId(board, options.plan) }),
      ...(options.agent && { agent: options.agent as AgentName }),
    };
    const recent = options.all ? undefined : policy.list.recentlyFinished;
    const look = () => load(cli, context, filter, { ...order, recent });
    if (options.watch) {
      const { watchLines } = await import('./list-watch.ts');
      return watchLines(cli, board, async () => lines(cli, context, await look()), options);
    }
    const listed = await look();
    if (options.json) cli.output.json({ tasks: views(listed), hasMore: listed.hasMore });
    else
      for (const line of lines(cli, context, listed, Object.keys(filter).length > 0)) cli.output.line(line);
  });
}

interface Listed {
  readonly live: readonly TaskSummary[];
  readonly finished: readonly TaskSummary[];
  /** How many live tasks match, shown or not. */
  readonly liveCount: number;
  readonly hasMore: boolean;
  readonly facts: ReadonlyMap<TaskId, ListedFacts>;
  readonly findings: (task: TaskId) => readonly Finding[];
}

interface Order {
  readonly sort: Sort;
  readonly limit: number;
  /** How many finished tasks; undefined for all. */
  readonly recent: number | undefined;
}

async function load(cli: Cli, context: Context, filter: TaskFilter, order: Order): Promise<Listed> {
  const { board } = context;
  const all = await board.tasks({ ...filter, finished: false, order: 'urgent' });
  const live = sorted(all, order.sort).slice(0, order.limit);
  const { finished, hasMore } = await loadFinished(board, filter, order, order.limit - live.length);
  return {
    live,
    finished,
    liveCount: all.length,
    hasMore: hasMore || live.length < all.length,
    facts: await loadFacts(cli, context, live),
    findings: loadFindings(cli),
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
type Sort = keyof typeof sorts;

function sorted(tasks: readonly TaskSummary[], sort: Sort): readonly TaskSummary[] {
  return tasks.toSorted(sorts[sort]);
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function views({ live, finished, facts, findings }: Listed) {
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

function lines(
  { output }: Cli,
  { clock }: Context,
  { live, liveCount, finished, hasMore, facts, findings }: Listed,
  isFiltered = false,
): readonly string[] {
  if (live.length + finished.length === 0 && !hasMore)
    return [isFiltered ? 'No task matches.' : 'The board is empty. Add a task: copse add "…"'];
  const look = { output, now: clock.now(), columns: columnsFor(output) };
  let firstCut: TaskId | undefined;
  const line = (task: TaskSummary) => {
    const found = findings(task.id);
    const text = listLine(task, facts.get(task.id) ?? NO_FACTS, look, found.length > 0 ? MARK_WIDTH : 0);
    if (text.endsWith('…') && text.includes('\n')) firstCut ??= task.id;
    return withCollisions(text, found, output);
  };
  const bold = (text: string) => output.style('bold', text);
  const dim = (text: string) => output.style('dim', text);
  const isLimited = live.length < liveCount;
  const printed = [
    ...(live.length > 0 ? [bold(`Active (${isLimited ? `${live.length} of ` : ''}${liveCount})`)] : []),
    ...live.map(line),
    ...(live.length > 0 && finished.length > 0 ? [''] : []),
    ...(finished.length > 0 ? [bold(`Completed (${finished.length}${hasMore ? ', the latest' : ''})`)] : []),
    ...finished.map(line),
  ];
  return [
    ...printed,
    ...(firstCut && output.isTerminal ? [dim(`The whole reason: copse why ${firstCut}`)] : []),
    ...(hasMore ? [dim(isLimited ? 'More of them: copse list' : 'All of them: copse list --all')] : []),
  ];
}

/** Two spaces and ≠. */
const MARK_WIDTH = 3;

function requireStatus(text: string): TaskStatus {
  const status = taskStatuses.find((known) => known === text.toLowerCase());
  if (status) return status;
  return fail(
    'invalid',
    `--status must be one of ${taskStatuses.join(', ')}, not "${text}".`,
    'copse list --help',
  );
}

function requireSort(text: string): Sort {
  if (Object.hasOwn(sorts, text)) return text as Sort;
  return fail(
    'invalid',
    `--sort must be one of ${Object.keys(sorts).join(', ')}, not "${text}".`,
    'copse list --help',
  );
}

function requireLimit(text: string | undefined): number {
  if (text === undefined) return Infinity;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  return fail('invalid', `--limit must be a number of at least 1, not "${text}".`, 'copse list --help');
}
