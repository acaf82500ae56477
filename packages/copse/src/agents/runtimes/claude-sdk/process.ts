/** The SDK's program, started by Copse, in the form that the SDK needs: a part of a ChildProcess. */

import { EventEmitter } from 'node:events';

import type { Connection } from '../../../processes/ports/programs.ts';

export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface SpawnedProcess extends EventEmitter {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
}

export function asSpawned(connection: Connection): SpawnedProcess {
  return new Spawned(connection);
}

class Spawned extends EventEmitter implements SpawnedProcess {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
  killed = false;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super();
    this.#connection = connection;
    this.stdin = connection.input;
    this.stdout = connection.output;
    void this.#exit(connection);
  }

  async #exit({ ended }: Connection): Promise<void> {
    const end = await ended;
    if (end.kind === 'exited') this.exitCode = end.code;
    // The SDK only checks whether there is one.
    else this.signalCode = end.kind === 'signalled' ? (end.signal as NodeJS.Signals) : 'SIGKILL';
    this.emit('exit', this.exitCode, this.signalCode);
  }

  kill(signal: NodeJS.Signals): boolean {
    this.killed = true;
    this.#connection.signal(signal);
    return true;
  }
}
