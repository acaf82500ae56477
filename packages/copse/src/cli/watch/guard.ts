/**
 * The process that holds the terminal for `copse watch`, `list --watch` and `queue --watch`, so that a killed one leaves it as it was.
 *
 * The first process of the command becomes a small shell (guard.sh; execve: the same process, so the person's shell waits for it),
 * which saves the settings of the terminal and starts watch below it. Watch restores the terminal itself when it can. When it died
 * of a signal, the shell leaves the alternate screen for it. In every case the shell puts the saved settings back. The launcher
 * starts the shell at once, which spares one start of Node.js.
 */

import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

const STATE = 'COPSE_TERMINAL_STATE';
/** `shared`: guard.sh has no alternate screen to leave. */
const SCREEN = 'COPSE_TERMINAL_SCREEN';
const [STDIN, STDOUT] = [0, 1];

let saved: string | null = null;

/** The settings that the terminal had before, for stty; null without a guard. */
export function savedTerminal(): string | null {
  return saved;
}

/** Does not return when this process becomes the guard; returns in the process below it, and where no guard is needed. */
export function guardTerminal({ isOwnScreen }: { readonly isOwnScreen: boolean }): void {
  const { env, execPath, execArgv, platform } = process;
  if (env[STATE] !== undefined) {
    saved = env[STATE] === '' ? null : env[STATE];
    // Programs that watch starts do not inherit it.
    delete env[STATE];
    return;
  }
  const isScreen = isatty(STDIN) && isatty(STDOUT) && env['TERM'] !== 'dumb';
  if (!isScreen || platform === 'win32' || process.execve === undefined) return;
  // Beside this file, here and in the bundle.
  const script = fileURLToPath(new URL('guard.sh', import.meta.url));
  try {
    process.execve('/bin/sh', ['sh', script, execPath, ...execArgv, ...process.argv.slice(1)], {
      ...env,
      [SCREEN]: isOwnScreen ? 'own' : 'shared',
    });
  } catch {
    // Without a shell, watch itself restores the terminal wherever it can.
  }
}
