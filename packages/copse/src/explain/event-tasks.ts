/** Finds the task that an event is about, and its title. Remembers both, because a board has many events of few tasks. */

import type { BoardReader } from '../board/port.ts';
import type { BoardEvent } from '../board/rules/event.ts';
import { kindOf } from '../board/rules/event.ts';
import type { TaskId } from '../kernel/ids.ts';

export interface EventTask {
  readonly id: TaskId;
  /** Null when it is not known: the task was deleted, and its first event was not read. */
  readonly title: string | null;
}

export class EventTasks {
  readonly #board: BoardReader;
  readonly #tasks = new Map<string, TaskId | null>();
  readonly #titles = new Map<TaskId, string | null>();

  constructor(board: BoardReader) {
    this.#board = board;
  }

  /** Undefined for events of plans, queues, machines and the like. */
  async of(event: BoardEvent): Promise<EventTask | undefined> {
    const id = await this.#taskOf(event);
    if (id === null) return undefined;
    if (event.type === 'task.created') this.#titles.set(id, event.definition.title);
    if (event.type === 'task.edited' && event.changes.title) this.#titles.set(id, event.changes.title);
    if (!this.#titles.has(id)) this.#titles.set(id, (await this.#board.get('task', id))?.title ?? null);
    return { id, title: this.#titles.get(id) ?? null };
  }

  async #taskOf(event: BoardEvent): Promise<TaskId | null> {
    const kind = kindOf(event);
    if (kind === 'task') return event.id as TaskId;
    // It outlives its runs.
    if (kind === 'schedule') return null;
    if ('task' in event) this.#tasks.set(event.id, event.task);
    const known = this.#tasks.get(event.id);
    if (known !== undefined) return known;
    const hasTask = kind === 'session' || kind === 'attempt' || kind === 'workspace' || kind === 'landing';
    const task = hasTask ? ((await this.#board.get(kind, event.id))?.task ?? null) : null;
    this.#tasks.set(event.id, task);
    return task;
  }
}
