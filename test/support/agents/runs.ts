/**
 * Whole runs: a repository, tasks, orchestrators as processes, their runners and scripted agents (runs-agent.sh), all of
 * them real, and ways to end them at any moment. What has to be true afterwards is in runs-checks.ts.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import { openWorkspaceContext } from '../../../packages/copse/src/compose/open.ts';
import type { BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import {
  type AttemptId,
  type EventNumber,
  type TaskId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { ProcessIdentity } from '../../../packages/copse/src/kernel/process.ts';
import type { Attempt } from '../../../packages/copse/src/tasks/rules/attempt.ts';
import { cliFile, git, nodeFlags, plainEnv, commitAsAgent } from '../cli.ts';
import { closeAtEnd } from '../close-at-end.ts';
import { must } from '../records/tasks.ts';

const agentFile = fileURLToPath(new URL('runs-agent.sh', import.meta.url));

/** What a run has left running is looked up in /proc. */
export const canSeeProcesses = process.platform === 'linux';

/** Every process of a run has this in its environment: orchestrators, runners, agents and all that they start. */
const MARK = 'RUN_OF_THE_TESTS';

export interface RunSettings {
  readonly policy?: Readonly<Record<string, string | number>>;
  /** Seconds between the steps of an agent. */
  readonly step?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const quickly = {
  first_backoff: '100ms',
  max_backoff: '200ms',
  lease: '3s',
  lease_renewal: '500ms',
  poll_interval: '300ms',
  min_free_memory: '50MB',
  min_free_disk: '50MB',
  max_agents: 4,
};

let runs = 0;

export class Run implements AsyncDisposable {
  readonly folder: string;
  /** What the agents say, outside of the repository. */
  readonly log: string;
  readonly context: WorkspaceContext;
  readonly orchestrators: Orchestrating[] = [];
  readonly env: Readonly<Record<string, string>>;
  readonly #mark: string;

  private constructor(
    folder: string,
    context: WorkspaceContext,
    of: { readonly log: string; readonly mark: string; readonly env: Readonly<Record<string, string>> },
  ) {
    this.folder = folder;
    this.context = context;
    this.log = of.log;
    this.#mark = of.mark;
    this.env = of.env;
  }

  static async open(area: string, settings: RunSettings = {}): Promise<Run> {
    runs += 1;
    const place = path.join(area, `run ${runs}`);
    const folder = path.join(place, 'the "répo"');
    const log = path.join(place, 'said.log');
    mkdirSync(folder, { recursive: true });
    git(folder, 'init', '--quiet', '--initial-branch=main');
    // Agents do not get the variables of git.
    commitAsAgent(folder);
    writeFileSync(path.join(folder, 'shared.txt'), 'as it was\n');
    writeFileSync(path.join(folder, 'copse.yml'), configuration(log, settings));
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '--message=first');
    return Run.around(folder, log, settings.env);
  }

