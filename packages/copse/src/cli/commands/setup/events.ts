import { type EventTask, EventTasks } from '../../../explain/event-tasks.ts';
import { eventClause } from '../../../explain/rules/event-sentences.ts';
import { waitText } from '../../../explain/rules/queue.ts';
import { eventsSoFar } from '../../../board/events-so-far.ts';
import { followEvents } from '../../../board/follow.ts';
import type { RecordedEvent } from '../../../board/rules/event.ts';
import { type LostEvents, lostText, moveOn } from '../../../board/rules/term.ts';
import {
  type EventNumber,
  type TaskId,
  brand,
  isTaskIdPrefix,
  taskIdBeginning,
} from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import type { Context } from '../../../board/context.ts';
import { type Board, BoardAway } from '../../../board/port.ts';
import { eventView } from '../../../operations/views/views.ts';
import { fail } from '../../../operations/failure.ts';
import { asJson } from '../../output.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { cutAtWords, widthOfText } from '../../screen/screen.ts';
import { columnsFor } from '../../screen/render.ts';
import { requireTaskId } from '../../../operations/find.ts';
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
  const from = options.after === undefined ? undefined : requireCursor(options.after);
  const waits = options.follow ? waitForBoard(cli) : undefined;
  const following = withBoard(cli, tell, waits && { patience: waits.patience });
  await following.finally(() => waits?.end());

  async function tell({ board, policy }: Context): Promise<void> {
    const task = options.task === undefined ? undefined : await taskOrDeleted(board, options.task);
    const terms = await board.terms();
    const cursor = { term: from?.term ?? terms.at(-1)?.term ?? 1, number: from?.number ?? 0 };
    const begin = moveOn(cursor, terms);
    const onLost = (lost: LostEvents) => tellLost(cli, lost, options);
    if (begin.lost !== null) await onLost(begin.lost);
    let { term } = begin.cursor;
    const { number } = begin.cursor;
    const after = brand<EventNumber>(
      Math.max(number, last === undefined ? 0 : await numberBefore(board, last, task)),
    );
    const tasks = new EventTasks(board);
    const print = async (recorded: RecordedEvent) => {
      const isPlain = !options.raw && !options.json;
      const line = isPlain
        ? sentence(cli, recorded, await tasks.of(recorded.event))
        : eventLine(cli, recorded, term, options);
      await cli.output.raw(`${line}\n`);
    };
    if (waits !== undefined) {
      const { signal } = waits.stop;
      const follow = {
        after,
        term,
        task,
        signal,
        policy: policy.board,
        async onLost(lost: LostEvents) {
          ({ term } = lost);
          await onLost(lost);
        },
      };
      for await (const recorded of untilStopped(followEvents(board, follow), signal)) await print(recorded);
      return;
    }
    for await (const recorded of eventsSoFar(board, { after, ...(task && { task }) })) await print(recorded);
  }
}

/** Ctrl+C during an outage is no failure. */
async function* untilStopped<T>(all: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    yield* all;
  } catch (error) {
    if (!(signal.aborted && error instanceof BoardAway)) throw error;
  }
}

/** The number after which exactly `count` events follow. */
/** The events of a deleted task stay: by its whole id, they are still found. */
async function taskOrDeleted(board: Board, text: string): Promise<TaskId> {
  const whole = isTaskIdPrefix(text) ? brand<TaskId>(taskIdBeginning(text)) : undefined;
  const [known] = whole === undefined ? [] : await board.idsStartingWith('task', whole, 1);
  if (whole === undefined || known !== undefined) return requireTaskId(board, text);
  for await (const { event } of eventsSoFar(board, { after: brand<EventNumber>(0), task: whole }))
    if (event.type === 'task.created') return whole;
  return requireTaskId(board, text);
}

async function numberBefore(board: Board, count: number, task: TaskId | undefined): Promise<number> {
  if (task === undefined) return Math.max(0, (await board.lastEvent()) - count);
  const numbers: number[] = [];
  for await (const { number } of eventsSoFar(board, { after: brand<EventNumber>(0), task }))
    numbers.push(number);
  return numbers.at(-count - 1) ?? 0;
}

/** `12 2026-11-30 10:15:02 cp-a1b2 Add a log-in page: codex started`. */
function sentence({ output }: Cli, recorded: RecordedEvent, task: EventTask | undefined): string {
  const { number, at } = eventView(recorded);
  const when = `${number} ${at.replace('T', ' ').slice(0, 19)}`;
  const clause = shown(`${eventClause(recorded.event)}${authorText(recorded, task)}`);
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
  if (json) return asJson({ cursor: `${term}:${view.number}`, ...view });
  const time = view.at.replace('T', ' ').slice(0, 19);
  const { event } = recorded;
  const detail = 'reason' in event && event.reason ? ` ${waitText(event.reason)}` : titleOf(recorded);
  return `${cli.output.style('dim', `${view.number} ${time}`)} ${view.type} ${view.id}${shown(detail)} ${cli.output.style('dim', shown(view.by))}`;
}

function titleOf({ event }: RecordedEvent): string {
  if (event.type === 'task.created') return ` ${event.definition.title}`;
  return 'title' in event && event.title ? ` ${event.title}` : '';
}

/** A number of the present term, or `term:number` as `--json` prints it. */
function requireCursor(text: string): { readonly term: number | undefined; readonly number: number } {
  const [number = '', term] = text.split(':').toReversed();
  const wanted = '--after must be an event number';
  return {
    term: term === undefined ? undefined : requireNumber(term, wanted),
    number: requireNumber(number, wanted),
  };
}

function requireNumber(text: string, wanted: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return fail('invalid', `${wanted}, not "${text}".`, 'copse events --help');
}
