/** Removes the snapshots of landed tasks from the remote, many in one push. A later pass repeats a push that failed. */

import type { TaskId } from '../kernel/ids.ts';
import type { RunContext } from '../queue/context.ts';
import { dropShared } from '../workspaces/discard/drop-shared.ts';
import type { Repositories } from './repositories.ts';

export class LandedSnapshots {
  readonly #context: RunContext;
  readonly #repositories: Repositories;
  readonly #onNote: (reason: string) => void;
  readonly #tasks = new Set<TaskId>();
  #dropping: Promise<void> | null = null;
  #failedMs: number | undefined;

  constructor(context: RunContext, repositories: Repositories, onNote: (reason: string) => void) {
    this.#context = context;
    this.#repositories = repositories;
    this.#onNote = onNote;
  }

  get isQuiet(): boolean {
    return this.#dropping === null;
  }

  async settle(): Promise<void> {
    await this.#dropping;
  }

  add(task: TaskId): void {
    this.#tasks.add(task);
    this.pass();
  }

  pass(): void {
    const { clock, policy } = this.#context;
    if (this.#dropping !== null || this.#tasks.size === 0) return;
    const { releaseAgainMs } = policy.orchestration;
    if (this.#failedMs !== undefined && clock.elapsedMs() - this.#failedMs < releaseAgainMs) return;
    this.#dropping = this.#drop([...this.#tasks])
      .catch((error: unknown) => {
        this.#failedMs = clock.elapsedMs();
        this.#onNote(error instanceof Error ? error.message : String(error));
      })
      .finally(() => {
        this.#dropping = null;
        this.pass();
      });
  }

  async #drop(tasks: readonly TaskId[]): Promise<void> {
    const places = new Map<RunContext, TaskId[]>();
    for (const task of tasks) {
      const context = await this.#repositories.of(task);
      places.set(context, [...(places.get(context) ?? []), task]);
    }
    this.#failedMs = undefined;
    for (const [context, some] of places) {
      const problem = await dropShared(context, some);
      if (problem !== null) {
        this.#failedMs = this.#context.clock.elapsedMs();
        this.#onNote(`Snapshots are still on the remote: ${problem}`);
      } else for (const task of some) this.#tasks.delete(task);
    }
  }
}
