/**
 * What a process of git may use: time, memory and output. A branch of a few small objects can describe more files than a
 * disk has room for, so no git computes without these limits. Past one, the process is ended with all that it started.
 */

import type { ChildProcess } from 'node:child_process';
import { totalmem } from 'node:os';

import { defaultPolicy } from '../../kernel/policy.ts';
import { elapsedMs } from '../../kernel/system/elapsed.ts';
import { endProcesses } from '../../processes/end.ts';
import { identify } from '../../processes/identity.ts';
import { isOpeningPipe } from './pipes.ts';

/** They read and write a ref, a setting or one object. All others may walk trees. */
const SMALL = new Set(['update-ref', 'symbolic-ref', 'rev-parse', 'config', 'commit-tree', 'version']);

interface LimitedOptions {
  /** It deals with what a remote sends, which can be a whole repository. */
  readonly isNetwork?: boolean;
  readonly memoryBytes?: number;
}

/** The program and arguments with which git starts under a limit of memory, where the system has one. */
export function limited(
  program: readonly string[],
  argv: readonly string[],
  { isNetwork = false, memoryBytes = defaultPolicy.git.memoryBytes }: LimitedOptions = {},
): readonly [string, readonly string[]] {
  const [first = '', ...rest] = [...program, ...argv];
  const isSmall =
    isNetwork || SMALL.has(argv.find((word, at) => word !== '-c' && argv[at - 1] !== '-c') ?? '');
  if (isSmall || process.platform === 'win32') return [first, rest];
  return ['/bin/sh', ['-c', WITH_LIMIT, 'sh', String(kilobytes(memoryBytes)), first, ...rest]];
}

/** A system without such a limit goes on without. The command is in the arguments, so the shell interprets no word of it. */
const WITH_LIMIT = 'ulimit -d "$1" 2>/dev/null; shift; exec "$@"';

/**
 * Two gits at once behind one shell, each under the limit; the second prints to SECOND_OUTPUT. Undefined where there is no such
 * shell. To start a process costs a large one like this more than git's whole answer.
 */
export function limitedPair(
  one: readonly string[],
  other: readonly string[],
): readonly [string, readonly string[]] | undefined {
  if (process.platform === 'win32') return undefined;
  // Names of arguments only, so the shell interprets no word.
  const words = (from: number, { length }: readonly string[]) =>
    Array.from({ length }, (_, at) => `"\${${from + at}}"`).join(' ');
  const first = `git ${words(2, one)} ${SECOND_OUTPUT}>&-`;
  const second = `git ${words(2 + one.length, other)} >&${SECOND_OUTPUT}`;
  const script = `ulimit -d "$1" 2>/dev/null; ${second} & ${first}; code=$?; wait $! && exit $code`;
  const most = String(kilobytes(defaultPolicy.git.memoryBytes));
  return ['/bin/sh', ['-c', script, 'sh', most, ...one, ...other]];
}

export const SECOND_OUTPUT = 3;

function kilobytes(memoryBytes: number): number {
  return Math.floor(Math.min(memoryBytes, totalmem() / 2) / 1024);
}

/** What ended a git before its time. */
export type GitEnd =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'too_long'; readonly ms: number }
  /** A transfer that did not go on. */
  | { readonly kind: 'stalled'; readonly ms: number }
  | { readonly kind: 'too_much_output'; readonly bytes: number }
  /** It waited for a named pipe that no program writes to. */
  | { readonly kind: 'waited_for_pipe' };

export function endedBecause(ended: GitEnd): string {
  switch (ended.kind) {
    case 'cancelled':
      return 'it was cancelled';
    case 'too_long':
      return `it took longer than ${ended.ms} ms`;
    case 'stalled':
      return `it made no progress for ${ended.ms} ms`;
    case 'too_much_output':
      return `it printed more than ${ended.bytes} bytes`;
    case 'waited_for_pipe':
      return 'it waited for a named pipe in the place of a file';
    default:
      throw new Error(`Git cannot end ${String(ended satisfies never)}`);
  }
}

/** Ends the process when it runs into a limit. `settle` is called when it has ended, and says why. */
export class Supervision {
  readonly #child: ChildProcess;
  readonly #mostMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #startedMs = elapsedMs();
  #movedMs = this.#startedMs;
  #waitingSinceMs: number | undefined;
  #ended: GitEnd | undefined;

  constructor(child: ChildProcess, mostMs: number) {
    this.#child = child;
    this.#mostMs = mostMs;
    const everyMs = Math.min(defaultPolicy.git.lookEveryMs, mostMs);
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  get ended(): GitEnd | undefined {
    return this.#ended;
  }

  end(why: GitEnd): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    void endTree(this.#child);
  }

  /** A transfer goes on: its time begins anew, up to a limit for the whole. */
  moves(): void {
    this.#movedMs = elapsedMs();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = elapsedMs();
    const hasMoved = this.#movedMs > this.#startedMs;
    if (nowMs - this.#movedMs >= this.#mostMs)
      return this.end({ kind: hasMoved ? 'stalled' : 'too_long', ms: this.#mostMs });
    const { transferMostMs } = defaultPolicy.workspace;
    if (hasMoved && nowMs - this.#startedMs >= transferMostMs)
      return this.end({ kind: 'too_long', ms: transferMostMs });
    const isWaiting = this.#child.pid !== undefined && isOpeningPipe(this.#child.pid);
    this.#waitingSinceMs = isWaiting ? (this.#waitingSinceMs ?? nowMs) : undefined;
    if (isWaiting && nowMs - (this.#waitingSinceMs ?? nowMs) >= defaultPolicy.git.pipeMs)
      this.end({ kind: 'waited_for_pipe' });
  }
}

/** Asks it to end first: git then removes its locks. */
export async function endTree(child: ChildProcess): Promise<void> {
  const root = child.pid === undefined ? undefined : await identify(child.pid);
  if (root !== undefined) await endProcesses([root], { graceMs: defaultPolicy.git.endGraceMs });
}
