/** Programs that get the whole terminal of this process, and the settings of the terminal after them. */

import { spawn } from 'node:child_process';

export interface EndOnTerminal {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote as errors, if they were not for the terminal. */
  readonly errors: string;
}

export function runOnTerminal(
  [program, ...argv]: readonly [string, ...string[]],
  options: { readonly errors: 'on terminal' | 'returned' },
): Promise<EndOnTerminal> {
  const isReturned = options.errors === 'returned';
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { stdio: ['inherit', 'inherit', isReturned ? 'pipe' : 'inherit'] });
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, errors }));
  });
}

/** As `stty -g` printed them. A terminal that is gone has none. */
export function restoreTerminal(saved: string): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn('stty', [saved], { stdio: ['inherit', 'ignore', 'ignore'] });
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
}