  /** Of a repository that is there. */
  static async around(
    folder: string,
    log: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Run> {
    writeFileSync(log, '', { flag: 'a' });
    const mark = `${process.pid}-${(runs += 1)}`;
    const env = { ...plainEnv, ...more, [MARK]: mark };
    const run = new Run(folder, await openWorkspaceContext({ cwd: folder, env }), { log, mark, env });
    // A test whose time is over never gets to the end of its own.
    closeAtEnd(() => run.endAll());
    return run;
  }

  async add(...titles: readonly string[]): Promise<readonly TaskId[]> {
    const ids: TaskId[] = [];
    for (const title of titles) {
      ids.push(must(await addTask(this.context, { title })).id);
      // Tasks of one millisecond start in the order of their ids.
      await sleep(2);
    }
    return ids;
  }

  orchestrate(...options: readonly string[]): Orchestrating {
    const started = new Orchestrating(this.folder, this.env, options);
    this.orchestrators.push(started);
    return started;
  }

  /** The runners that live, by the attempts that the board has. */
  async runners(): Promise<readonly number[]> {
    const { board, occupancy } = this.context;
    const pids: number[] = [];
    for (const { end, process: runner } of await board.list('attempt'))
      if (end === null && runner !== null && (await occupancy.isAlive(runner))) pids.push(runner.pid);
    return pids;
  }

  /** The agents and all that they started and did not end. */
  agents(): readonly number[] {
    return this.processes().filter((pid) => /^COPSE_ATTEMPT_ID=/m.test(environmentOf(pid)));
  }

  /** Everything of this run that lives, git included, but not what this process itself started and only uses. */
  processes(): readonly number[] {
    return listPids().filter(
      (pid) =>
        environmentOf(pid).split('\n').includes(`${MARK}=${this.#mark}`) ||
        (folderOf(pid).startsWith(this.folder) && parentOf(pid) !== process.pid),
    );
  }

  /** The agents of `long` tasks have waited for this: all of them, or the one of an attempt. */
  go(attempt?: AttemptId): void {
    writeFileSync(attempt === undefined ? `${this.log}.go` : `${this.log}.${attempt}.go`, '');
  }

  /** The attempt that holds the task, once its runner has told who it is and its agent has written something. */
  async atWork(task: TaskId): Promise<Attempt & { readonly process: ProcessIdentity }> {
    for (;;) {
      const state = (await this.context.board.get('task', task))?.state;
      const id = state?.status === 'in_progress' ? state.claim.attempt : undefined;
      const attempt = id && (await this.context.board.get('attempt', id));
      const hasWritten = this.said().some((line) => line.startsWith(`wrote ${task} ${id}-`));
      if (attempt?.process && hasWritten) return { ...attempt, process: attempt.process };
      await sleep(50);
    }
  }

  /** The agent's own process, as it said. */
  agentOf(attempt: AttemptId): number | undefined {
    const line = this.said().find((one) => one.startsWith('began ') && one.includes(attempt));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  }

  said(): readonly string[] {
    return readFileSync(this.log, 'utf8').split('\n').slice(0, -1);
  }

  /** Waits until it is so; the test's time limit is the only one. */
  async until(what: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await what())) await sleep(50);
  }

  async countEvents(type: BoardEvent['type']): Promise<number> {
    const events = await this.context.board.events({ after: brand<EventNumber>(0), limit: 10_000 });
    return events.filter(({ event }) => event.type === type).length;
  }

  async statuses(): Promise<Readonly<Record<string, string>>> {
    const all = await this.context.board.tasks({ order: 'urgent' });
    return Object.fromEntries(all.map(({ title, state }) => [title, state.status]));
  }

  /** For a person who investigates a failed run. */
  async story(): Promise<string> {
    const events = await this.context.board.events({ after: brand<EventNumber>(0), limit: 10_000 });
    const logs = path.join(this.folder, '.copse', 'logs');
    const names = existsSync(logs) ? readdirSync(logs, { recursive: true, encoding: 'utf8' }) : [];
    return [
      ...events.map(({ number, by, event }) => `${number} ${by.kind} ${JSON.stringify(event)}`),
      ...this.said(),
      ...names
        .filter((name) => name.endsWith('.log'))
        .map((name) => `--- ${name}\n${readFileSync(path.join(logs, name), 'utf8')}`),
      ...this.orchestrators.map(({ printed }) => `--- orchestrator\n${printed}`),
    ].join('\n');
  }

  async endAll(): Promise<void> {
    for (let left = this.processes(); left.length > 0; left = this.processes()) {
      for (const pid of left) kill(pid, 'SIGKILL');
      await sleep(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endAll();
    await this.context.board.close();
  }
}

/** One `copse orchestrate`. */
export class Orchestrating {
  readonly ended: Promise<number | NodeJS.Signals | null>;
  printed = '';
  readonly #child: ChildProcess;

  constructor(folder: string, env: Readonly<Record<string, string>>, options: readonly string[]) {
    this.#child = spawn(process.execPath, [...nodeFlags, cliFile, 'orchestrate', ...options], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, as a terminal gives it to a command.
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.printed += text));
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => resolve(code ?? signal));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** As a terminal does it: everybody in the group gets the signal. */
  interrupt(): void {
    kill(-this.pid, 'SIGINT');
  }
}

/** One that is gone already is none of our business. */
export function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

function configuration(log: string, { policy, step }: RunSettings): string {
  const command = [agentFile, log, ...(step === undefined ? [] : [String(step)])];
  return [
    'agents:',
    '  scripted:',
    `    command: ${JSON.stringify(command)}`,
    `policy: ${JSON.stringify({ ...quickly, ...policy })}`,
    '',
  ].join('\n');
}

function listPids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && !isZombie(pid));
}

function isZombie(pid: number): boolean {
  return /\) [ZX] /.test(readOrNothing(`/proc/${pid}/stat`));
}

function parentOf(pid: number): number {
  const stat = readOrNothing(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function environmentOf(pid: number): string {
  return readOrNothing(`/proc/${pid}/environ`).replaceAll('\n', ' ').replaceAll('\0', '\n');
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
