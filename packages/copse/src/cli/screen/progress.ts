/** One line on a terminal's stderr while something takes long, and a word about Ctrl+C. Files and pipes get neither. */

import type { Cli } from '../invocation.ts';

interface Told {
  /** "Creating the worktree of cp-a1b2". */
  readonly doing: string;
  /** After Ctrl+C: what is left as it is, and the next command. */
  readonly stopped: string;
}

const FIRST_MS = 1_000;
const EVERY_MS = 250;

export async function withProgress<T>({ output }: Cli, told: Told, work: () => Promise<T>): Promise<T> {
  if (!output.areNotesShown()) return work();
  const beganMs = performance.now();
  const line = () => {
    const passedMs = performance.now() - beganMs;
    if (passedMs >= FIRST_MS)
      output.progress(`${told.doing} … ${Math.floor(passedMs / 1_000)} s (Ctrl+C stops)`);
  };
  const timer = setInterval(line, EVERY_MS);
  const stop = () => {
    output.progress('');
    output.note(told.stopped);
    process.off('SIGINT', stop);
    // As it would have ended without this line.
    process.kill(process.pid, 'SIGINT');
  };
  process.on('SIGINT', stop);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    process.off('SIGINT', stop);
    if (performance.now() - beganMs >= FIRST_MS) output.progress('');
  }
}
