/**
 * Everything an agent in a sandbox has to be able to do, and everything it must not. Each is a line for the shell, tried by
 * one script: inside, where the first succeed and the others fail, and then outside, where all succeed, so that a line which
 * fails for a reason of its own is noticed.
 */

import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll } from 'vitest';

import { git, plainEnv } from '../cli.ts';
import { running } from './hiders.ts';
import { type Services, openServices } from './sandbox-services.ts';
import { CONNECT, type Column, FETCH, SEND, type Verdict, rowsOf } from './sandbox-rows.ts';

const modules = [
  fileURLToPath(new URL('../../agents/real/node_modules', import.meta.url)),
  fileURLToPath(new URL('../../../node_modules', import.meta.url)),
].find((folder) => existsSync(path.join(folder, '@anthropic-ai/sandbox-runtime/dist/cli.js')));

/** Why there is no sandbox to be tested here, or null. */
export const noSandbox: string | null = missing();

/** Set by `npm run test:agents`, which installs it: there a test of the sandbox that is skipped is a failure. */
export const requiresSandbox = process.env['COPSE_TEST_SANDBOX'] === 'required';

function missing(): string | null {
  if (process.platform !== 'linux') return 'the matrix is for Linux';
  if (modules === undefined) return 'sandbox-runtime is not installed: node scripts/install-packages.mjs';
  const programs = ['bwrap', 'socat', 'rg', 'tmux', 'ssh-agent'].filter((name) => !has(name));
  if (programs.length > 0)
    return `${programs.join(', ')} not found: apt install bubblewrap socat ripgrep tmux openssh-client`;
  try {
    execFileSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true'], { stdio: 'pipe' });
    return null;
  } catch {
    return 'this machine does not let bubblewrap make namespaces';
  }
}

function has(name: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.some((folder) => existsSync(path.join(folder, name)));
}

/** The folder in which sandbox-runtime is installed. */
function sandboxModules(): string {
  if (modules === undefined) throw new Error('sandbox-runtime is not installed.');
  return modules;
}

/** A PATH with a global installation of npm that has sandbox-runtime, as a person has it: outside of every repository. */
export function pathWithSandbox(place: string): string {
  const prefix = path.join(place, 'global');
  mkdirSync(path.join(prefix, 'bin'), { recursive: true });
  mkdirSync(path.join(prefix, 'lib'), { recursive: true });
  const modulesHere = path.join(prefix, 'lib', 'node_modules');
  if (!existsSync(modulesHere)) symlinkSync(sandboxModules(), modulesHere);
  return [path.join(prefix, 'bin'), process.env['PATH'] ?? ''].join(path.delimiter);
}

/** As `newArea`, but never in /dev/shm: a sandbox has a /dev of its own, and what is in the other is not there. */
export function newDiskArea(): string {
  const area = realpathSync(mkdtempSync(path.join(tmpdir(), 'copse dö 林 😀 ')));
  afterAll(() => rmSync(area, { recursive: true, force: true }));
  return area;
}

/** A PATH on which nothing is but git. */
export function onlyGit(area: string): string {
  const folder = path.join(area, 'only git');
  mkdirSync(folder, { recursive: true });
  const found = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((one) => path.join(one, 'git'))
    .find(existsSync);
  if (found === undefined) throw new Error('git cannot be found.');
  if (!existsSync(path.join(folder, 'git'))) symlinkSync(found, path.join(folder, 'git'));
  return folder;
}

/** What a program of this column may do, and what not. */
function columnOf(column: Column): {
  readonly forbidden: readonly string[];
  readonly allowed: readonly string[];
} {
  const those = (...verdicts: readonly Verdict[]) =>
    verdicts.flatMap((verdict) => rowsOf(column, verdict).map(({ does }) => does));
  return { forbidden: those('no'), allowed: those('masked', 'yes') };
}

export const matrix = {
  ...columnOf('attempt'),
  check: columnOf('check'),
  teardown: columnOf('teardown'),
};

let opened = 0;

/** What is around the repository, for the agent to reach for. */
export class Around {
  /** That of an attempt. */
  readonly script: string;
  readonly modelPort: number;
  readonly #main: string;
  readonly #place: string;
  readonly #services: Services;
  /** One process per column stays for so long, another time than those of a test before. */
  readonly #stays = 4_000_000 + process.pid * 1_000 + 10 * (opened += 1);

  private constructor(place: string, main: string, services: Services) {
    this.#main = main;
    this.#place = place;
    this.#services = services;
    this.modelPort = services.ports.model;
    this.script = this.scriptOf('attempt');
  }

