/**
 * Several clones of one bare remote, with one board on PostgreSQL: machines as the queue sees them, in one process. Each has a
 * node of its own, and a clock that a test sets apart from the others'.
 */

import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';

import { inject } from 'vitest';

import { type OpenRun, openRun } from '../../../packages/copse/src/compose/run/run.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { giveUpLanding } from '../../../packages/copse/src/queue/lead/hand-back.ts';
import type { LandingStep } from '../../../packages/copse/src/queue/lead/land.ts';
import { leadQueue } from '../../../packages/copse/src/queue/lead/lead-queue.ts';
import { LeadSilence, lead } from '../../../packages/copse/src/queue/lead/leadership.ts';
import { type QueueMemory, newQueueMemory } from '../../../packages/copse/src/queue/lead/memory.ts';
import { type BranchName, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { Policy } from '../../../packages/copse/src/kernel/policy.ts';
import { git, plainEnv } from '../../support/cli.ts';
import { commitOn } from '../../support/git/plain-commits.ts';
import { queueCommit } from '../../support/queue/queued.ts';

export const MAIN = brand<BranchName>('main');

export interface ClonesOptions {
  readonly count?: number;
  /** The section of copse.yml, besides `push`. */
  readonly landing?: Readonly<Record<string, unknown>>;
  readonly policy?: Partial<Policy['landing']>;
  readonly files?: Readonly<Record<string, string>>;
}

export class Clones implements AsyncDisposable {
  readonly bare: string;
  readonly board: string;
  readonly machines: readonly Clone[];

  constructor(area: string, name: string, options: ClonesOptions = {}) {
    const { count = 2, landing = {}, files = {} } = options;
    const folder = path.join(area, `${name} ü`);
    const first = path.join(folder, 'first');
    this.bare = path.join(folder, 'origin.git');
    mkdirSync(first, { recursive: true });
    git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', this.bare);
    git(first, 'init', '--quiet', '--initial-branch=main');
    const settings = JSON.stringify({ landing: { push: true, ...landing } });
    commitOn(first, 'main', {
      message: 'first',
      files: { 'copse.yml': settings, '.gitignore': '.copse/\n.worktrees/\n', ...files },
    });
    git(first, 'push', '--quiet', this.bare, 'main');
    this.board = `${inject('postgresUrl')}?schema=t_${randomBytes(6).toString('hex')}`;
    this.machines = Array.from({ length: count }, (_, at) => {
      const clone = path.join(folder, `machine ${at}`);
      git(folder, 'clone', '--quiet', this.bare, clone);
      git(clone, 'checkout', '--quiet', '--detach');
      return new Clone(clone, this, options.policy ?? {});
    });
  }

  /** A finished branch that every clone has, in the queue. */
  async queue(name: string): Promise<TaskId> {
    const [first] = this.machines;
    if (first === undefined) throw new Error('There is no clone');
    const head = commitOn(first.folder, name, { message: name, files: { [`${name}.txt`]: `${name}\n` } });
    git(first.folder, 'push', '--quiet', 'origin', `${head}:refs/heads/${name}`);
    for (const other of this.machines.slice(1)) git(other.folder, 'fetch', '--quiet', 'origin', name);
    return queueCommit(await first.open(), { title: name, head });
  }

  /** How often each task is on the target of the remote, by the trailers of its commits. */
  get landed(): readonly string[] {
    const format = '%(trailers:key=Task,valueonly,separator=%x2C)';
    const log = git(this.bare, 'log', '--reverse', `--format=${format}`, 'main');
    return log.split('\n').filter((line) => line !== '');
  }

  get tip(): string {
    return git(this.bare, 'rev-parse', 'main');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const machine of this.machines) await machine.close();
  }
}

export class Clone {
  readonly folder: string;
  /** Of its wall clock, and of its monotonic clock. */
  aheadMs = 0;
  elapsedAheadMs = 0;
  readonly silence = new LeadSilence();
  readonly #clones: Clones;
  readonly #policy: Partial<Policy['landing']>;
  #opened: OpenRun | undefined;

  constructor(folder: string, clones: Clones, policy: Partial<Policy['landing']>) {
    this.folder = folder;
    this.#clones = clones;
    this.#policy = policy;
  }

  async open(): Promise<RunContext> {
    const env = { ...plainEnv, COPSE_BOARD: this.#clones.board };
    const limited = (policy: Policy) => ({ ...policy, landing: { ...policy.landing, ...this.#policy } });
    this.#opened ??= await openRun({ cwd: this.folder, env }, { asNode: true, limited });
    const { context } = this.#opened;
    const { clock } = context;
    return {
      ...context,
      clock: {
        now: () => timestamp(clock.now() + this.aheadMs),
        elapsedMs: () => clock.elapsedMs() + this.elapsedAheadMs,
        sleep: (ms, signal) => clock.sleep(ms, signal),
      },
    };
  }

  /** Time passes, and it looks every 10 s who leads; not at the end of it. */
  async watch(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 10_000) {
      this.elapsedAheadMs += Math.min(leftMs, 10_000);
      if (leftMs > 10_000) await this.lead();
    }
  }

  /** Leads the queue until it is idle; undefined when another machine leads. */
  async lead(options: LeadOnce = {}): Promise<Led | undefined> {
    const base = await this.open();
    const context = options.changed?.(base) ?? base;
    const led: Led = { landed: [], blamed: [], notes: [] };
    const done = await lead(
      context,
      MAIN,
      (own) =>
        leadQueue(context, own, {
          memory: options.memory ?? newQueueMemory(context),
          signal: options.signal ?? new AbortController().signal,
          onLanded: ({ task }) => void led.landed.push(task),
          onRejected: async (landing, cause) => {
            led.blamed.push(landing.task);
            await giveUpLanding(context, landing, cause, own);
          },
          onNote: (note) => void led.notes.push(note),
          ...(options.onStep && { onStep: options.onStep }),
        }),
      { silence: this.silence, isKept: options.isKept ?? true },
    );
    return done && led;
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.close();
  }
}

interface LeadOnce {
  readonly memory?: QueueMemory;
  readonly isKept?: boolean;
  readonly signal?: AbortSignal;
  readonly onStep?: (step: LandingStep) => void;
  readonly changed?: (context: RunContext) => RunContext;
}

interface Led {
  readonly landed: TaskId[];
  readonly blamed: TaskId[];
  readonly notes: string[];
}
