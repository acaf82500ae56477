/** Remarks for first-time viewers about the event that was just printed. */

import type { Pass } from '../orchestrator/orchestrate.ts';
import type { RunContext } from '../queue/context.ts';
import type { BoardEvent } from '../board/rules/event.ts';
import type { TaskId } from '../kernel/ids.ts';
import { answer } from './scenario.ts';

export class Narrator {
  readonly #context: Pick<RunContext, 'board' | 'rescues'>;
  readonly #answers: 'demo' | 'person';
  readonly #told = new Set<string>();
  /** Tasks whose last dependency is done, as far as the viewer was told. */
  readonly #promoted = new Set<TaskId>();

  constructor(context: Pick<RunContext, 'board' | 'rescues'>, answers: 'demo' | 'person') {
    this.#context = context;
    this.#answers = answers;
  }

  #whoAnswers(task: TaskId): string {
    const command = `copse restart ${task} --answer "${answer}"`;
    return this.#answers === 'demo'
      ? `The demo answers for you: ${command}`
      : `Answer it in the inbox of the dashboard, or here: ${command}`;
  }

  async about(event: BoardEvent): Promise<string | undefined> {
    switch (event.type) {
      case 'task.promoted':
        this.#promoted.add(event.id);
        return undefined;
      case 'task.crashed':
        return this.#aboutCrash(event.id);
      case 'task.handed_back':
        return event.because === 'conflict' ? this.#aboutConflict(event.id) : undefined;
      case 'task.stuck':
        return `The agent does not guess. Its process has ended, and its branch waits. ${this.#whoAnswers(event.id)}`;
      case 'task.done':
        if (event.how === 'no_changes')
          return 'The ledger of an earlier task says that this is already done. So the task is done, not failed.';
        return this.#once(
          'landed',
          'Copse merged it without a checkout, checked the result and moved main in one step. Then it removes the worktree and the branch.',
        );
      default:
        return undefined;
    }
  }

  /** A task that waits for the area of another, which is not recorded as an event. */
  async aboutPass({ waiting }: Pass): Promise<string | undefined> {
    for (const { task: id, waiting: why } of waiting) {
      if (why.kind !== 'area') continue;
      const task = await this.#context.board.get('task', id);
      // A task that just landed may still count as busy.
      if (task?.state.status !== 'ready' || task.dependsOn.includes(why.task)) continue;
      if (task.dependsOn.length > 0 && !this.#promoted.has(id)) continue;
      const [own, other] = why.areas;
      return this.#once(
        'area',
        `${id} is ready and waits for ${why.task}: their areas (${own} and ${other}) overlap.`,
      );
    }
    return undefined;
  }

  async #aboutCrash(task: TaskId): Promise<string | undefined> {
    const { rescues } = this.#context;
    const rescue = (await rescues.list(task)).at(-1);
    if (rescue === undefined) return undefined;
    const files = (await rescues.changes(rescue)).map(({ path }) => path).join(', ');
    return `It had not committed ${files}. Copse saved a snapshot, and the next attempt finds the file in the worktree.`;
  }

  async #aboutConflict(id: TaskId): Promise<string> {
    const task = await this.#context.board.get('task', id);
    const agent = task?.state.status === 'in_progress' ? task.state.claim.agent : 'Its agent';
    return `A trial merge found it before main changed. ${agent} is told the files and the other side’s changes, and continues.`;
  }

  #once(key: string, text: string): string | undefined {
    if (this.#told.has(key)) return undefined;
    this.#told.add(key);
    return text;
  }
}
