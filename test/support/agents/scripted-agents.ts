/** Repositories in which each task has an agent that does exactly what a script says. */

import { chmodSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import { listPids } from '../../../packages/copse/src/processes/identity.ts';
import {
  type Finished,
  type RunOptions,
  answer,
  commitAsAgent,
  copse,
  git,
  newRepository,
  printed,
} from '../cli.ts';

export interface Shown {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly reason: string | null;
  readonly waiting: string | null;
  readonly retries: number;
  readonly worker: { readonly agent: string } | null;
}

/** Short times, so that a test waits for nothing but work. */
const quickPolicy = {
  first_backoff: '100ms',
  poll_interval: '300ms',
  min_free_memory: '64MB',
  max_agents: 4,
};

/** The folder's program is the same for all agents; what it does is in a file named for the task. */
const AGENT = `#!/bin/sh
commit() { printf '%s\\n' "\${3:-$1}" > "$2"; git add --all; git commit --quiet --message="feat: $1"; }
was_told() { grep --quiet "$1" .copse/session-prompt.md; }
note() { printf '%s\\n' "$*" >> "$NOTES"; }
NOTES="\${0%/*}/notes"
. "\${0%/*}/$COPSE_TASK_ID.sh"
`;

/** Runs agents until only a person can go on; what was printed. The exit code says whether a person is needed. */
export async function untilIdle(at: RunOptions, ...options: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await copse(['orchestrate', '--until-idle', ...options], at);
  const isForPerson = code === 5 && /^copse: .+ needs? you\.\n {2}→ copse status\n$/.test(stderr);
  expect({ code, stderr }).toEqual(isForPerson ? { code: 5, stderr } : { code: 0, stderr: '' });
  return stdout;
}

type Settings = Readonly<Record<string, unknown>>;

export class Scene {
  readonly folder: string;
  readonly scripts: string;
  readonly at: RunOptions;

  constructor(folder: string, scripts: string) {
    this.folder = folder;
    this.scripts = scripts;
    this.at = { cwd: folder };
  }

  /** What an agent noted with `note`. */
  get notes(): string {
    return path.join(this.scripts, 'notes');
  }

  /** A task, and what its agent does. */
  async add(title: string, script: string, ...options: readonly string[]): Promise<string> {
    const { id } = await answer<Shown>(['add', title, ...options], this.at);
    this.script(id, script);
    return id;
  }

  script(id: string, script: string): void {
    writeFileSync(path.join(this.scripts, `${id}.sh`), `${script}\n`);
  }

  /** Until nothing is left to do without a person; what was printed. */
  async up(...options: readonly string[]): Promise<string> {
    return untilIdle(this.at, ...options);
  }

  merge(...ids: readonly string[]): Promise<string> {
    return printed(['merge', ...ids], this.at);
  }

  async tasks(): Promise<ReadonlyMap<string, Shown>> {
    const { tasks } = await answer<{ tasks: readonly Shown[] }>(['list', '--all'], this.at);
    return new Map(tasks.map((task) => [task.id, task]));
  }

  /** Status by title, which is what tests talk about. */
  async statuses(): Promise<Readonly<Record<string, string>>> {
    const tasks = await this.tasks();
    return Object.fromEntries([...tasks.values()].map(({ title, status }) => [title, status]));
  }

  why(id: string): Promise<string> {
    return printed(['why', id], this.at);
  }

  git(...argv: readonly string[]): string {
    return git(this.folder, ...argv);
  }

  /** Subjects, oldest first. */
  subjects(ref = 'main'): readonly string[] {
    return this.git('log', '--first-parent', '--reverse', '--format=%s', ref).split('\n');
  }

  async events(): Promise<readonly { readonly type: string; readonly id: string }[]> {
    const { stdout } = await copse(['events', '--json'], this.at);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; id: string });
  }
}

export interface SceneOptions {
  /** Each gets the scripted program as its command, and what is given here. */
  readonly agents?: Readonly<Record<string, Settings>>;
  readonly policy?: Settings;
  /** Further sections of copse.yml. */
  readonly sections?: Settings;
}

let scenes = 0;

export function newScene(area: string, options: SceneOptions = {}): Scene {
  const folder = newRepository(area);
  scenes += 1;
  const scripts = path.join(area, `it's "scripts" ${scenes}`);
  mkdirSync(scripts);
  const program = path.join(scripts, 'agent');
  writeFileSync(program, AGENT);
  chmodSync(program, 0o755);
  const agents = Object.entries(options.agents ?? { plain: {} }).map(([name, settings]) => [
    name,
    { command: [program], ...settings },
  ]);
  const config = {
    agents: Object.fromEntries(agents) as Settings,
    policy: { ...quickPolicy, ...options.policy },
    ...options.sections,
  };
  // JSON is YAML.
  writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify(config, null, 2));
  writeFileSync(path.join(folder, 'a.txt'), '1\n2\n3\n');
  commitAsAgent(folder);
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message=chore: set up');
  return new Scene(folder, scripts);
}

/** Everything that runs in or for the repositories of an area, by pid. */
export function processesOf(area: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  return listPids().filter((pid) => {
    try {
      const isThere = readlinkSync(`/proc/${pid}/cwd`).startsWith(area);
      return isThere || readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`COPSE_REPO_ROOT=${area}`);
    } catch {
      // It has ended, or belongs to another user.
      return false;
    }
  });
}

/** For the end of a file: a test that failed halfway leaves agents running, and their runners. */
export function endAgents(area: string): void {
  for (const pid of processesOf(area)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** That a command was refused, and what it said. */
export async function refusedBy(argv: readonly string[], at: RunOptions): Promise<string> {
  const { code, stdout, stderr }: Finished = await copse(argv, at);
  expect({ argv, code, stdout }).toEqual({ argv, code: 4, stdout: '' });
  return stderr;
}
