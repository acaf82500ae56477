/**
 * Several machines: clones of one bare remote on one PostgreSQL schema, each with real orchestrators, runners and scripted
 * agents. What the agents do is a shell script that the test gives; they say what they did in one log.
 */

import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { inject } from 'vitest';

import { openBoard } from '../../../packages/copse/src/board/open.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { Orchestrating, kill } from '../../support/agents/runs.ts';
import { type Finished, answer, copse, git, plainEnv, commitAsAgent } from '../../support/cli.ts';
import { closeAtEnd } from '../../support/close-at-end.ts';

export interface FleetSettings {
  /** The agent: a shell script with `say <word> <text>`, `commit <file>` and `until_told`. */
  readonly agent: string;
  /** More settings of the agent. */
  readonly worker?: Readonly<Record<string, unknown>>;
  readonly policy?: Readonly<Record<string, string | number>>;
  readonly landing?: Readonly<Record<string, unknown>>;
  readonly workspace?: Readonly<Record<string, unknown>>;
  /** Of the orchestrators. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another PostgreSQL than the one that the tests share. */
  readonly server?: string;
}

const quickly = {
  first_backoff: '100ms',
  max_backoff: '200ms',
  lease: '6s',
  lease_renewal: '1s',
  poll_interval: '300ms',
  snapshot_every: '1s',
  min_free_memory: '50MB',
  min_free_disk: '50MB',
};

const BEGINNING = `#!/bin/sh
log=$1
say() { printf '%s %s %s\\n' "$1" "$COPSE_TASK_ID" "$2" >>"$log"; }
commit() { git add -- "$1" && git commit --quiet --message "feat: $1" -- "$1" || exit 1; }
finish() { mkdir -p .copse && printf '{"status": "finished"}' >.copse/new.json && mv .copse/new.json .copse/session.json; }
until_told() { while [ ! -e "$log.go" ] && [ ! -e "$log.$COPSE_TASK_ID.go" ]; do sleep 0.3; done; }
say began "$PWD"
`;

const GIVES_UP_MS = 150_000;

let fleets = 0;

export class Fleet implements AsyncDisposable {
  readonly place: string;
  readonly remote: string;
  readonly log: string;
  readonly url: string;
  readonly board: Board;
  readonly machines: Machine[] = [];
  readonly #env: Readonly<Record<string, string>>;
  readonly #openedMs = performance.now();

  private constructor(place: string, url: string, board: Board, env: Readonly<Record<string, string>>) {
    this.#env = env;
    this.place = place;
    this.remote = path.join(place, 'remote ü.git');
    this.log = path.join(place, 'said.log');
    this.url = url;
    this.board = board;
  }

  static async open(area: string, count: number, settings: FleetSettings): Promise<Fleet> {
    fleets += 1;
    const place = path.join(area, `fleet ${fleets}`);
    mkdirSync(place);
    const url = `${(settings.server ?? inject('postgresUrl')).replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`;
    const board = await openBoard({ engine: 'postgres', url }, defaultPolicy, {
      id: `bo-${fleets}`,
      at: Date.now(),
    });
    const fleet = new Fleet(place, url, board, settings.env ?? {});
    writeFileSync(fleet.log, '');
    const script = path.join(place, 'agent.sh');
    writeFileSync(script, `${BEGINNING}${settings.agent}\n`);
    const seed = path.join(place, 'seed');
    git(place, 'init', '--quiet', '--initial-branch=main', seed);
    writeFileSync(path.join(seed, 'shared.txt'), 'as it was\n');
    writeFileSync(path.join(seed, 'copse.yml'), configuration(script, fleet.log, settings));
    git(seed, 'add', '--all');
    git(seed, 'commit', '--quiet', '--message=first');
    git(place, 'clone', '--quiet', '--bare', seed, fleet.remote);
    git(fleet.remote, 'config', 'core.logAllRefUpdates', 'true');
    for (let number = 1; number <= count; number += 1) fleet.join(`machine ${number}`);
    closeAtEnd(() => fleet.endAll());
    return fleet;
  }

  join(name: string, board = this.url): Machine {
    const folder = path.join(this.place, name);
    git(this.place, 'clone', '--quiet', this.remote, folder);
    // Agents do not get the variables of git.
    commitAsAgent(folder);
    const machine = new Machine(folder, board, this.#env);
    this.machines.push(machine);
    return machine;
  }

  machine(number: number): Machine {
    const found = this.machines[number - 1];
    if (found === undefined) throw new Error(`There is no machine ${number}`);
    return found;
  }

  /** Adds tasks through the first machine that is there. */
  async add(...titles: readonly string[]): Promise<readonly TaskId[]> {
    const there = this.machines.find(({ folder }) => existsSync(folder));
    const ids: TaskId[] = [];
    for (const title of titles) {
      const { id } = await answer<{ id: string }>(['add', title], { cwd: there!.folder, env: there!.env });
      ids.push(brand(id));
    }
    return ids;
  }

  said(): readonly string[] {
    return readFileSync(this.log, 'utf8').split('\n').slice(0, -1);
  }

  /** Lets agents go on that wait in `until_told`: all of them, or that of one task. */
  tell(task?: TaskId): void {
    writeFileSync(task === undefined ? `${this.log}.go` : `${this.log}.${task}.go`, '');
  }

  async status(task: TaskId): Promise<string | undefined> {
    return (await this.board.get('task', task))?.state.status;
  }

  /** Waits until it is so, and fails before the test's own time limit does: then the test can tell the story. */
  async until(what: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await what())) {
      if (performance.now() - this.#openedMs > GIVES_UP_MS)
        throw new Error(`It never was so: ${String(what)}`);
      await sleep(100);
    }
  }

