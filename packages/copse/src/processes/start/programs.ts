/**
 * Starts the programs of agents. Each leads a session of its own, so that no closing terminal and no signal to a group ends
 * it. A program that is started reads and prints files, so it goes on when its runner is killed; a connected one has pipes
 * and ends with its runner.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import path from 'node:path';

import type { ProcessIdentity } from '../../kernel/process.ts';
import type {
  Confinable,
  ConnectedProgram,
  Connection,
  Program,
  ProgramEnd,
  Programs,
  RunningProgram,
} from '../ports/programs.ts';
import { findProgram, isProgram } from '../../kernel/system/find-program.ts';
import { inGroup } from '../cgroup.ts';
import { endAttempt } from '../end.ts';
import { identify } from '../identity.ts';
import { missing, openLog, requireFolder } from './starting.ts';
import type { TmuxServer } from '../tmux.ts';
import { startInTmux } from './tmux-program.ts';

export interface ProgramsSettings {
  readonly tmux?: TmuxServer;
  /** Called with each first process, which in tmux does not descend from this one. */
  readonly onStart?: (process: ProcessIdentity) => void;
  /** The control group that they start in, if any. */
  readonly group?: string | undefined;
}

export function openPrograms({ tmux = {}, onStart, group }: ProgramsSettings = {}): Programs {
  return {
    start: async (given) => {
      requireFolder(given.folder);
      const program = grouped(given, group);
      const { terminal } = program;
      const running = await (terminal === null
        ? startHeadless(program)
        : startInTmux(program, terminal, tmux));
      if (running.process !== null) onStart?.(running.process);
      return running;
    },
    connect: (program) => connect(grouped(program, group), onStart),
  };
}

/** A program that is not there is started as it is, to fail as such. */
function grouped<P extends Confinable>(program: P, group: string | undefined): P {
  const { argv, folder, environment } = program;
  const [file] = argv;
  const isThere = file.includes('/')
    ? isProgram(path.resolve(folder, file))
    : findProgram(file, environment) !== undefined;
  return group === undefined || !isThere ? program : { ...program, argv: inGroup(argv, group) };
}

async function startHeadless(program: Program): Promise<RunningProgram> {
  const [file, ...args] = program.argv;
  const input = openInput(program.input);
  const output = openLog(program.log);
  const child = spawn(file, args, {
    cwd: program.folder,
    env: program.environment,
    stdio: [input, output, output],
    detached: true,
  });
  const ended = endOf(child);
  try {
    await spawned(child, file);
  } finally {
    // The program has its own.
    if (typeof input === 'number') closeSync(input);
    closeSync(output);
  }
  const process = (child.pid === undefined ? undefined : await identify(child.pid)) ?? null;
  return {
    process,
    ended,
    stop: async ({ graceMs }) => {
      await endAttempt(program.attempt, process === null ? [] : [process], { graceMs });
    },
  };
}

function openInput(input: string | null): number | 'ignore' {
  return input === null ? 'ignore' : openSync(input, constants.O_RDONLY | constants.O_NOFOLLOW);
}

function connect(program: ConnectedProgram, onStart: ProgramsSettings['onStart']): Connection {
  requireFolder(program.folder);
  const [file, ...args] = program.argv;
  const errors = openLog(program.log);
  const child = spawn(file, args, {
    cwd: program.folder,
    env: program.environment,
    stdio: ['pipe', 'pipe', errors],
    detached: true,
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error(`${file} cannot be talked to: it got no pipes.`);
  // The program has its own.
  closeSync(errors);
  // The program may end before it has read everything; `ended` says how.
  stdin.on('error', () => {});
  const started = spawned(child, file).then(async () => {
    const process = (child.pid === undefined ? undefined : await identify(child.pid)) ?? null;
    if (process !== null) onStart?.(process);
    return process;
  });
  // Callers that do not wait for it must not cause an unhandled rejection.
  started.catch(() => {});
  const ended = endOf(child);
  return {
    input: stdin,
    output: stdout,
    started,
    ended,
    signal: (signal) => void child.kill(signal),
    stop: async ({ graceMs }) => {
      const process = await started.catch(() => null);
      await endAttempt(program.attempt, process === null ? [] : [process], { graceMs });
    },
  };
}

function spawned(child: ChildProcess, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => reject(missing(file, error.code) ?? error));
  });
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