  /** Beside a repository that has another worktree, and packed refs and objects. */
  static async open(place: string, main: string): Promise<Around> {
    mkdirSync(path.join(place, 'shared'), { recursive: true });
    git(main, 'worktree', 'add', '--quiet', '-b', 'cp-other/work', path.join(place, 'other'));
    writeFileSync(path.join(place, 'other', 'secret.txt'), 'secret\n');
    mkdirSync(path.join(main, '.worktrees', 'beside'), { recursive: true });
    writeFileSync(path.join(main, '.worktrees', 'beside', 'secret.txt'), 'secret\n');
    git(main, 'config', 'http.https://example.invalid/.extraheader', 'AUTHORIZATION: basic hidden-token');
    git(main, 'config', 'url.https://ada:hidden-token@example.invalid/.insteadOf', 'https://other.invalid/');
    git(main, 'repack', '-adq');
    git(main, 'pack-refs', '--all');
    // A folder that may be deleted.
    execFileSync('sh', ['-c', 'for i in .git/objects/pack/*.idx; do cp "$i" "$i.copy"; done'], { cwd: main });
    // An object that is not packed.
    writeFileSync(path.join(main, 'loose.txt'), 'loose\n');
    git(main, 'add', 'loose.txt');
    git(main, 'commit', '--quiet', '--message=chore: loose');
    return new Around(place, main, await openServices());
  }

  /** Tries all rows of the column, leaves a process, and prints what it could do. */
  scriptOf(column: Column): string {
    const script = path.join(this.#place, `try everything in ${column}.sh`);
    writeFileSync(script, this.#textOf(column));
    return script;
  }

  /** Processes that a program of this column left. */
  left(column: Column): readonly number[] {
    return running(String(this.#staysIn(column)));
  }

  #staysIn(column: Column): number {
    return this.#stays + ['attempt', 'check', 'teardown'].indexOf(column);
  }

  #textOf(column: Column): string {
    const { ports, sockets, witness, group } = this.#services;
    const variables = {
      MAIN: this.#main,
      COMMON: path.join(this.#main, '.git'),
      OTHER: path.join(this.#place, 'other'),
      SHARED: path.join(this.#place, 'shared'),
      NODE: process.execPath,
      CONNECT,
      FETCH,
      SEND,
      MODEL: String(ports.model),
      DATABASE: String(ports.database),
      ELSEWHERE: String(ports.elsewhere),
      DATAGRAMS: String(ports.datagrams),
      SOCKETS: sockets,
      WITNESS: String(witness.pid),
      GROUP: group ?? '/nowhere',
      STAYS: String(this.#staysIn(column)),
    };
    const probes = rowsIn(column).map(({ does, line }) => `probe ${quoted(does)} ${quoted(line)}`);
    return [
      ...Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`),
      // A teardown begins in a checkout of the base.
      'test -z "$COPSE_WORKTREE_PATH" || cd "$COPSE_WORKTREE_PATH"',
      'export OWN="$(git rev-parse --absolute-git-dir)"',
      // Git would record this for all worktrees; none may see it.
      'probe() { echo "# $1" >> .copse/probe.log; if sh -ec "$2" >> .copse/probe.log 2>&1; then echo "did $1"; else echo "could not $1"; fi >> .copse/tried.txt; }',
      'mkdir -p .copse; rm -f .copse/tried.txt .copse/probe.log',
      ...probes,
      // It ignores the signal that asks it to end.
      `(trap '' TERM HUP; setsid env -i sleep "$STAYS" < /dev/null > /dev/null 2>&1 &)`,
      'cat .copse/tried.txt',
      '',
    ].join('\n');
  }

  /** What was tried in this worktree, by whether it worked. */
  tried(worktree: string): Tried {
    return readTried(readFileSync(path.join(worktree, '.copse', 'tried.txt'), 'utf8'));
  }

  /** The same script in the same worktree, without a sandbox. The servers are in this process, so it must not wait idly. */
  async tryOutside(worktree: string, task: string, home: string): Promise<void> {
    // Those of the attempt are gone with it.
    writeFileSync(path.join(this.#main, '.copse', 'attempts', 'at-other.json'), '{}');
    const env = { ...plainEnv, HOME: home, COPSE_TASK_ID: task };
    const child = spawn('sh', [this.script], { cwd: worktree, env, stdio: 'ignore' });
    await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  }

  /** What a home has that no agent needs. */
  static furnishHome(home: string): void {
    for (const [folder, file] of [
      ['.ssh', 'id_ed25519'],
      ['.codex', 'auth.json'],
      ['', '.git-credentials'],
      ['', '.npmrc'],
      ['.cache/copse-teardown/other', 'secret.txt'],
      ['.cache/copse-serve', '127.0.0.1-4747.header'],
    ] as const) {
      mkdirSync(path.join(home, folder), { recursive: true, mode: 0o700 });
      writeFileSync(path.join(home, folder, file), 'secret\n');
    }
  }

  async close(): Promise<void> {
    for (const column of ['attempt', 'check', 'teardown'] as const)
      for (const pid of this.left(column)) process.kill(pid, 'SIGKILL');
    await this.#services.close();
  }
}

function rowsIn(column: Column) {
  return (['no', 'masked', 'yes'] as const).flatMap((verdict) => rowsOf(column, verdict));
}

export interface Tried {
  readonly did: readonly string[];
  readonly couldNot: readonly string[];
}

/** From what a script of `Around` prints, among other lines. */
export function readTried(text: string): Tried {
  const lines = text.split('\n');
  const those = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  return { did: those('did'), couldNot: those('could not') };
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
