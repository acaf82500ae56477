/** Starts every program and every connection in a sandbox. */

import { PassThrough } from 'node:stream';

import type { ConnectedProgram, Connection, Connections } from '../../processes/ports/connections.ts';
import type { Programs } from '../../processes/ports/programs.ts';
import type { Sandbox } from '../../processes/ports/sandbox.ts';

export function confinedPrograms(programs: Programs, sandbox: Sandbox): Programs {
  return {
    start: async (program) =>
      programs.start(sandbox.wrap(program, { hasTerminal: program.terminal !== null })),
  };
}

export function confinedConnections(connections: Connections, sandbox: Sandbox): Connections {
  return {
    open: (program) => {
      let wrapped: ConnectedProgram;
      try {
        wrapped = sandbox.wrap(program);
      } catch (error) {
        return neverStarted(error);
      }
      return connections.open(wrapped);
    },
  };
}

/** A connection whose start fails, because callers expect failures there. */
function neverStarted(reason: unknown): Connection {
  const started = Promise.reject(reason instanceof Error ? reason : new Error(String(reason)));
  started.catch(() => {});
  const output = new PassThrough();
  output.end();
  return {
    input: new PassThrough(),
    output,
    started,
    ended: Promise.resolve({ how: 'vanished' }),
    signal: () => {},
    stop: () => Promise.resolve(),
  };
}
