/**
 * Reads what is shown, again after each change of the board. A board that cannot be read is reported and tried again; the
 * screen keeps what was read last.
 */

import { type OpenLook, isOrchestrated, openLook } from '../../compose/look.ts';
import { boardMark, requireRepository } from '../../compose/open.ts';
import { loadOverview } from '../../explain/overview.ts';
import type { Overview } from '../../explain/rules/overview.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { LookContext } from '../../queue/context.ts';
import type { Cli } from '../invocation.ts';
import type { PausedTask } from './rows.ts';

export interface WatchFacts {
  readonly overview: Overview;
  readonly paused: readonly PausedTask[];
}

export interface FollowingOptions {
  onFacts(facts: WatchFacts): void;
  onProblem(reason: string): void;
}

/** Changes come in bursts: they are read together. */
const TOGETHER_MS = 100;
/** The last lines of agents change without the board. */
const WORKING_MS = 1_000;
const IDLE_MS = 5_000;
const TRY_AGAIN_MS = 1_000;

export class Following {
  readonly #cli: Cli;
  readonly #options: FollowingOptions;
  readonly #stop = new AbortController();
  #wake: () => void = () => {};
  #isWoken = false;
  #look: OpenLook | undefined;
  #hasRead = false;

  constructor(cli: Cli, options: FollowingOptions) {
    this.#cli = cli;
    this.#options = options;
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#follow();
      } catch (error) {
        if (this.#isStopped) return;
        // At the start it is the answer of the command, as everywhere.
        if (!this.#hasRead) throw error;
        this.#options.onProblem(reasonOf(error));
        await this.#sleep(TRY_AGAIN_MS);
      }
    }
  }

  stop(): void {
    this.#stop.abort();
    this.wake();
    // A server that is away does not keep the screen.
    this.#look?.close().catch(() => {});
  }

  /** Reads again soon. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #follow(): Promise<void> {
    const repository = requireRepository(this.#cli);
    const look = await openLook(this.#cli);
    this.#look = look;
    const mark = boardMark(repository);
    try {
      // The first read is not kept waiting by it.
      let subscription: { stop(): Promise<void> } | undefined;
      try {
        while (!this.#isStopped) {
          this.#isWoken = false;
          if (boardMark(repository) !== mark) return;
          const context = await look.context();
          const facts = await loadFacts(context, await isOrchestrated(this.#cli));
          this.#hasRead = true;
          if (this.#isStopped) return;
          this.#options.onFacts(facts);
          subscription ??= await context.board.onChange(() => this.wake());
          await this.#pause(facts.overview.counts.in_progress > 0 ? WORKING_MS : IDLE_MS);
        }
      } finally {
        await subscription?.stop();
      }
    } finally {
      this.#look = undefined;
      if (!this.#isStopped) await look.close().catch(() => {});
    }
  }

  async #pause(longestMs: number): Promise<void> {
    await this.#sleep(TOGETHER_MS, { isUnwakeable: true });
    if (!this.#isWoken) await this.#sleep(longestMs);
  }

  #sleep(ms: number, { isUnwakeable = false } = {}): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isStopped) return resolve();
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (isUnwakeable && !this.#isStopped) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

async function loadFacts(context: LookContext, isOrchestrated: boolean): Promise<WatchFacts> {
  const overview = await loadOverview(context, { isOrchestrated });
  const paused = overview.counts.paused === 0 ? [] : await loadPaused(context);
  return { overview, paused };
}

async function loadPaused({ board }: LookContext): Promise<readonly PausedTask[]> {
  const tasks = await board.tasks({ statuses: ['paused'], order: 'urgent' });
  return tasks.map(({ id, title, state: { status, since } }) => ({ task: id, title, status, since }));
}

function reasonOf(error: unknown): string {
  if (error instanceof Unavailable) return `${error.message} ${error.remedy}`;
  return error instanceof Error ? error.message : String(error);
}
