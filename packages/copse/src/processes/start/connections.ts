/** Starts programs to talk to. Each leads a session of its own, so no terminal and no group takes it along. */

import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';

import type { ProcessIdentity } from '../../kernel/process.ts';
import type { ConnectedProgram, Connection, Connections } from '../ports/connections.ts';
import type { ProgramEnd } from '../ports/programs.ts';
import { endAttempt } from './attempt-processes.ts';
import { identify } from '../identity.ts';
import { missing, openLog, requireFolder } from './starting.ts';

export interface ConnectionsSettings {
  /** Is told of each first process. */
  readonly onStart?: (process: ProcessIdentity) => void;
}

export function openConnections(settings: ConnectionsSettings = {}): Connections {
  return { open: (program) => connect(program, settings) };
}

function connect(program: ConnectedProgram, { onStart }: ConnectionsSettings): Connection {
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
  // It may go before it has read everything; how it went is told by its end.
  stdin.on('error', () => {});
  const spawned = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => reject(missing(file, error.code) ?? error));
  });
  const started = spawned.then(async () => {
    const process = (child.pid === undefined ? undefined : await identify(child.pid)) ?? null;
    if (process !== null) onStart?.(process);
    return process;
  });
  // Whoever waits hears of it; nobody has to.
  started.catch(() => {});
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('error', () => resolve({ how: 'vanished' }));
    child.once('exit', (code, signal) => {
      if (code !== null) resolve({ how: 'exited', code });
      else resolve(signal === null ? { how: 'vanished' } : { how: 'signalled', signal });
    });
  });
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