  async untilDone(tasks: readonly TaskId[]): Promise<void> {
    await this.until(async () => {
      const found = await Promise.all(tasks.map((task) => this.status(task)));
      const bad = found.findIndex((status) => status === 'failed' || status === 'needs_attention');
      if (bad !== -1) throw new Error(`${tasks[bad]} is ${found[bad]}`);
      return found.every((status) => status === 'done');
    });
  }

  /** Refs of the remote with their tips. */
  refs(pattern = ''): ReadonlyMap<string, string> {
    const argv = ['for-each-ref', '--format=%(objectname) %(refname)', ...(pattern === '' ? [] : [pattern])];
    const lines = git(this.remote, ...argv)
      .split('\n')
      .filter(Boolean);
    return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.split(' ')[0]!]));
  }

  /** The remote is away until `back` is called. */
  away(): { back(): void } {
    const hidden = `${this.remote} hidden`;
    renameSync(this.remote, hidden);
    return { back: () => renameSync(hidden, this.remote) };
  }

  /** For a person who investigates a failed run. */
  story(): string {
    return [
      ...this.said(),
      `Refs of the remote: ${[...this.refs().keys()].join(' ')}`,
      ...this.machines
        .filter(({ folder }) => existsSync(folder))
        .map((one) => `Left in ${one.folder}: ${one.leftBehind().join(' ')}`),
      ...this.machines.flatMap((one) =>
        one.orchestrators.map(({ printed }) => `--- ${one.folder}\n${printed}`),
      ),
    ].join('\n');
  }

  async endAll(): Promise<void> {
    for (const machine of this.machines) await machine.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endAll();
    await this.board.close();
  }
}

export class Machine {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly orchestrators: Orchestrating[] = [];

  readonly #more: Readonly<Record<string, string>>;

  constructor(folder: string, board: string, more: Readonly<Record<string, string>>) {
    this.#more = more;
    this.folder = folder;
    this.env = { COPSE_BOARD: board };
  }

  start(...options: readonly string[]): Orchestrating {
    const started = new Orchestrating(this.folder, { ...plainEnv, ...this.#more, ...this.env }, options);
    this.orchestrators.push(started);
    return started;
  }

  copse(...argv: readonly string[]): Promise<Finished> {
    return copse(argv, { cwd: this.folder, env: this.env });
  }

  /** Everything that this machine runs, with SIGKILL. */
  async kill(): Promise<void> {
    for (const orchestrator of this.orchestrators) orchestrator.signal('SIGKILL');
    for (let left = processesOf(this.folder); left.length > 0; left = processesOf(this.folder)) {
      for (const pid of left) kill(pid, 'SIGKILL');
      await sleep(20);
    }
  }

  /** Everything that this machine runs. */
  processes(): readonly number[] {
    return processesOf(this.folder);
  }

  /** Killed, with its clone deleted. */
  async lose(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  git(...argv: readonly string[]): string {
    return git(this.folder, ...argv);
  }

  /** Folders of worktrees, and branches besides main. */
  leftBehind(): readonly string[] {
    const worktrees = this.git('worktree', 'list', '--porcelain')
      .split('\n')
      .filter((line) => line.startsWith('worktree ') && line.includes('/cp-'));
    const branches = this.git('for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/copse/work')
      .split('\n')
      .filter((ref) => ref !== '' && ref !== 'refs/heads/main');
    return [...worktrees, ...branches];
  }
}

/** Processes in a clone, or started for it, without those that this process started and only uses. */
function processesOf(folder: string): readonly number[] {
  const own = String(process.pid);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== own)
    .filter((pid) => {
      try {
        const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
        const stat = read('stat')
          .replace(/^.*\) /s, '')
          .split(' ');
        if (stat[0] === 'Z' || stat[1] === own) return false;
        const traces = [read('cmdline'), read('environ'), readlinkSync(`/proc/${pid}/cwd`)];
        return traces.some((text) => text.includes(`${folder}/`) || text.endsWith(folder));
      } catch {
        // Gone, or another user's.
        return false;
      }
    })
    .map(Number);
}

function configuration(
  script: string,
  log: string,
  { worker = {}, policy = {}, landing = {}, workspace = {} }: FleetSettings,
): string {
  const sections = {
    agents: { worker: { command: ['sh', script, log], ...worker } },
    policy: { ...quickly, ...policy },
    landing: { push: true, ...landing },
    workspace: { pool: 0, ...workspace },
  };
  return `${JSON.stringify(sections, null, 2)}\n`;
}
