/**
 * Starts every program that Copse runs for an agent: in a session of its own, below a reaper (reaper.ts), and in a control group
 * if there is one. Where there is no reaper, the program is started directly.
 */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';

import type { ProcessIdentity } from '../../kernel/process.ts';
import type { ProgramEnd } from '../ports/programs.ts';
import { findProgram, isProgram } from '../../kernel/system/find-program.ts';
import { inGroup } from '../cgroup.ts';
import { identifyNow, isGone } from '../identity.ts';
import { type Reaper, reaperEnvironment, reaperHere } from './reaper.ts';
import { hearReaper } from './reaper-told.ts';

/** The longest time that a timer can be set for. */
export const LONGEST_MS = 2 ** 31 - 1;

export interface WatchedRequest {
  readonly argv: readonly [string, ...string[]];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly stdio: readonly [Stdio, Stdio, Stdio];
  /** The control group to start in. */
  readonly group?: string | undefined;
  /** Another than this machine's; null for none. */
  readonly reaper?: Reaper | null;
}

type Stdio = 'ignore' | 'pipe' | number;

export interface Watched {
  /** The reaper if there is one, otherwise the program. All that the program starts is below it. */
  readonly child: ChildProcess;
  /** The same as it was at its start; null where only `ps` could tell. */
  readonly first: ProcessIdentity | null;
  /** The pid of the program. Rejects with the error code of the system, ENOENT for example. */
  readonly started: Promise<number>;
  /** Settles when the program is gone, also if the reaper still has other children. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Only the program. */
  signal(signal: NodeJS.Signals): void;
}

export function startWatched(request: WatchedRequest): Watched {
  const { folder: cwd, stdio } = request;
  const { environment: env, ...wrapped } = watchedArguments(request);
  const [file, ...args] = wrapped.argv;
  const options = { cwd, env, detached: true } as const;
  if (!wrapped.hasReaper) return startDirectly(spawn(file, args, { ...options, stdio: [...stdio] }));
  const given: StdioOptions = [...stdio, 'pipe'];
  return listen(spawn(file, args, { ...options, stdio: given }), request.argv[0]);
}

/** A program that does not exist is started directly, to fail as such. */
export function watchedArguments({
  argv,
  folder,
  environment,
  group,
  reaper = reaperHere(),
}: Omit<WatchedRequest, 'stdio'>): {
  readonly argv: readonly [string, ...string[]];
  /** For the first process; the program gets those of the request. */
  readonly environment: Readonly<Record<string, string>>;
  readonly hasReaper: boolean;
} {
  const [file] = argv;
  const isThere = file.includes('/')
    ? isProgram(path.resolve(folder, file))
    : findProgram(file, environment) !== undefined;
  if (!isThere) return { argv, environment, hasReaper: false };
  if (reaper !== null) {
    const members = group === undefined ? '' : path.join(group, 'cgroup.procs');
    return {
      argv: [...reaper.argv, members, ...argv],
      environment: reaperEnvironment(reaper, environment),
      hasReaper: true,
    };
  }
  return { argv: group === undefined ? argv : inGroup(argv, group), environment, hasReaper: false };
}

function startDirectly(child: ChildProcess): Watched {
  const started = new Promise<number>((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', reject);
  });
  started.catch(() => {});
  const first = firstOf(child);
  return { child, first, started, ended: endOf(child), signal: (signal) => void child.kill(signal) };
}

function firstOf({ pid }: ChildProcess): ProcessIdentity | null {
  const found = pid === undefined ? undefined : identifyNow(pid);
  return found === undefined ? null : { pid: found.pid, startTime: found.startTime };
}

function endOf(child: ChildProcess): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ kind: 'vanished' }));
    child.once('exit', (code, signal) => {
      if (code !== null) resolve({ kind: 'exited', code });
      else resolve(signal === null ? { kind: 'vanished' } : { kind: 'signalled', signal });
    });
  });
}

function listen(child: ChildProcess, file: string): Watched {
  const told = Promise.withResolvers<number>();
  const over = Promise.withResolvers<ProgramEnd>();
  told.promise.catch(() => {});
  let pid: number | undefined;
  const hear = hearReaper(constants, {
    started: (number) => told.resolve((pid = number)),
    failed: (code, errno) => told.reject(errorOf(code, errno, file)),
    ended: (code, signal) => {
      pid = undefined;
      over.resolve(
        code === null ? { kind: 'signalled', signal: signal ?? 'SIGKILL' } : { kind: 'exited', code },
      );
      // The reaper may wait for other processes; this process need not.
      child.unref();
    },
  });
  const lines = child.stdio[3] as Readable | null;
  lines?.setEncoding('latin1');
  lines?.on('data', hear);
  lines?.on('error', () => {});
  child.once('error', (error) => {
    told.reject(error);
    over.resolve({ kind: 'vanished' });
  });
  lines?.once('close', () => {
    told.reject(new Error(`${file} could not be started: the process that watches over it ended.`));
    over.resolve({ kind: 'vanished', why: REAPER_KILLED });
  });
  return {
    child,
    first: firstOf(child),
    started: told.promise,
    ended: over.promise,
    // It may be asked before the reaper has told the pid.
    signal: (signal) => void told.promise.then(() => send(pid, signal)).catch(() => {}),
  };
}

function send(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

const REAPER_KILLED = 'the process that watches over its processes was killed, so some may still run';

function errorOf(code: string, errno: number, file: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`spawn ${file} ${code}`), { code, errno: -errno, path: file });
}
