/**
 * Starts the programs of agents. Each leads a session of its own, so that no closing terminal and no signal to a group ends
 * it, below a reaper (watched.ts). A program that is started reads and prints files, so it goes on when its runner is killed; a connected one has pipes
 * and ends with its runner.
 */

import { closeSync, constants, openSync } from 'node:fs';

import type { ProcessIdentity } from '../../kernel/process.ts';
import type {
  Confinable,
  ConnectedProgram,
  Connection,
  Program,
  Programs,
  RunningProgram,
} from '../ports/programs.ts';
import { endAttempt } from '../end.ts';
import { identify } from '../identity.ts';
import { missing, openLog, requireFolder } from './starting.ts';
import type { TmuxServer } from '../tmux.ts';
import { startInTmux } from './tmux-program.ts';
import { type Watched, startWatched } from './watched.ts';

export interface ProgramsSettings {
  readonly tmux?: TmuxServer;
  /** Called with each first process, which in tmux does not descend from this one. */
  readonly onStart?: ((process: ProcessIdentity) => void) | undefined;
  /** The control group that they start in, if any. */
  readonly group?: string | undefined;
}

export function openPrograms({ tmux = {}, onStart, group }: ProgramsSettings = {}): Programs {
  return {
    start: async (program) => {
      requireFolder(program.folder);
      const { terminal } = program;
      const running = await (terminal === null
        ? startHeadless(program, group)
        : startInTmux(program, terminal, { server: tmux, group }));
      if (running.process !== null) onStart?.(running.process);
      return running;
    },
    connect: (program) => connect(program, { onStart, group }),
  };
}

async function startHeadless(program: Program, group: string | undefined): Promise<RunningProgram> {
  const input = openInput(program.input);
  const output = openLog(program.log);
  const watched = startWatched({ ...program, stdio: [input, output, output], group });
  try {
    await spawned(watched, program);
  } finally {
    // The program has its own.
    if (typeof input === 'number') closeSync(input);
    closeSync(output);
  }
  const process = await identityOf(watched);
  return {
    process,
    ended: watched.ended,
    stop: async ({ graceMs }) => {
      await endAttempt(program.attempt, process === null ? [] : [process], { graceMs });
    },
  };
}

function openInput(input: string | null): number | 'ignore' {
  return input === null ? 'ignore' : openSync(input, constants.O_RDONLY | constants.O_NOFOLLOW);
}

function connect(
  program: ConnectedProgram,
  { onStart, group }: Pick<ProgramsSettings, 'onStart' | 'group'>,
): Connection {
  requireFolder(program.folder);
  const [file] = program.argv;
  const errors = openLog(program.log);
  const watched = startWatched({ ...program, stdio: ['pipe', 'pipe', errors], group });
  const { stdin, stdout } = watched.child;
  if (stdin === null || stdout === null) throw new Error(`${file} cannot be talked to: it got no pipes.`);
  // The program has its own.
  closeSync(errors);
  // The program may end before it has read everything; `ended` says how.
  stdin.on('error', () => {});
  const started = spawned(watched, program).then(async () => {
    const process = await identityOf(watched);
    if (process !== null) onStart?.(process);
    return process;
  });
  // Callers that do not wait for it must not cause an unhandled rejection.
  started.catch(() => {});
  return {
    input: stdin,
    output: stdout,
    started,
    ended: watched.ended,
    signal: (signal) => watched.signal(signal),
    stop: async ({ graceMs }) => {
      const process = await started.catch(() => null);
      await endAttempt(program.attempt, process === null ? [] : [process], { graceMs });
    },
  };
}

async function spawned({ started }: Watched, { argv: [file] }: Confinable): Promise<void> {
  try {
    await started;
  } catch (error) {
    throw missing(file, (error as NodeJS.ErrnoException).code) ?? error;
  }
}

async function identityOf({ child, first }: Watched): Promise<ProcessIdentity | null> {
  return first ?? (child.pid === undefined ? null : ((await identify(child.pid)) ?? null));
}
