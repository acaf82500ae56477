/**
 * Gives a terminal back when its person has had no page open for a while. A take-over that is kept stays. A server that starts
 * watches those that it finds, because the server of their pages may have ended; while another one runs, they may have pages there.
 */

import { giveBackOnceClosed } from '../../agents/rules/session/typing.ts';
import type { BoardReader } from '../../board/port.ts';
import type { NodeId, SessionId, TaskId } from '../../kernel/ids.ts';

interface WatchOptions {
  readonly board: Pick<BoardReader, 'get' | 'tasks'>;
  readonly node: NodeId;
  readonly giveBack: (task: TaskId) => Promise<void>;
  readonly hasOtherServers: () => Promise<boolean>;
  readonly onProblem: (text: string) => void;
  readonly afterMs: number;
}

export class TakeOverWatch {
  readonly #options: WatchOptions;
  readonly #pages = new Map<SessionId, number>();
  /** Those whose pages this server had. */
  readonly #seen = new Set<SessionId>();
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();
  #beginning: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Again after a while if the board could not be read. */
  async begin(): Promise<void> {
    try {
      await this.#find();
    } catch (error) {
      if (this.#isClosed) return;
      const { afterMs, onProblem } = this.#options;
      onProblem(`Terminals to give back could not be looked for; retrying: ${String(error)}`);
      this.#beginning = setTimeout(() => void this.begin(), afterMs);
      this.#beginning.unref();
    }
  }

  async #find(): Promise<void> {
    const { board } = this.#options;
    for (const { state } of await board.tasks({ statuses: ['in_progress'], order: 'urgent' }))
      if (state.status === 'in_progress' && !this.#pages.has(state.claim.session))
        if ((await board.get('session', state.claim.session))?.takenOver !== undefined)
          this.#wait(state.claim.session);
  }

  opened(session: SessionId): void {
    this.#seen.add(session);
    this.#pages.set(session, (this.#pages.get(session) ?? 0) + 1);
    clearTimeout(this.#timers.get(session));
    this.#timers.delete(session);
  }

  closed(session: SessionId): void {
    const left = (this.#pages.get(session) ?? 1) - 1;
    if (left > 0) this.#pages.set(session, left);
    else {
      this.#pages.delete(session);
      this.#wait(session);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#beginning);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #wait(session: SessionId): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(session);
      this.#giveBack(session).catch((error: unknown) => {
        this.#options.onProblem(`A terminal could not be given back; retrying: ${String(error)}`);
        this.#wait(session);
      });
    }, this.#options.afterMs);
    timer.unref();
    this.#timers.set(session, timer);
  }

  async #giveBack(id: SessionId): Promise<void> {
    const { board, node, giveBack, hasOtherServers } = this.#options;
    if (!this.#seen.has(id) && (await hasOtherServers())) {
      this.#wait(id);
      return;
    }
    const session = await board.get('session', id);
    const task = session && (await board.get('task', session.task));
    if (task === undefined || !giveBackOnceClosed(task, session, node) || this.#pages.has(id)) return;
    await giveBack(task.id);
  }
}
