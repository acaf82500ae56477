/** What somebody who sees Copse for the first time is told about what just happened, besides the line that says it. */

import type { Pass } from '../orchestrator/orchestrate.ts';
import type { RunContext } from '../queue/context.ts';
import type { BoardEvent } from '../board/rules/event.ts';
import type { TaskId } from '../kernel/ids.ts';
import { answer } from './scenario.ts';

export class Narrator {
  readonly #context: Pick<RunContext, 'board' | 'rescues'>;
  readonly #told = new Set<string>();

  constructor(context: Pick<RunContext, 'board' | 'rescues'>) {
    this.#context = context;
  }

  async about(event: BoardEvent): Promise<string | undefined> {
    switch (event.type) {
      case 'task.crashed':
        return this.#aboutCrash(event.id);
      case 'task.handed_back':
        return event.because === 'conflict' ? this.#aboutConflict(event.id) : undefined;
      case 'task.stuck':
        return `It does not guess: its process has ended and its branch is kept. The demo answers for you: copse restart ${event.id} --answer "${answer}"`;
      case 'task.done':
        if (event.how === 'no_changes')
          return 'It read in the ledger that the task before it did this too. That is done, not failed.';
        return this.#once(
          'landed',
          'Checked, merged without a checkout, then main moved in one step. Its worktree and its branch go.',
        );
      default:
        return undefined;
    }
  }

  /** A task that waits for the area of another; nothing is recorded about that. */
  async aboutPass({ waiting }: Pass): Promise<string | undefined> {
    for (const { task: id, waiting: why } of waiting) {
      if (why.kind !== 'area') continue;
      const task = await this.#context.board.get('task', id);
      // What just landed may still look busy.
      if (task?.state.status !== 'ready' || task.dependsOn.includes(why.task)) continue;
      const [own, other] = why.areas;
      return this.#once(
        'area',
        `#${id} is ready and waits for #${why.task}: their areas (${own} and ${other}) overlap.`,
      );
    }
    return undefined;
  }

  async #aboutCrash(task: TaskId): Promise<string | undefined> {
    const { rescues } = this.#context;
    const rescue = (await rescues.list(task)).at(-1);
    if (rescue === undefined) return undefined;
    const files = (await rescues.changes(rescue)).map(({ path }) => path).join(', ');
    return `It had not committed ${files}. A snapshot of it is kept, and the file itself stays in the worktree for the next attempt.`;
  }

  async #aboutConflict(id: TaskId): Promise<string> {
    const task = await this.#context.board.get('task', id);
    const agent = task?.state.status === 'in_progress' ? task.state.claim.agent : 'Its agent';
    return `Seen in a trial merge, before main was touched. ${agent} hears which files, and what the other side meant, and goes on.`;
  }

  #once(key: string, text: string): string | undefined {
    if (this.#told.has(key)) return undefined;
    this.#told.add(key);
    return text;
  }
}
