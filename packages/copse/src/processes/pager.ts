/** Shows a long text in the pager of the person at the terminal. */

import { spawn } from 'node:child_process';

/** Quits at once if the text fits on the screen, and leaves it there. */
const LESS = 'less -FRX';

/** False when there is none, or it could not be started. */
export function page(text: string, pager: string | undefined): Promise<boolean> {
  const command = pager ?? LESS;
  if (/^\s*(cat)?\s*$/.test(command)) return Promise.resolve(false);
  return new Promise((resolve) => {
    // The person's own setting, which is a line for the shell.
    const child = spawn('sh', ['-c', command], { stdio: ['pipe', 'inherit', 'inherit'] });
    child.once('error', () => resolve(false));
    // 127: there is no such program.
    child.once('exit', (code) => resolve(code !== 127 && code !== 126));
    // The person may quit before the end.
    child.stdin.on('error', () => {}).end(text);
  });
}
