/**
 * Starts git. Only the room git does.
 *
 * Git never sees the environment's `GIT_*` variables, nor the configuration, hooks, attributes, replacement objects or grafts
 * of the repository, because agents can write those; see trusted-dir.ts. It opens no editor, pager or prompt, and no text
 * reaches a shell. Each has limits of time, memory and output (run/limits.ts), and none waits for a named pipe (run/pipes.ts).
 */

import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Readable } from 'node:stream';

import { defaultPolicy } from '../kernel/policy.ts';
import { shellQuoted } from '../kernel/shell.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import { keepIntact } from './directory/intact.ts';
import { absolutePath } from './directory/trusted-config.ts';
import { refuseLinkedRefs } from './refs/linked-refs.ts';
import { type GitEnd, SECOND_OUTPUT, Supervision, endedBecause, limited, limitedPair } from './run/limits.ts';
import { findPipe, removeKnownPipes, removePipes } from './run/pipes.ts';

/** The git directory that Copse's git uses instead of the repository's own; directory/trusted-dir.ts makes it. */
export interface TrustedDir {
  readonly plain: string;
  readonly raw: string;
  /** The repository's own git directory: the target of the links, and the place where worktrees are registered. */
  readonly commonDir: string;
  /** The folder that holds `.copse/`. */
  readonly home: string;
  readonly objectFormat: 'sha1' | 'sha256';
  /** Read from the configuration when the directory was made: asking git again would cost two processes. */
  readonly remembered: Remembered;
}

export interface Remembered {
  /** The version of the repository's configuration that the other values come from; see `stampOfFile`. */
  readonly config: string;
  readonly remote: string | null;
  readonly defaultBranch: string | null;
}

export interface GitOptions {
  /** The folder with the files. Without it, git has no work tree. */
  readonly workTree?: string;
  readonly index?: string;
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Reads and writes files byte for byte: no line endings, filters or encodings. */
  readonly isRaw?: boolean;
  /** May reach a remote, with the person's own credentials; see remote.ts. */
  readonly isNetwork?: boolean;
  readonly timeoutMs?: number;
  /** The timeout counts from the last thing that it printed, which is its progress: a slow line is not a dead one. */
  readonly isTransfer?: boolean;
  readonly signal?: AbortSignal;
  /** Only so much of what it prints is wanted: git is ended then, which is no failure. */
  readonly firstBytes?: number;
  /** What it prints before this byte is not kept; `firstBytes` counts from there. */
  readonly skipBytes?: number;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Git failed unexpectedly, or was ended: by a signal, or because it ran into a limit. */
export class GitFailed extends Unavailable {
  override readonly name = 'GitFailed';
  override readonly isBeyondLimits: boolean;
  override readonly mayPass = true;
  readonly argv: readonly string[];
  readonly code: number | null;
  readonly stderr: string;
  readonly ended: GitEnd['kind'] | null;

