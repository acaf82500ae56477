/** The repositories that an orchestrator works in: the board's own, and those that agents of copse.yml name. */

import type { BranchName, TaskId } from '../kernel/ids.ts';
import { type OtherRepositories, type RunContext, contextOf } from '../queue/context.ts';
import type { Landing } from '../queue/rules/landing.ts';
import { splitTarget, targetIn } from '../queue/rules/target-name.ts';

export class Repositories {
  readonly #context: RunContext;
  readonly #onNote: (reason: string) => void;

  constructor(context: RunContext, onNote: (reason: string) => void) {
    this.#context = context;
    this.#onNote = onNote;
  }

  /** Of every repository, with the names that the board gives to targets. */
  async landings(): Promise<readonly Landing[]> {
    const all = [...(await this.#context.board.openLandings())];
    for (const { root, board } of await this.#others())
      for (const landing of await board.openLandings())
        all.push({ ...landing, target: targetIn(root, landing.target) });
    return all;
  }

  /** Targets whose move was interrupted, with the names that the board gives to them. */
  async unsettledTargets(): Promise<readonly BranchName[]> {
    const all = [...this.#context.merging.unsettledTargets()];
    for (const { root, merging } of await this.#others())
      for (const target of merging.unsettledTargets()) all.push(targetIn(root, target));
    return all;
  }

  /** Folders of worktrees, by their names. */
  async worktreeNames(): Promise<readonly string[]> {
    const all = [this.#context, ...(await this.#others())];
    return all.flatMap(({ git }) => git.worktrees().map(({ name }) => name));
  }

  /** What works on the task, in its repository. */
  async of(task: TaskId): Promise<RunContext> {
    return contextOf(this.#context, await this.#context.board.get('task', task));
  }

  /** Null: the repository of the board. */
  async at(root: string | null): Promise<RunContext> {
    if (root === null) return this.#context;
    const { elsewhere } = this.#context;
    if (elsewhere === undefined) throw new Error(`This process does not work in ${root}`);
    return elsewhere.at(root);
  }

  /** The repository of a target, and the name that the target has there. */
  async ofTarget(named: BranchName): Promise<{
    readonly root: string | null;
    readonly context: RunContext;
    readonly target: BranchName;
  }> {
    const { root, branch: target } = splitTarget(named);
    return { root, context: await this.at(root), target };
  }

  /** Those that are there: one that is gone is reported, and keeps no other from being worked in. */
  async #others(): Promise<readonly RunContext[]> {
    const { elsewhere } = this.#context;
    const found: RunContext[] = [];
    for (const root of elsewhere?.roots ?? []) {
      try {
        found.push(await (elsewhere as OtherRepositories).at(root));
      } catch (error) {
        this.#onNote(error instanceof Error ? error.message : String(error));
      }
    }
    return found;
  }
}
