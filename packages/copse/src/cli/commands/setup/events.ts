import { type EventTask, EventTasks } from '../../../explain/event-tasks.ts';
import { eventClause, isForPrograms } from '../../../explain/rules/event-sentences.ts';
import { waitText } from '../../../explain/rules/queue.ts';
import { followEvents } from '../../../board/follow.ts';
import type { RecordedEvent } from '../../../board/rules/event.ts';
import { type LostEvents, lostText } from '../../../board/rules/term.ts';
import { type EventNumber, brand } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import type { Context } from '../../../board/context.ts';
import { type Board, BoardAway } from '../../../board/port.ts';
import {
  MOST_EVENTS,
  act,
  beginEvents,
  eventLineView,
  requireCursor,
  taskOrDeleted,
  requireNumber,
} from '../../../operations/board/events.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { eventView } from '../../../operations/views/views.ts';
import { asJson } from '../../output.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { cutAtWords, widthOfText } from '../../screen/screen.ts';
import { columnsFor } from '../../screen/render.ts';
import { withBoard } from '../../with-board.ts';
import { waitForBoard } from '../../screen/wait-for-board.ts';

interface Options {
  readonly task?: string;
  readonly after?: string;
  readonly last?: string;
  readonly follow?: boolean;
  readonly raw?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const last =
    options.last === undefined ? undefined : requireNumber(options.last, '--last must be a number');
  if (options.follow) return follow(cli, options, last);
  await withAccess(cli, async (access) => {
    const print = await access.board(async ({ board }) => printer(cli, board, options));
    const of = { task: options.task, limit: MOST_EVENTS };
    let from: Parameters<typeof act>[1] = { after: options.after, last };
    for (;;) {
      const { events, lost, cursor, hasMore } = await act(access, { ...of, ...from });
      if (lost !== null) await tellLost(cli, lost, options);
      for (const recorded of events) await print(recorded, cursor.term);
      if (!hasMore) return;
      from = { after: `${cursor.term}:${cursor.number}` };
    }
  });
}

/** Until Ctrl+C; waits for a board whose server is away. */
async function follow(cli: Cli, options: Options, last: number | undefined): Promise<void> {
  const from = requireCursor(options.after);
  const waits = waitForBoard(cli);
  const following = withBoard(cli, tell, { patience: waits.patience });
  await following.finally(() => waits.end());

  async function tell({ board, policy }: Context): Promise<void> {
    const task = options.task === undefined ? undefined : await taskOrDeleted(board, options.task);
    const begin = await beginEvents(board, { from, task, last });
    if (begin.lost !== null) await tellLost(cli, begin.lost, options);
    let { term } = begin.cursor;
    const after = brand<EventNumber>(begin.cursor.number);
    const print = printer(cli, board, options);
    const { signal } = waits.stop;
    const onLost = async (lost: LostEvents) => {
      ({ term } = lost);
      await tellLost(cli, lost, options);
    };
    const events = followEvents(board, { after, term, task, signal, policy: policy.board, onLost });
    for await (const recorded of untilStopped(events, signal)) await print(recorded, term);
  }
}

function printer(cli: Cli, board: Board, options: Options) {
  const tasks = new EventTasks(board);
  return async (recorded: RecordedEvent, term: number): Promise<void> => {
    const isPlain = !options.raw && !options.json;
    const { event } = recorded;
    if (isPlain && isForPrograms(event)) return;
    const check = isPlain && event.type === 'check.ended' ? await board.get('check', event.id) : undefined;
    const line = isPlain
      ? sentence(cli, recorded, await tasks.of(event), check?.command)
      : eventLine(cli, recorded, term, options);
    await cli.output.raw(`${line}\n`);
  };
}

/** Ctrl+C during an outage is no failure. */
async function* untilStopped<T>(all: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    yield* all;
  } catch (error) {
    if (!(signal.aborted && error instanceof BoardAway)) throw error;
  }
}

/** `12 2026-11-30 10:15:02 cp-a1b2 Add a log-in page: codex started`. */
function sentence(
  { output }: Cli,
  recorded: RecordedEvent,
  task: EventTask | undefined,
  command: string | undefined,
): string {
  const { number, at } = eventView(recorded);
  const when = `${number} ${at.replace('T', ' ').slice(0, 19)}`;
  const clause = shown(`${eventClause(recorded.event, command)}${authorText(recorded, task)}`);
  const room = columnsFor(output) - when.length - 1;
  const about = task === undefined ? '' : aboutTask(task, room - widthOfText(clause));
  return `${output.style('dim', when)} ${cutAtWords(about + clause, room)}`;
}

/** The title gives way to the clause, down to this. */
const LEAST_TITLE = 16;

function aboutTask({ id, title }: EventTask, room: number): string {
  if (title === null) return `${id}: `;
  return `${id} ${cutAtWords(shown(title), Math.max(LEAST_TITLE, room - id.length - 3))}: `;
}

/** Only where it says something: agents and orchestrators record most events. */
function authorText({ by }: RecordedEvent, task: EventTask | undefined): string {
  if (by.kind !== 'person') return '';
  return by.name === null || task === undefined ? '' : ` (${by.name})`;
}

/** Scripts read it among the events. */
async function tellLost(cli: Cli, lost: LostEvents, { json }: Options): Promise<void> {
  if (json) await cli.output.raw(`${asJson({ lost })}\n`);
  else cli.output.note(lostText(lost));
}

function eventLine(cli: Cli, recorded: RecordedEvent, term: number, { json }: Options): string {
  const view = eventView(recorded);
  if (json) return asJson(eventLineView(recorded, term));
  const time = view.at.replace('T', ' ').slice(0, 19);
  const { event } = recorded;
  const detail = 'reason' in event && event.reason ? ` ${waitText(event.reason)}` : titleOf(recorded);
  return `${cli.output.style('dim', `${view.number} ${time}`)} ${view.type} ${view.id}${shown(detail)} ${cli.output.style('dim', shown(view.by))}`;
}

function titleOf({ event }: RecordedEvent): string {
  if (event.type === 'task.created') return ` ${event.definition.title}`;
  return 'title' in event && event.title ? ` ${event.title}` : '';
}