  constructor(
    argv: readonly string[],
    code: number | null,
    stderr: string,
    ended: GitEnd['kind'] | null = null,
  ) {
    const how = code === null ? 'a signal' : `exit code ${code}`;
    const message = stderr.trim() === '' ? ' and printed no error' : `: ${stderr.trim()}`;
    super(`git ${argv.join(' ')} ended with ${how}${message}`, 'copse doctor');
    this.argv = argv;
    this.code = code;
    this.stderr = stderr;
    this.ended = ended;
    this.isBeyondLimits = (ended !== null && ended !== 'cancelled') || OUT_OF_MEMORY.test(stderr);
  }
}

/** The words of git, and those of the system for the programs that it starts. */
const OUT_OF_MEMORY = /^fatal: Out of memory|^fatal: mmap failed|Cannot allocate memory/m;

/** For commands that may fail: the exit code is part of the result. */
export function tryGit(
  dir: TrustedDir,
  argv: readonly string[],
  options: GitOptions = {},
): Promise<GitResult> {
  refuseLinkedRefs(dir.commonDir, argv);
  const { isNetwork = false } = options;
  return started(dir, { argv, command: limited(['git'], hardened(argv), { isNetwork }) }, options);
}

/** Two that only read, at once; `second` is what the other prints. A failure of either is one of both. */
export async function tryGitPair(
  dir: TrustedDir,
  [one, other]: readonly [readonly string[], readonly string[]],
  options: GitOptions,
): Promise<PairResult> {
  const command = limitedPair(hardened(one), hardened(other));
  if (command !== undefined)
    return started(dir, { argv: [...one, '&', 'git', ...other], command, isPair: true }, options);
  const [first, second] = await Promise.all([tryGit(dir, one, options), tryGit(dir, other, options)]);
  const { code, stderr } = first;
  return { ...first, code: code || second.code, stderr: stderr + second.stderr, second: second.stdout };
}

interface GitStart {
  /** For messages. */
  readonly argv: readonly string[];
  readonly command: readonly [string, readonly string[]];
  readonly isPair?: boolean;
}

async function started(dir: TrustedDir, start: GitStart, options: GitOptions): Promise<PairResult> {
  keepIntact(dir);
  removeKnownPipes(dir.commonDir);
  try {
    return await run(dir, start, options);
  } catch (error) {
    const hasWaited = error instanceof GitFailed && error.ended === 'waited_for_pipe';
    if (!hasWaited || !isPipeGone(dir, options)) throw error;
    return run(dir, start, options);
  }
}

type PairResult = GitResult & { readonly second: Buffer };

/** False when the pipe is in the worktree. Another process of Copse may have removed one that is in the git directory. */
function isPipeGone(dir: TrustedDir, { workTree }: GitOptions): boolean {
  return removePipes(dir.commonDir) || workTree === undefined || findPipe(workTree) === undefined;
}

function run(
  dir: TrustedDir,
  { argv, command, isPair = false }: GitStart,
  options: GitOptions,
): Promise<PairResult> {
  return new Promise((resolve, reject) => {
    const [program, args] = command;
    const child: ChildProcess = spawn(program, args, {
      cwd: options.workTree ?? dir.home,
      env: environment(dir, options),
      stdio: isPair ? ['pipe', 'pipe', 'pipe', 'pipe'] : 'pipe',
      // A session of its own leaves ssh no terminal to ask on.
      detached: options.isNetwork === true,
    });
    const supervision = new Supervision(child, options.timeoutMs ?? defaultPolicy.git.mostMs);
    const output = new GitOutput(() =>
      supervision.end({ kind: 'too_much_output', bytes: defaultPolicy.git.outputBytes }),
    );
    if (options.isTransfer) child.stderr?.on('data', () => supervision.moves());
    const abort = () => supervision.end({ kind: 'cancelled' });
    const forget = () => {
      supervision.stop();
      options.signal?.removeEventListener('abort', abort);
    };
    if (options.signal?.aborted) abort();
    options.signal?.addEventListener('abort', abort);
    const { firstBytes = Infinity, skipBytes = 0 } = options;
    const hasEnough = () => output.bytesOf('stdout') >= firstBytes;
    let toSkip = skipBytes;
    child.stdout?.on('data', (chunk: Buffer) => {
      if (hasEnough()) return;
      const wanted = chunk.subarray(toSkip);
      toSkip -= chunk.length - wanted.length;
      output.add('stdout', wanted);
      if (hasEnough()) supervision.end({ kind: 'cancelled' });
    });
    child.stderr?.on('data', (chunk: Buffer) => output.add('stderr', chunk));
    const second = isPair ? (child.stdio[SECOND_OUTPUT] as Readable | null) : null;
    second?.on('data', (chunk: Buffer) => output.add('second', chunk));
    child.on('error', (error) => {
      forget();
      reject(new GitFailed(argv, null, error.message));
    });
    child.on('close', (code, signal) => {
      forget();
      const { ended } = supervision;
      const said = output.all('stderr').toString();
      const none = Buffer.alloc(0);
      if (hasEnough())
        return resolve({
          code: 0,
          stdout: output.all('stdout').subarray(0, firstBytes),
          second: none,
          stderr: '',
        });
      if (code !== null && ended === undefined)
        return resolve({ code, stdout: output.all('stdout'), second: output.all('second'), stderr: said });
      reject(failure(argv, { ended, signal, said, workTree: options.workTree }));
    });
    // Git may end before it has read all input.
    child.stdin?.on('error', () => {}).end(options.input ?? '');
  });
}

function failure(
  argv: readonly string[],
  of: {
    readonly ended: GitEnd | undefined;
    readonly signal: NodeJS.Signals | null;
    readonly said: string;
    readonly workTree: string | undefined;
  },
): GitFailed {
  const { ended, signal, workTree } = of;
  const said = of.said.trim();
  const reason = ended === undefined ? `it was killed by ${String(signal)}` : endedBecause(ended);
  const pipe = ended?.kind === 'waited_for_pipe' && workTree ? findPipe(workTree) : undefined;
  const why = pipe === undefined ? reason : `${reason}: ${pipe}`;
  const message = said === '' ? why : `${said} (${why})`;
  return new GitFailed(argv, null, message, ended?.kind ?? null);
}

type OutputName = 'stdout' | 'stderr' | 'second';

/** What git prints, up to a limit. */
class GitOutput {
  readonly #chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[], second: [] as Buffer[] };
  readonly #onTooMuch: () => void;
  readonly #sizes = { stdout: 0, stderr: 0, second: 0 };
  #bytes = 0;

  constructor(onTooMuch: () => void) {
    this.#onTooMuch = onTooMuch;
  }

  add(to: OutputName, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > defaultPolicy.git.outputBytes) this.#onTooMuch();
    else {
      this.#chunks[to].push(chunk);
      this.#sizes[to] += chunk.length;
    }
  }

