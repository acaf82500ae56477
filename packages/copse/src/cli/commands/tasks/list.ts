import { waitText } from '../../../explain/rules/queue.ts';
import { type OpenQuestion, openQuestionOf } from '../../../agents/act/answer.ts';
import { type TaskStatus, type TaskSummary, taskStatuses } from '../../../tasks/rules/task.ts';
import type { Board, TaskQuery } from '../../../board/port.ts';
import { findingView } from '../../../operations/views/radar-views.ts';
import { taskView } from '../../../operations/views/views.ts';
import type { AgentName, TaskId } from '../../../kernel/ids.ts';
import { fail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';
import { loadFindings } from '../radar-here.ts';
import { questionLine, questionView } from '../../screen/question-text.ts';
import { type Place, loadPlaces, placeText } from '../queue-places.ts';
import { withCollisions } from '../../screen/radar-text.ts';
import { taskLine } from '../../screen/render.ts';
import { requirePlanId, withBoard } from '../../with-board.ts';

interface Options {
  readonly status?: readonly string[];
  readonly plan?: string;
  readonly agent?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const statuses = options.status?.map(requireStatus);
  await withBoard(cli, async (context) => {
    const { board, policy, clock } = context;
    const filter = {
      ...(statuses && { statuses }),
      ...(options.plan && { plan: await requirePlanId(board, options.plan) }),
      ...(options.agent && { agent: options.agent as AgentName }),
    };
    const listed = await load(board, filter, options.all ? undefined : policy.list.recentlyFinished);
    const { live, finished, hasMore } = listed;
    const isLanding = live.some(({ state }) => state.status === 'landing');
    const landings = isLanding ? await board.openLandings() : [];
    const waiting = new Map(
      landings.map((landing) => [landing.task, landing.waiting && waitText(landing.waiting)]),
    );
    const places = isLanding ? await loadPlaces(cli, context) : new Map<TaskId, Place>();
    const questions = new Map<TaskId, OpenQuestion>();
    for (const task of live) {
      if (task.state.status !== 'in_progress') continue;
      const question = await openQuestionOf(board, task);
      if (question) questions.set(task.id, question);
    }
    const findings = loadFindings(cli);
    if (options.json) {
      const view = (task: TaskSummary) => {
        const question = questions.get(task.id);
        return {
          ...taskView(task, waiting.get(task.id)),
          question: question ? questionView(question) : null,
          queue: places.get(task.id) ?? null,
          collisions: findings(task.id).map(findingView),
        };
      };
      cli.output.json({ tasks: [...live, ...finished].map(view), hasMore });
      return;
    }
    const now = clock.now();
    const section = (title: string, tasks: readonly TaskSummary[]) => {
      if (tasks.length === 0) return;
      cli.output.line(cli.output.style('bold', title));
      for (const task of tasks) {
        const question = questions.get(task.id);
        const inQueue = waiting.get(task.id) ?? placeText(places.get(task.id));
        const below = question ? questionLine(question, now) : inQueue;
        const line = taskLine(task, cli.output, now, below);
        cli.output.line(withCollisions(line, findings(task.id), cli.output));
      }
    };
    section(`Active (${live.length})`, live);
    if (live.length > 0 && finished.length > 0) cli.output.line();
    section(`Completed (${finished.length}${hasMore ? ', the latest' : ''})`, finished);
    if (hasMore) cli.output.line(cli.output.style('dim', 'All of them: copse list --all'));
    if (live.length + finished.length === 0) {
      const isFiltered = Object.keys(filter).length > 0;
      cli.output.line(isFiltered ? 'No task fits.' : 'The board is empty. Add the first task: copse add "…"');
    }
  });
}

interface Listed {
  readonly live: readonly TaskSummary[];
  readonly finished: readonly TaskSummary[];
  readonly hasMore: boolean;
}

/** Running work first, then what waits for a person, then what waits for its turn. */
const order: readonly TaskStatus[] = [
  'in_progress',
  'landing',
  'stuck',
  'needs_attention',
  'failed',
  'in_review',
  'paused',
  'ready',
  'pending',
];

async function load(
  board: Board,
  filter: Omit<TaskQuery, 'order'>,
  finishedLimit: number | undefined,
): Promise<Listed> {
  const live = await board.tasks({ ...filter, finished: false, order: 'urgent' });
  const finished = await board.tasks({
    ...filter,
    finished: true,
    order: 'recent',
    // One more than is shown tells whether there are more, without counting them.
    ...(finishedLimit !== undefined && { limit: finishedLimit + 1 }),
  });
  return {
    live: live.toSorted((a, b) => order.indexOf(a.state.status) - order.indexOf(b.state.status)),
    finished: finished.slice(0, finishedLimit),
    hasMore: finishedLimit !== undefined && finished.length > finishedLimit,
  };
}

function requireStatus(text: string): TaskStatus {
  const status = taskStatuses.find((known) => known === text.toLowerCase());
  if (status) return status;
  return fail(
    'invalid',
    `"${text}" is not a status; there are ${taskStatuses.join(', ')}.`,
    'copse list --help',
  );
}
