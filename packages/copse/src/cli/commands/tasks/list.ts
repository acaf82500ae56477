import type { TaskId } from '../../../kernel/ids.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { fail } from '../../../operations/failure.ts';
import { NO_FACTS } from '../../../operations/overview/list-facts.ts';
import { type ListedTasks, act, view } from '../../../operations/overview/list.ts';
import { type TaskOrder, taskOrders } from '../../../operations/overview/list-order.ts';
import { type TaskStatus, type TaskSummary, taskStatuses } from '../../../tasks/rules/task.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { requireLimit } from '../limit.ts';
import { withCollisions } from '../../screen/radar-text.ts';
import { columnsFor, listLine } from '../../screen/render.ts';

interface Options {
  readonly status?: readonly string[];
  readonly plan?: string;
  readonly agent?: string;
  readonly all?: boolean;
  readonly sort?: string;
  readonly limit?: string;
  readonly cursor?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const { plan, agent, all, cursor } = options;
  const input = {
    status: options.status?.map(requireStatus),
    sort: requireSort(options.sort ?? 'status'),
    limit: requireLimit(options.limit, 'copse list --help'),
    plan,
    agent,
    all,
    cursor,
  };
  await withAccess(cli, async (access) => {
    if (options.watch) {
      const { watchLines } = await import('./list-watch.ts');
      const look = async () => lines(cli, await act(access, input));
      return access.board(({ board }) => watchLines(cli, board, look, options));
    }
    const listed = await act(access, input);
    if (options.json) cli.output.json(view(listed));
    else for (const line of lines(cli, listed)) cli.output.line(line);
  });
}

function lines(
  { output }: Cli,
  { live, liveCount, finished, hasMore, isFiltered, facts, findings, at }: ListedTasks,
): readonly string[] {
  if (live.length + finished.length === 0 && !hasMore)
    return [isFiltered ? 'No task matches.' : 'The board is empty. Add a task: copse add "…"'];
  const look = { output, now: at, columns: columnsFor(output) };
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
    ...(finished.length > 0 ? [bold(`Finished (${finished.length}${hasMore ? ', the latest' : ''})`)] : []),
    ...finished.map(line),
  ];
  return [
    ...printed,
    ...(firstCut && output.isTerminal ? [dim(`The whole reason: copse why ${firstCut}`)] : []),
    ...(hasMore
      ? [dim(isLimited ? 'Without a limit: copse list' : 'All finished tasks: copse list --all')]
      : []),
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

function requireSort(text: string): TaskOrder {
  const order = taskOrders.find((known) => known === text);
  if (order) return order;
  return fail(
    'invalid',
    `--sort must be one of ${taskOrders.join(', ')}, not "${text}".`,
    'copse list --help',
  );
}
