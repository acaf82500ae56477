import { standingText, waitText } from '../../../explain/rules/queue.ts';
import { type OpenQuestion, openQuestionOf } from '../../../agents/act/answer.ts';
import type { Context } from '../../../board/context.ts';
import { configOf, requireRepository } from '../../../compose/open.ts';
import { openSight } from '../../../compose/radar-sight.ts';
import { loadQueues } from '../../../queue/act/view.ts';
import type { EntryState } from '../../../queue/rules/view/view.ts';
import { lastSighting } from '../../../radar/radar.ts';
import { type Finding, findingsOf } from '../../../radar/rules/radar.ts';
import { type TaskStatus, type TaskSummary, taskStatuses } from '../../../tasks/rules/task.ts';
import type { Board, TaskFilter } from '../../../board/port.ts';
import { findingView } from '../../../operations/views/radar-views.ts';
import { taskView } from '../../../operations/views/views.ts';
import type { AgentName, TaskId } from '../../../kernel/ids.ts';
import { fail } from '../../failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { questionLines, questionView } from '../../../explain/question.ts';
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
    const places = isLanding ? await loadPlaces(cli, context) : new Map<TaskId, QueuePlace>();
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
        const below = question ? questionLines(question, now).join('\n') : inQueue;
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
      cli.output.line(isFiltered ? 'No task matches.' : 'The board is empty. Add a task: copse add "…"');
    }
  });
}

interface Listed {
  readonly live: readonly TaskSummary[];
  readonly finished: readonly TaskSummary[];
  readonly hasMore: boolean;
}

/** Running tasks first, then tasks that need a person, then waiting ones, then finished ones. */
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

async function load(board: Board, filter: TaskFilter, finishedLimit: number | undefined): Promise<Listed> {
  const live = await board.tasks({ ...filter, finished: false, order: 'urgent' });
  const finished = await board.tasks({
    ...filter,
    finished: true,
    order: 'recent',
    // One more than is shown tells whether there are more.
    ...(finishedLimit !== undefined && { limit: finishedLimit + 1 }),
  });
  return {
    live: live.toSorted((a, b) => ranks[a.state.status] - ranks[b.state.status]),
    finished: finished.slice(0, finishedLimit),
    hasMore: finishedLimit !== undefined && finished.length > finishedLimit,
  };
}

interface QueuePlace {
  readonly position: number;
  readonly of: number;
  readonly state: EntryState;
  readonly why: string;
}

async function loadPlaces(cli: Cli, context: Context): Promise<ReadonlyMap<TaskId, QueuePlace>> {
  const { landing } = await configOf(requireRepository(cli));
  const queues = await loadQueues(context, landing);
  return new Map(
    queues.flatMap(({ entries }) =>
      entries.map(({ task, position, state, standing }) => [
        task,
        { position, of: entries.length, state, why: standingText(standing) },
      ]),
    ),
  );
}

function placeText(place: QueuePlace | undefined): string | null {
  return place === undefined ? null : `${place.position} of ${place.of} in the queue: ${place.why}`;
}

/** The latest result of the conflict radar, without a new comparison. */
function loadFindings(cli: Cli): (task: TaskId) => readonly Finding[] {
  const pairs = lastSighting(openSight(requireRepository(cli)))?.pairs ?? [];
  const involved = new Set(pairs.flatMap(({ tasks }) => tasks));
  return (task) => (involved.has(task) ? findingsOf(pairs, task) : []);
}

function requireStatus(text: string): TaskStatus {
  const status = taskStatuses.find((known) => known === text.toLowerCase());
  if (status) return status;
  return fail(
    'invalid',
    `--status must be one of ${taskStatuses.join(', ')}; "${text}" is not.`,
    'copse list --help',
  );
}
