/** Shows a long text in the pager of the person at the terminal. */

import { spawn } from 'node:child_process';

/** Quits at once if the text fits on the screen, and leaves it there. */
const LESS = 'less -FRX';

/** As git sets them for a pager: colours are shown, and a short text stays on the screen. */
const USUAL = { LESS: 'FRX', LV: '-c' } as const;

/** False when there is none, or it could not be started. */
export function page(text: string, pager: string | undefined): Promise<boolean> {
  const command = pager ?? LESS;
  if (/^\s*(cat)?\s*$/.test(command)) return Promise.resolve(false);
  return new Promise((resolve) => {
    // Ctrl+C belongs to the pager; without it, Copse would end before the pager does.
    const ignore = () => {};
    process.on('SIGINT', ignore);
    const end = (isShown: boolean) => {
      process.off('SIGINT', ignore);
      resolve(isShown);
    };
    // The person's own setting, which is a line for the shell.
    const child = spawn('sh', ['-c', command], {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...USUAL, ...process.env },
    });
    child.once('error', () => end(false));
    // 127: there is no such program.
    child.once('exit', (code) => end(code !== 127 && code !== 126));
    // The person may quit before the end.
    child.stdin.on('error', () => {}).end(text);
  });
}
