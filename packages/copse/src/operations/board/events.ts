import { loadEnd } from '../../board/end.ts';
import { eventsSoFar } from '../../board/events-so-far.ts';
import type { Board } from '../../board/port.ts';
import type { RecordedEvent } from '../../board/rules/event.ts';
import { type Cursor, type LostEvents, beginAfter, moveOn, parseCursor } from '../../board/rules/term.ts';
import { type EventNumber, type TaskId, brand, isTaskIdPrefix, taskIdBeginning } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { requireTaskId } from '../find.ts';
import { eventView } from '../views/views.ts';

interface Input {
  /** Only events of this task. */
  readonly task?: string | undefined;
  /** A number of the present term, or `term:number`. */
  readonly after?: string | undefined;
  /** Only so many of the latest. */
  readonly last?: number | undefined;
  readonly limit?: number | undefined;
}

/** An event may have the whole text of a task. */
export const USUAL_EVENTS = 100;
export const MOST_EVENTS = 1_000;

interface EventsPage {
  readonly events: readonly RecordedEvent[];
  readonly lost: LostEvents | null;
  /** Where the next page begins. */
  readonly cursor: Cursor;
  readonly hasMore: boolean;
}

export async function act(
  access: Pick<Access, 'board'>,
  { limit = USUAL_EVENTS, ...input }: Input,
): Promise<EventsPage> {
  const from = requireCursor(input.after);
  return access.board(async ({ board }) => {
    const task = input.task === undefined ? undefined : await taskOrDeleted(board, input.task);
    const { cursor, lost } = await beginEvents(board, { from, task, last: input.last });
    const after = brand<EventNumber>(cursor.number);
    const { mostBytes } = defaultPolicy.eventPage;
    const { events, hasMore } = await board.eventPage({ after, limit, mostBytes, ...(task && { task }) });
    const number = events.at(-1)?.number ?? cursor.number;
    return { events, lost, cursor: { ...cursor, number }, hasMore };
  });
}

export function view({ events, lost, cursor, hasMore }: EventsPage) {
  return {
    events: events.map((recorded) => eventLineView(recorded, cursor.term)),
    lost,
    cursor: `${cursor.term}:${cursor.number}`,
    hasMore,
  };
}

/** A line of `copse events --json`. */
export function eventLineView(recorded: RecordedEvent, term: number) {
  return { cursor: `${term}:${recorded.number}`, ...eventView(recorded) };
}

/** The events of a deleted task stay: by its whole id, they are still found. */
export async function taskOrDeleted(board: Board, text: string): Promise<TaskId> {
  const whole = isTaskIdPrefix(text) ? brand<TaskId>(taskIdBeginning(text)) : undefined;
  const [known] = whole === undefined ? [] : await board.idsStartingWith('task', whole, 1);
  if (whole === undefined || known !== undefined) return requireTaskId(board, text);
  for await (const { event } of eventsSoFar(board, { after: brand<EventNumber>(0), task: whole }))
    if (event.type === 'task.created') return whole;
  return requireTaskId(board, text);
}

interface EventsFrom {
  readonly from: ReturnType<typeof requireCursor>;
  readonly task: TaskId | undefined;
  readonly last: number | undefined;
}

/** The cursor after which the wanted events begin. */
export async function beginEvents(
  board: Board,
  { from, task, last }: EventsFrom,
): Promise<{ readonly cursor: Cursor; readonly lost: LostEvents | null }> {
  const { cursor: end, terms } = await loadEnd(board);
  const begin = beginAfter(from, end);
  const { cursor, lost } = begin.lost === null ? moveOn(begin.cursor, terms) : begin;
  const latest = last === undefined ? 0 : await numberBefore(board, last, task);
  return { cursor: { ...cursor, number: Math.max(cursor.number, latest) }, lost };
}

/** The number after which exactly `count` events follow. */
async function numberBefore(board: Board, count: number, task: TaskId | undefined): Promise<number> {
  if (task === undefined) return Math.max(0, (await board.lastEvent()) - count);
  const numbers: number[] = [];
  for await (const { number } of eventsSoFar(board, { after: brand<EventNumber>(0), task }))
    numbers.push(number);
  return numbers.at(-count - 1) ?? 0;
}

/** A number of the present term, or `term:number` as `--json` prints it. */
export function requireCursor(text: string | undefined): {
  readonly term: number | undefined;
  readonly number: number;
} {
  if (text === undefined) return { term: undefined, number: 0 };
  const wanted = 'after must be an event number';
  return parseCursor(text) ?? fail('invalid', `${wanted}, not "${text}".`, 'copse events --help');
}

export function requireNumber(text: string, wanted: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return fail('invalid', `${wanted}, not "${text}".`, 'copse events --help');
}
