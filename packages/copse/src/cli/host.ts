/** The process that the command line runs in. A caller that runs it in a process of its own gives another one. */

import type { Readable, Writable } from 'node:stream';

import { type Stdout, ownStderr, ownStdout } from './stdout.ts';

export interface Host {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asked for only by commands that read it: to open it costs every start-up. */
  stdin(this: void): Readable & { readonly isTTY?: boolean };
  readonly stdout: Stdout;
  readonly stderr: Writable;
}

export function ownProcess(): Host {
  const { env } = process;
  return {
    cwd: currentFolder(),
    env,
    stdin: () => process.stdin,
    stdout: ownStdout(env),
    get stderr() {
      return ownStderr();
    },
  };
}

/** A shell may stand in a folder that is gone; what needs no folder still works there. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '.';
  }
}
