/** Parts of the board, true at exactly one event number. The text of a number is kept for all clients. */

import type { Board, BoardReader } from '../board/port.ts';
import { cursorText } from '../board/rules/term.ts';
import type { EventNumber } from '../kernel/ids.ts';
import { dataView } from '../operations/views/data-view.ts';
import { taskView } from '../operations/views/views.ts';
import { isFinished } from '../tasks/rules/task.ts';

export interface BoardSnapshot {
  readonly at: number;
  readonly json: string;
}

type ReadParts = (board: BoardReader) => Promise<object>;

export class Snapshots {
  readonly #board: Board;
  readonly #parts: ReadParts;
  #last: (BoardSnapshot & { readonly term: number }) | undefined;
  #reading:
    | { readonly after: number; readonly term: number; readonly snapshot: Promise<BoardSnapshot> }
    | undefined;

  constructor(board: Board, parts: ReadParts) {
    this.#board = board;
    this.#parts = parts;
  }

  /**
   * Not older than the board is now. The same number of another term is another event. With a term from before the read, a
   * follower that goes on from its cursor hears of every later one.
   */
  async read(term: number): Promise<BoardSnapshot> {
    const now = await this.#board.lastEvent();
    if (this.#last?.at === now && this.#last.term === term) return this.#last;
    // A read that began at this number or later is as good for a second client.
    if (this.#reading === undefined || this.#reading.after < now || this.#reading.term !== term)
      this.#reading = { after: now, term, snapshot: this.#readNew(term) };
    const { snapshot } = this.#reading;
    try {
      return await snapshot;
    } finally {
      if (this.#reading?.snapshot === snapshot) this.#reading = undefined;
    }
  }

  async #readNew(term: number): Promise<BoardSnapshot> {
    this.#last = await this.#board.readAtOnce(async (board) => {
      const parts = await this.#parts(board);
      const at: EventNumber = await board.lastEvent();
      const cursor = cursorText({ term, number: at });
      return { at, term, json: `${JSON.stringify({ at, cursor, ...parts })}\n` };
    });
    return this.#last;
  }
}

/** For programs: tasks as `copse list --json` has them. */
export async function viewedTasks(board: BoardReader): Promise<object> {
  return { tasks: (await board.tasks({ order: 'urgent' })).map((task) => taskView(task)) };
}

/**
 * For clients that go on from here by events: records as events evolve them (board/rules/event.ts). Of sessions and landings,
 * those that may change; a client asks for others when it shows them. Tasks come without their bodies.
 */
export async function liveRecords(board: BoardReader): Promise<object> {
  const tasks = await board.tasks({ order: 'urgent' });
  const open = tasks.filter(({ state }) => !isFinished(state.status));
  const sessions = await board.some(
    'session',
    open.flatMap(({ session }) => session ?? []),
  );
  const records = {
    task: tasks,
    session: [...sessions.values()],
    landing: await board.openLandings(),
    queue: await board.list('queue'),
    plan: await board.list('plan'),
    node: await board.list('node'),
    schedule: await board.list('schedule'),
  };
  return { records: dataView(records) };
}
