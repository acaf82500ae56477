/**
 * Starts programs so that they need nobody: each leads a session of its own, so no terminal and no group takes it along;
 * what it reads and prints are files, so it neither notices nor suffers when whoever started it is gone.
 */

import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';

import type { ProcessIdentity } from '../../kernel/process.ts';
import type { Program, ProgramEnd, Programs, RunningProgram } from '../ports/programs.ts';
import { endAttempt } from './attempt-processes.ts';
import { identify } from '../identity.ts';
import { missing, openLog, requireFolder } from './starting.ts';
import type { TmuxServer } from '../tmux.ts';
import { startInTmux } from './tmux-program.ts';

export interface ProgramsSettings {
  readonly tmux?: TmuxServer;
  /** Is told of each first process, which in tmux is nobody's descendant. */
  readonly onStart?: (process: ProcessIdentity) => void;
}

export function openPrograms({ tmux = {}, onStart }: ProgramsSettings = {}): Programs {
  return {
    start: async (program) => {
      requireFolder(program.folder);
      const { terminal } = program;
      const running = await (terminal === null
        ? startHeadless(program)
        : startInTmux(program, terminal, tmux));
      if (running.process !== null) onStart?.(running.process);
      return running;
    },
  };
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
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      if (code !== null) resolve({ how: 'exited', code });
      else resolve(signal === null ? { how: 'vanished' } : { how: 'signalled', signal });
    });
  });
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) => reject(missing(file, error.code) ?? error));
    });
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
