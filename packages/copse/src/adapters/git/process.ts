/**
 * Starts git. Nothing else in Copse does.
 *
 * Whatever git is started for, it sees neither the environment's `GIT_*` variables nor the configuration, hooks,
 * attributes, replacement objects or grafts of the repository, because agents can write those; see trusted-dir.ts. It
 * opens no editor, no pager and no prompt, and nothing is ever given to a shell.
 */

import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

import type { TrustedDir } from './trusted-dir.ts';

export interface GitOptions {
  /** The folder whose files are meant. Without it git has no files at all. */
  readonly workTree?: string;
  readonly index?: string;
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Files byte for byte as they are: no line endings, filters or encodings. */
  readonly isRaw?: boolean;
  /** May reach a remote, with the person's own credentials; see remote.ts. */
  readonly isNetwork?: boolean;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Git failed in a way that nobody planned for. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';
  readonly argv: readonly string[];
  readonly code: number | null;
  readonly stderr: string;

  constructor(argv: readonly string[], code: number | null, stderr: string) {
    const said = stderr.trim() === '' ? 'and said nothing' : `and said: ${stderr.trim()}`;
    super(`git ${argv.join(' ')} ended with ${code ?? 'a signal'} ${said}`);
    this.argv = argv;
    this.code = code;
    this.stderr = stderr;
  }
}

const MAX_OUTPUT_BYTES = 1024 ** 3;

/** For questions whose answer may be no: the exit code is part of the result. */
export function tryGit(
  dir: TrustedDir,
  argv: readonly string[],
  options: GitOptions = {},
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      argv,
      {
        cwd: options.workTree ?? dir.home,
        env: environment(dir, options),
        encoding: 'buffer',
        maxBuffer: MAX_OUTPUT_BYTES,
        timeout: options.timeoutMs ?? 0,
        killSignal: 'SIGKILL',
        ...(options.signal && { signal: options.signal }),
      },
      (error, stdout, stderr) => {
        const said = stderr.toString();
        if (error === null) return resolve({ code: 0, stdout, stderr: said });
        if (typeof error.code === 'number') return resolve({ code: error.code, stdout, stderr: said });
        // Not started at all, or ended by a signal or the time limit.
        const cause = 'code' in error && error.code === 'ENOENT' ? `${error.message}. ${said}` : said;
        reject(new GitFailed(argv, null, cause === '' ? error.message : cause));
      },
    );
    // Git may end before it has read everything.
    child.stdin?.on('error', () => {}).end(options.input ?? '');
  });
}

/** For what has to work: anything else is an exception with the command and what git said. */
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

/** A git that stays, for questions that come by the hundred. */
export function startGit(
  dir: TrustedDir,
  argv: readonly string[],
  options: Pick<GitOptions, 'env' | 'isRaw'> = {},
): ChildProcessWithoutNullStreams {
  return spawn('git', argv, { cwd: dir.home, env: environment(dir, options), stdio: 'pipe' });
}

function environment(dir: TrustedDir, options: GitOptions): Record<string, string> {
  return {
    ...inherited(options),
    GIT_DIR: options.isRaw ? dir.raw : dir.plain,
    ...(options.workTree === undefined ? {} : { GIT_WORK_TREE: options.workTree }),
    ...(options.index === undefined ? {} : { GIT_INDEX_FILE: options.index }),
    GIT_CONFIG_NOSYSTEM: '1',
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
    // A language of its own would change what git says, and with it what is recognised.
    LC_ALL: 'C',
    ...options.env,
  };
}

/** Everything but git's own variables. A person's global configuration is for reaching remotes only. */
function inherited({ isNetwork }: GitOptions): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && (!name.startsWith('GIT_') || (isNetwork && NETWORK.has(name))),
  );
  const env = Object.fromEntries(kept) as Record<string, string>;
  return isNetwork
    ? { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes', ...env, GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh' }
    : { ...env, GIT_CONFIG_GLOBAL: '/dev/null' };
}

const NETWORK = new Set([
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_CONFIG_GLOBAL',
  'GIT_SSL_CAINFO',
  'GIT_PROXY_SSL_CAINFO',
]);
