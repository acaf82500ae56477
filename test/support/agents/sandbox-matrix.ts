/**
 * Everything an agent in a sandbox has to be able to do, and everything it must not. Each is a line for the shell, tried by
 * one script: inside, where the first succeed and the others fail, and then outside, where all succeed, so that a line which
 * fails for a reason of its own is noticed.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
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
import { type Server as HttpServer, createServer } from 'node:http';
import { type AddressInfo, type Server, createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll } from 'vitest';

import { git, plainEnv } from '../cli.ts';

const modules = [
  fileURLToPath(new URL('../../agents/real/node_modules', import.meta.url)),
  fileURLToPath(new URL('../../../node_modules', import.meta.url)),
].find((folder) => existsSync(path.join(folder, '@anthropic-ai/sandbox-runtime/dist/cli.js')));

/** Why there is no sandbox to be tested here, or null. */
export const noSandbox: string | null = missing();

function missing(): string | null {
  if (process.platform !== 'linux') return 'the matrix is for Linux';
  if (modules === undefined) return 'sandbox-runtime is not installed: node scripts/install-agents.mjs';
  const programs = ['bwrap', 'socat', 'rg'].filter((name) => !has(name));
  if (programs.length > 0) return `${programs.join(', ')} not found: apt install bubblewrap socat ripgrep`;
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

const forbidden: Readonly<Record<string, string>> = {
  'write a new file into the main checkout': 'echo x > "$MAIN/intruder.txt"',
  'change a file of the main checkout': 'echo x >> "$MAIN/tracked.txt"',
  'read another worktree': 'cat "$OTHER/secret.txt"',
  'read a worktree beside its own': 'cat "$MAIN/.worktrees/beside/secret.txt"',
  'move the branch of another task': 'git update-ref refs/heads/cp-other/work HEAD',
  'make a branch outside of its own folder': 'git branch intruder',
  'move the target': 'git update-ref refs/heads/main HEAD',
  'write the target’s ref by hand': 'git rev-parse HEAD > "$COMMON/refs/heads/main"',
  'rewrite the packed refs': 'cp "$COMMON/packed-refs" x && cp x "$COMMON/packed-refs"; rm -f x',
  'lock the packed refs': ': > "$COMMON/packed-refs.lock"; rm "$COMMON/packed-refs.lock"',
  'move HEAD of the main checkout': 'cp "$COMMON/HEAD" x; cp x "$COMMON/HEAD"; rm x',
  'make a tag': 'git tag intruder',
  'stash for everybody': 'git update-ref refs/stash HEAD',
  'change the repository’s configuration': 'git config --local copse.intruder yes',
  'put a hook into the repository': 'echo "exit 0" > "$COMMON/hooks/post-commit"',
  'configure its own worktree': 'echo "[a]" > "$OWN/config.worktree"',
  'make its worktree belong elsewhere': 'cp .git x; mv x .git',
  'make git look for the repository elsewhere': 'cp "$OWN/commondir" x; mv x "$OWN/commondir"',
  'unlock its worktree': 'cp "$OWN/locked" x; rm "$OWN/locked"; mv x "$OWN/locked"',
  'write what git keeps about another worktree': 'echo x > "$COMMON/worktrees/other/intruder"',
  'add a pack': 'echo x > "$COMMON/objects/pack/intruder"',
  'delete packs': 'rm "$COMMON/objects/pack/"*.idx.copy',
  'name another object store': ': > "$COMMON/objects/info/alternates"',
  'exchange the folder of its branches':
    'mv "$COMMON/refs/heads/$COPSE_TASK_ID" x; mv x "$COMMON/refs/heads/$COPSE_TASK_ID"',
  'read the board': 'head -c 16 "$MAIN/.copse/board.db"',
  'read the orders of an attempt': 'cat "$MAIN/.copse/attempts/"*.json',
  'read the logs of others': 'ls "$MAIN/.copse/logs"',
  'read the keys for ssh': 'cat "$HOME/.ssh/id_ed25519"',
  'read the passwords of git': 'cat "$HOME/.git-credentials"',
  'read another agent’s login': 'cat "$HOME/.codex/auth.json"',
  'exchange the copse that agents call': ': >> "$MAIN/.copse/bin/copse"',
  'write into the home folder': ': > "$HOME/intruder"',
  'write where all programs write temporary files': ': > "$SHARED/intruder"',
  'reach a server of this machine': '"$NODE" -e "$CONNECT" "$DATABASE"',
  'reach it through the proxy': 'NODE_USE_ENV_PROXY=1 "$NODE" -e "$FETCH" "http://127.0.0.1:$DATABASE/"',
  'reach a socket in the file system': '"$NODE" -e "$CONNECT" "$SOCKET"',
  'signal a process outside': 'kill -0 "$WITNESS"',
};

/** Hidden places are empty folders inside, in which anything may be written: nothing of it is there outside. */
const harmless: Readonly<Record<string, string>> = {
  'write where another worktree is': 'echo x > "$OTHER/intruder.txt"',
  'write where the board is': 'echo x >> "$MAIN/.copse/board.db"',
  'put a file where the board is': ': > "$MAIN/.copse/intruder"',
  'write where orders are': ': > "$MAIN/.copse/attempts/intruder"',
  'write where keys are': 'echo x > "$HOME/.ssh/authorized_keys"',
};

const allowed: Readonly<Record<string, string>> = {
  'read the main checkout': 'test "$(head -n 1 "$MAIN/tracked.txt")" = tracked',
  'write files of any name':
    'mkdir -p .vscode .idea; echo x | tee a.txt .bashrc .gitmodules.txt .mcp.json .vscode/x .idea/x',
  'commit all of them':
    'git add --all; git commit --quiet --allow-empty --message="feat: work of an agent"; test -z "$(git status --porcelain)"',
  'make a branch beside its own': 'git branch --force "$COPSE_TASK_ID/second"',
  'amend and rebase': 'git commit --quiet --amend --no-edit; git rebase --quiet main',
  'write temporary files': 'echo x > "$(mktemp)"',
  'reach the host that a person allowed':
    'NODE_USE_ENV_PROXY=1 "$NODE" -e "$FETCH" "http://127.0.0.1:$MODEL/"',
};

export const matrix = {
  forbidden: Object.keys(forbidden),
  allowed: [...Object.keys(harmless), ...Object.keys(allowed)],
};

const CONNECT = `const s = require('net').connect(/^\\d+$/.test(process.argv[1]) ? { port: Number(process.argv[1]), host: '127.0.0.1' } : { path: process.argv[1] }); s.on('connect', () => process.exit(0)); s.on('error', () => process.exit(1));`;
const FETCH = `fetch(process.argv[1]).then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1));`;

/** What is around the repository, for the agent to reach for. */
export class Around {
  readonly script: string;
  readonly #model: HttpServer;
  readonly #database: HttpServer;
  readonly #socket: Server;
  readonly #witness: ChildProcess;
  readonly #main: string;
  readonly modelPort: number;
  readonly #databasePort: number;

  private constructor(place: string, main: string, servers: readonly [HttpServer, HttpServer, Server]) {
    this.#main = main;
    [this.#model, this.#database, this.#socket] = servers;
    this.modelPort = (this.#model.address() as AddressInfo).port;
    this.#databasePort = (this.#database.address() as AddressInfo).port;
    this.#witness = spawn('sleep', ['600'], { stdio: 'ignore' });
    this.script = path.join(place, 'try everything.sh');
    writeFileSync(this.script, this.#scriptFor(main, place));
  }

  /** Beside a repository that has another worktree, and packed refs and objects. */
  static async open(place: string, main: string): Promise<Around> {
    mkdirSync(path.join(place, 'shared'), { recursive: true });
    git(main, 'worktree', 'add', '--quiet', '-b', 'cp-other/work', path.join(place, 'other'));
    writeFileSync(path.join(place, 'other', 'secret.txt'), 'secret\n');
    mkdirSync(path.join(main, '.worktrees', 'beside'), { recursive: true });
    writeFileSync(path.join(main, '.worktrees', 'beside', 'secret.txt'), 'secret\n');
    git(main, 'repack', '-adq');
    git(main, 'pack-refs', '--all');
    // A folder that may be deleted.
    execFileSync('sh', ['-c', 'for i in .git/objects/pack/*.idx; do cp "$i" "$i.copy"; done'], { cwd: main });
    const http = () => createServer((_, response) => void response.end('hello'));
    const servers = [http(), http(), createSocket((socket) => void socket.end())] as const;
    await Promise.all([
      ...[servers[0], servers[1]].map(
        (server) => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)),
      ),
      // Where its name is short enough for a socket.
      new Promise<void>((resolve) => void servers[2].listen(socketFile(), resolve)),
    ]);
    return new Around(place, main, servers);
  }

  #scriptFor(main: string, place: string): string {
    const variables = {
      MAIN: main,
      COMMON: path.join(main, '.git'),
      OTHER: path.join(place, 'other'),
      SHARED: path.join(place, 'shared'),
      NODE: process.execPath,
      CONNECT,
      FETCH,
      MODEL: String(this.modelPort),
      DATABASE: String(this.#databasePort),
      SOCKET: socketFile(),
      WITNESS: String(this.#witness.pid),
    };
    const probes = (lines: Readonly<Record<string, string>>) =>
      Object.entries(lines).map(([name, line]) => `probe ${quoted(name)} ${quoted(line)}`);
    return [
      ...Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`),
      'export OWN="$(git rev-parse --absolute-git-dir)"',
      // Git would record this for all worktrees; none may see it.
      'probe() { if sh -ec "$2" > .copse/probe.log 2>&1; then echo "did $1"; else echo "could not $1"; fi >> .copse/tried.txt; }',
      'mkdir -p .copse; rm -f .copse/tried.txt',
      ...probes(forbidden),
      ...probes(harmless),
      ...probes(allowed),
      '',
    ].join('\n');
  }

  /** What was tried in this worktree, by whether it worked. */
  tried(worktree: string): { readonly did: readonly string[]; readonly couldNot: readonly string[] } {
    const lines = readFileSync(path.join(worktree, '.copse', 'tried.txt'), 'utf8')
      .trimEnd()
      .split('\n');
    const those = (word: string) =>
      lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
    return { did: those('did'), couldNot: those('could not') };
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
    ] as const) {
      mkdirSync(path.join(home, folder), { recursive: true });
      writeFileSync(path.join(home, folder, file), 'secret\n');
    }
  }

  async close(): Promise<void> {
    this.#witness.kill('SIGKILL');
    for (const server of [this.#model, this.#database]) {
      server.closeAllConnections();
      server.close();
    }
    await new Promise((resolve) => void this.#socket.close(resolve));
  }
}

function socketFile(): string {
  return `/tmp/copse-matrix-${process.pid}.sock`;
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