  bytesOf(of: OutputName): number {
    return this.#sizes[of];
  }

  all(of: OutputName): Buffer {
    return Buffer.concat(this.#chunks[of]);
  }
}

/**
 * Adds the options that a command must have. A branch can be a symbolic ref: git must move the ref, not its target. And a
 * folder can be a repository, in which git would run with the configuration there.
 */
function hardened(argv: readonly string[]): readonly string[] {
  let at = 0;
  while (argv[at] === '-c') at += 2;
  const added = HARDENED[argv[at] ?? ''];
  return added === undefined ? argv : argv.toSpliced(at + 1, 0, added);
}

const HARDENED: Readonly<Record<string, string>> = {
  'update-ref': '--no-deref',
  'diff-index': '--ignore-submodules=dirty',
  'diff-files': '--ignore-submodules=dirty',
  diff: '--ignore-submodules=dirty',
  status: '--ignore-submodules=dirty',
};

/** For commands that must succeed: a failure throws with the command and git's message. */
export async function git(
  dir: TrustedDir,
  argv: readonly string[],
  options: GitOptions = {},
): Promise<Buffer> {
  const { code, stdout, stderr } = await tryGit(dir, argv, options);
  if (code !== 0) throw new GitFailed(argv, code, stderr);
  return stdout;
}

/** The same, for output that is one line. */
export async function gitLine(
  dir: TrustedDir,
  argv: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  return (await git(dir, argv, options)).toString().trimEnd();
}

/** Starts a long-lived git. Unbuffered output needs `stdbuf`. */
export function startGit(
  dir: TrustedDir,
  argv: readonly string[],
  options: Pick<GitOptions, 'env' | 'isRaw' | 'workTree'> & { readonly isUnbuffered?: boolean } = {},
): ChildProcessWithoutNullStreams {
  keepIntact(dir);
  removeKnownPipes(dir.commonDir);
  const [program, args] = limited(options.isUnbuffered ? ['stdbuf', '-o0', 'git'] : ['git'], hardened(argv));
  return spawn(program, args, {
    cwd: options.workTree ?? dir.home,
    env: environment(dir, options),
    stdio: 'pipe',
  });
}

/**
 * A git that a person talks to, with the person's settings and no limits: its child processes are programs of the person's
 * choice. Resolves with its exit code.
 */
export function gitAtTerminal(dir: TrustedDir, argv: readonly string[], workTree: string): Promise<number> {
  keepIntact(dir);
  return new Promise((resolve, reject) => {
    const env = environment(dir, { isNetwork: true, workTree });
    const child = spawn('git', argv, { cwd: workTree, env, stdio: 'inherit' });
    child.once('error', (error) => reject(new GitFailed(argv, null, error.message)));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function environment(dir: TrustedDir, options: GitOptions): Record<string, string> {
  return {
    ...inherited(options),
    PATH: absolutePath(process.env['PATH']),
    GIT_DIR: options.isRaw ? dir.raw : dir.plain,
    ...(options.workTree === undefined ? {} : { GIT_WORK_TREE: options.workTree }),
    ...(options.index === undefined ? {} : { GIT_INDEX_FILE: options.index }),
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'false',
    GIT_SEQUENCE_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    ...CONFIGURATION,
    // Another language would change the messages that Copse parses.
    LC_ALL: 'C',
    ...options.env,
  };
}

/**
 * Git passes configuration from the environment on to a git that it starts in a repository inside the work tree. There it says
 * that there is no work tree, so that this git fails before it runs a program. Here, GIT_WORK_TREE overrides it.
 *
 * And git would begin every error with advice about GIT_GRAFT_FILE, which hides the error itself.
 */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.bare', 'true'],
  ['advice.graftFileDeprecated', 'false'],
];

/** The environment that gives a git these settings, besides those that every git has. */
export function settingsEnv(more: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  const all = [...SETTINGS, ...more];
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(all.length)],
    ...all.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ]) as Record<string, string>;
}

const CONFIGURATION = settingsEnv([]);

/** The environment without git's variables. Only commands that reach a remote read the person's configuration. */
function inherited({ isNetwork }: GitOptions): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && (!name.startsWith('GIT_') || (isNetwork && NETWORK.has(name))),
  );
  const env = Object.fromEntries(kept) as Record<string, string>;
  if (!isNetwork) return { ...env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  // Git prefers its configuration to GIT_SSH, but not to GIT_SSH_COMMAND.
  const ssh = env['GIT_SSH'];
  return {
    ...(ssh === undefined ? {} : { GIT_SSH_COMMAND: shellQuoted(ssh) }),
    ...env,
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  };
}

const NETWORK = new Set([
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_SSL_CAINFO',
  'GIT_PROXY_SSL_CAINFO',
]);
