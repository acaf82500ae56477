/** Starts every program and every connection in a sandbox. */

import { PassThrough } from 'node:stream';

import type { ConnectedProgram, Connection, Programs, Sandbox } from '../../processes/ports/programs.ts';

export function confinedPrograms(programs: Programs, sandbox: Sandbox): Programs {
  return {
    start: async (program) =>
      programs.start(sandbox.wrap(program, { hasTerminal: program.terminal !== null })),
    connect: (program) => {
      let wrapped: ConnectedProgram;
      try {
        wrapped = sandbox.wrap(program);
      } catch (error) {
        return neverStarted(error);
      }
      return programs.connect(wrapped);
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
    ended: Promise.resolve({ kind: 'vanished' }),
    signal: () => {},
    stop: () => Promise.resolve(),
  };
}
