/** Where this process writes. Only cli/output.ts decides what. */

import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

export type Stdout = PlainOutput | (Writable & StreamTraits);

interface StreamTraits {
  readonly isPlain?: false;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** A file or a pipe: it has neither colours nor a size. */
interface PlainOutput extends Pick<StreamTraits, 'isTTY' | 'columns' | 'rows'> {
  readonly isPlain: true;
  /** False when more should wait for `drain`. */
  write(text: string | Uint8Array): boolean;
  once(event: 'drain', go: () => void): unknown;
}

export function ownStdout(env: Readonly<Record<string, string | undefined>>): Stdout {
  return isPlain(env) ? plainStdout() : streamedStdout();
}

let isGuarded = false;

/** A remark that cannot be written, on a full disk or to a reader that has gone, ends no command: a server goes on for others. */
export function ownStderr(): Writable {
  if (!isGuarded) process.stderr.on('error', () => {});
  isGuarded = true;
  return process.stderr;
}

const STDOUT = 1;

function isPlain(env: Readonly<Record<string, string | undefined>>): boolean {
  // Node writes to pipes and files at once everywhere but there, and colours are asked for where there is no terminal.
  if (process.platform === 'win32' || env['FORCE_COLOR'] !== undefined) return false;
  try {
    const found = fstatSync(STDOUT);
    return found.isFIFO() || found.isFile() || found.isSocket();
  } catch {
    return false;
  }
}

/** As `process.stdout` does it, without the 5 ms that Node takes to make a stream of it. */
function plainStdout(): PlainOutput {
  let stream: Writable | undefined;
  return {
    isPlain: true,
    write(text) {
      if (stream !== undefined) return stream.write(text);
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      for (let at = 0; at < bytes.length;) {
        try {
          at += writeSync(STDOUT, bytes, at);
        } catch (error) {
          const code = error instanceof Error && 'code' in error ? error.code : undefined;
          if (code !== 'EAGAIN') endUnwritten(code);
          // The reader made it wait for nothing, so something has to wait for the reader.
          stream = streamedStdout();
          return stream.write(bytes.subarray(at));
        }
      }
      return true;
    },
    once: (event, go) => (stream === undefined ? go() : stream.once(event, go)),
  };
}

function streamedStdout(): typeof process.stdout {
  const { stdout } = process;
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => endUnwritten(code));
  return stdout;
}

/** A reader (`| head`) that has seen enough is not a failure of the command; a full disk is. */
function endUnwritten(code: unknown): never {
  if (code === 'EPIPE') process.exit();
  process.stderr.write(`copse: The output cannot be written (${String(code)}).\n`);
  process.exit(1);
}
