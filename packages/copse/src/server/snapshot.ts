/** All tasks, true at exactly one event number. The text of a number is kept for all clients. */

import type { Board } from '../board/port.ts';
import { taskView } from '../operations/views/views.ts';

export interface TaskSnapshot {
  readonly at: number;
  readonly json: string;
}

export class Snapshots {
  readonly #board: Board;
  #last: TaskSnapshot | undefined;
  #reading: { readonly after: number; readonly snapshot: Promise<TaskSnapshot> } | undefined;

  constructor(board: Board) {
    this.#board = board;
  }

  /** Not older than the board is now. */
  async read(): Promise<TaskSnapshot> {
    const now = await this.#board.lastEvent();
    if (this.#last?.at === now) return this.#last;
    // A read that began at this number or later is as good for a second client.
    if (this.#reading === undefined || this.#reading.after < now)
      this.#reading = { after: now, snapshot: this.#readNew() };
    const { snapshot } = this.#reading;
    try {
      return await snapshot;
    } finally {
      if (this.#reading?.snapshot === snapshot) this.#reading = undefined;
    }
  }

  async #readNew(): Promise<TaskSnapshot> {
    this.#last = await this.#board.readAtOnce(async (board) => {
      const tasks = (await board.tasks({ order: 'urgent' })).map((task) => taskView(task));
      const at = await board.lastEvent();
      return { at, json: `${JSON.stringify({ at, tasks })}\n` };
    });
    return this.#last;
  }
}
