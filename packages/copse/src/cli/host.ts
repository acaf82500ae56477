/** The process that the command line runs in. A caller that runs it in a process of its own gives another one. */

import type { Readable, Writable } from 'node:stream';

export interface Host {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asked for only by commands that read it: to open it costs every start-up. */
  stdin(this: void): Readable & { readonly isTTY?: boolean };
  readonly stdout: HostOutput;
  readonly stderr: Writable;
}

type HostOutput = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

export function ownProcess(): Host {
  const { stdout, stderr, env } = process;
  // The reader (`| head`) has seen enough, which is not a failure of the command.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  return { cwd: currentFolder(), env, stdin: () => process.stdin, stdout, stderr };
}

/** A shell may stand in a folder that is gone; what needs no folder still works there. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '.';
  }
}
