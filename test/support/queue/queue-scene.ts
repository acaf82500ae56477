/**
 * A repository with a queue whose checks tell what they saw: every tree that a check looked at is in a log outside, with its
 * verdict and its files. Branches are made by plain git, and what landed is looked at by plain git.
 *
 * The check is a script of the tree. It is red when a file of the tree is called `bad…` or `broken`, and when two files called
 * `left…` and `right…` are there together; with a file `endless…` it never ends. What else can go wrong with it is said by files
 * beside the log (`Knob`).
 */

import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { giveUpLanding } from '../../../packages/copse/src/queue/lead/hand-back.ts';
import type { LandingStep } from '../../../packages/copse/src/queue/lead/land.ts';
import type { LandedTask } from '../../../packages/copse/src/queue/lead/record-landed.ts';
import { lead } from '../../../packages/copse/src/queue/lead/leadership.ts';
import { type QueueMemory, newQueueMemory } from '../../../packages/copse/src/queue/lead/memory.ts';
import { leadQueue } from '../../../packages/copse/src/queue/lead/lead-queue.ts';
import type { QueueCause } from '../../../packages/copse/src/queue/rules/hand-back.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { type OpenRun, openRun } from '../../../packages/copse/src/compose/run/run.ts';
import type { BoardEvent, EventType } from '../../../packages/copse/src/board/rules/event.ts';
import { type BranchName, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { Landing } from '../../../packages/copse/src/queue/rules/landing.ts';
import { type MergeQueue, newQueue } from '../../../packages/copse/src/queue/rules/merge-queue.ts';
import type { Policy } from '../../../packages/copse/src/kernel/policy.ts';
import type { Task } from '../../../packages/copse/src/tasks/rules/task.ts';
import { git, plainEnv } from '../cli.ts';
import { type BranchCommit, commitOn } from '../git/plain-commits.ts';
import { type QueuedBranch, queueCommit } from './queued.ts';

const CHECK = `#!/bin/sh
beside="$COPSE_TEST_BESIDE"
tree=$(git rev-parse 'HEAD^{tree}')
say() { printf '%s %s %s\\n' "$tree" "$1" "$(ls | tr '\\n' '/')" >>"$beside/checked"; }
echo "started $$" >>"$beside/started"
while [ -e "$beside/hold" ]; do sleep 0.05; done
endless() { while [ -d "$beside" ]; do sleep 0.1; done; exit 1; }
if mv "$beside/slow" "$beside/slow.$$" 2>/dev/null; then endless; fi
if [ -e "$beside/signal" ]; then kill -KILL $$; fi
if mv "$beside/flaky" "$beside/flaky.$$" 2>/dev/null; then say flaked; echo 'a flake'; exit 1; fi
case "$(ls)" in *endless*) endless ;; esac
case "$(ls)" in *bad*) say red; echo 'there is something bad'; exit 1 ;; esac
case "$(ls)" in *left*right*) say red; echo 'left and right clash'; exit 1 ;; esac
if [ -e broken ]; then say red; echo 'broken'; exit 1; fi
say green
`;

/** As long as it is there all checks wait, or are killed by the system; or the next one takes too long, or is red for no reason. */
type Knob = 'hold' | 'slow' | 'signal' | 'flaky';

interface SceneOptions {
  /** The section of copse.yml, besides the check. */
  readonly landing?: Readonly<Record<string, unknown>>;
  /** Of the check. */
  readonly check?: Readonly<Record<string, unknown>>;
  /** Where it is for us, and for others. */
  readonly remote?: { readonly bare: string; readonly address: string };
  /** Files of the first commit. */
  readonly files?: Readonly<Record<string, string>>;
  readonly policy?: Partial<Policy['landing']>;
}

interface Led {
  readonly landed: LandedTask[];
  readonly blamed: { readonly task: TaskId; readonly cause: QueueCause }[];
  readonly notes: string[];
}

interface LeadOptions {
  readonly signal?: AbortSignal;
  readonly onStep?: (step: LandingStep) => void;
  readonly memory?: QueueMemory;
  /** Done by somebody else before the first move of the target is tried. */
  readonly meanwhile?: () => Promise<void>;
}

export class QueueScene {
  readonly folder: string;
  readonly beside: string;
  readonly #policy: Partial<Policy['landing']>;
  #opened: OpenRun | undefined;

  constructor(area: string, name: string, options: SceneOptions = {}) {
    const { landing = {}, check = {}, remote, files = {}, policy = {} } = options;
    this.folder = path.join(area, name);
    this.beside = path.join(area, `${name} beside`);
    // What is tried again after a while in life is tried again at once here.
    this.#policy = { troubleFirstMs: 50, troubleMostMs: 200, pushAgainMs: 50, ...policy };
    mkdirSync(this.folder, { recursive: true });
    mkdirSync(this.beside);
    git(this.folder, 'init', '--quiet', '--initial-branch=main');
    const env = { COPSE_TEST_BESIDE: this.beside };
    const checks = { test: { command: 'sh check.sh', timeout: '60s', env, ...check } };
    const settings = { landing: { slots: 3, checks, ...landing } };
    this.commit('main', {
      message: 'first',
      files: {
        'copse.yml': JSON.stringify(settings, null, 2),
        'check.sh': CHECK,
        '.gitignore': '.copse/\n.worktrees/\n',
        ...files,
      },
    });
    // Nobody has the target checked out, unless a test says so.
    git(this.folder, 'checkout', '--quiet', '--detach', 'main');
    if (remote !== undefined) {
      git(this.folder, 'push', '--quiet', remote.bare, 'main');
      git(this.folder, 'remote', 'add', 'origin', remote.address);
    }
  }

  async open(): Promise<RunContext> {
    const limited = (policy: Policy) => ({ ...policy, landing: { ...policy.landing, ...this.#policy } });
    this.#opened ??= await openRun({ cwd: this.folder, env: plainEnv }, { asNode: true, limited });
    return this.#opened.context;
  }

  /** The same, on behalf of a person. */
  async asPerson(): Promise<RunContext> {
    return { ...(await this.open()), by: { kind: 'person', name: 'ada' } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.close();
  }

  // Work.

  /** One commit on a branch that begins at the target if it is new. */
  commit(branch: string, commit: BranchCommit): string {
    return commitOn(this.folder, branch, commit);
  }

  /** A branch of that name that adds a file of that name, or does something else, in the queue. */
  async queue(
    name: string,
    { commit, ...queued }: Partial<QueuedBranch> & { readonly commit?: Partial<BranchCommit> } = {},
  ): Promise<TaskId> {
    const usual = { files: { [`${name}.txt`]: `${name}\n` }, message: `feat: ${name}` };
    const head = queued.head ?? this.commit(name.replaceAll(' ', '-'), { ...usual, ...commit });
    return queueCommit(await this.open(), { title: name, ...queued, head });
  }

  // Leading.

  /** Leads the queue until nothing is left to do by itself, or the signal. */
  async lead(options: LeadOptions = {}): Promise<Led> {
    const led: Led = { landed: [], blamed: [], notes: [] };
    await this.#lead(led, options);
    return led;
  }

  /** Leads as an orchestrator does, again and again, as long as the work lasts. */
  async whileLed(work: (led: Led) => Promise<void>, options: LeadOptions = {}): Promise<Led> {
    const led: Led = { landed: [], blamed: [], notes: [] };
    const stopping = new AbortController();
    const memory = newQueueMemory(await this.open());
    const leading = (async () => {
      while (!stopping.signal.aborted) {
        await this.#lead(led, { ...options, memory, signal: stopping.signal });
        await sleep(20);
      }
    })();
    try {
      await Promise.race([work(led), leading]);
    } finally {
      stopping.abort();
      await leading;
    }
    return led;
  }

  async #lead(
    led: Led,
    { signal = new AbortController().signal, onStep, memory, meanwhile }: LeadOptions,
  ): Promise<void> {
    const context = withMeanwhile(await this.open(), meanwhile);
    await lead(context, MAIN, (lead) =>
      leadQueue(context, lead, {
        memory: memory ?? newQueueMemory(context),
        signal,
        onLanded: (one) => void led.landed.push(one),
        onRejected: async (landing, cause) => {
          led.blamed.push({ task: landing.task, cause });
          await giveUpLanding(context, landing, cause);
        },
        onNote: (note) => void led.notes.push(note),
        ...(onStep && { onStep }),
      }),
    );
  }

  // What the board says.

  async task(id: TaskId): Promise<Task> {
    const task = await (await this.open()).board.get('task', id);
    if (task === undefined) throw new Error(`There is no task ${id}`);
    return task;
  }

  async status(id: TaskId): Promise<string> {
    return (await this.task(id)).state.status;
  }

  async landing(id: TaskId): Promise<Landing | undefined> {
    return (await (await this.open()).board.openLandings()).find(({ task }) => task === id);
  }

  async merged(): Promise<MergeQueue> {
    return (await (await this.open()).board.get('queue', MAIN)) ?? newQueue(MAIN);
  }

  async events<T extends EventType>(
    ...types: readonly T[]
  ): Promise<readonly Extract<BoardEvent, { type: T }>[]> {
    const recorded = await (await this.open()).board.events({ after: 0 as never, types, limit: 10_000 });
    return recorded.map(({ event }) => event as Extract<BoardEvent, { type: T }>);
  }

  // What plain git says.

  get tip(): string {
    return this.headOf('main');
  }

  headOf(branch: string): string {
    return git(this.folder, 'rev-parse', branch);
  }

  /** Every tip that the target ever had, the oldest first. */
  get tips(): readonly string[] {
    return git(this.folder, 'reflog', 'show', '--format=%H', 'main').split('\n').toReversed();
  }

  treeOf(commit: string): string {
    return git(this.folder, 'rev-parse', `${commit}^{tree}`);
  }

  files(commit = 'main'): readonly string[] {
    return git(this.folder, 'ls-tree', '--name-only', '-z', commit)
      .split('\0')
      .filter((name) => name !== '');
  }

  /** The tasks by the trailers of the target's commits, in the order in which they landed. */
  get trailers(): readonly string[] {
    const format = '%(trailers:key=Task,valueonly,separator=%x2C)';
    const log = git(this.folder, 'log', '--first-parent', '--reverse', `--format=${format}`, 'main');
    return log.split('\n').filter((line) => line !== '');
  }

  // What the checks themselves saw.

  get seen(): readonly Seen[] {
    return linesOf(path.join(this.beside, 'checked')).map((line) => {
      const [tree = '', verdict = '', ...files] = line.split(' ');
      return {
        tree,
        verdict,
        files: files
          .join(' ')
          .split('/')
          .filter((name) => name !== ''),
      };
    });
  }

  get green(): ReadonlySet<string> {
    return new Set(this.seen.filter(({ verdict }) => verdict === 'green').map(({ tree }) => tree));
  }

  /** Processes of checks, in the order in which they began. */
  get started(): readonly number[] {
    return linesOf(path.join(this.beside, 'started')).map((line) => Number(line.split(' ')[1]));
  }

  knob(name: Knob): void {
    appendFileSync(path.join(this.beside, name), '');
  }

  release(name: Knob = 'hold'): void {
    rmSync(path.join(this.beside, name), { force: true });
  }
}

interface Seen {
  readonly tree: string;
  readonly verdict: string;
  readonly files: readonly string[];
}

const MAIN = brand<BranchName>('main');
const PATIENCE_MS = 150_000;

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`It did not come about: ${what}`);
    await sleep(20);
  }
}

function linesOf(file: string): readonly string[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
}

/** Something happens between the decision to land and its journal, once. */
function withMeanwhile(context: RunContext, meanwhile: LeadOptions['meanwhile']): RunContext {
  if (meanwhile === undefined) return context;
  const { merging } = context;
  let happened: Promise<void> | undefined;
  return {
    ...context,
    merging: {
      ...merging,
      async moveTarget(request) {
        happened ??= meanwhile();
        await happened;
        return merging.moveTarget(request);
      },
    },
  };
}
