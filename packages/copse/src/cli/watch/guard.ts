/**
 * The process that holds the terminal for `copse watch`, so that a killed watch leaves the terminal as it was.
 *
 * The first process of the command becomes a small shell (execve: the same process, so the person's shell waits for it), which
 * saves the settings of the terminal and starts watch below it. Watch restores the terminal itself when it can. When it died
 * of a signal, the shell leaves the alternate screen for it. In every case the shell puts the saved settings back.
 */

import { isatty } from 'node:tty';

import { LEAVE_SCREEN } from './sequences.ts';

const STATE = 'COPSE_TERMINAL_STATE';
const [STDIN, STDOUT] = [0, 1];

/** It runs all day and computes little: V8 without its compilers, and with little room for young objects. */
const FLAGS = ['--lite-mode', '--max-semi-space-size=1'] as const;

const octal = (text: string) =>
  text.replaceAll(/[^ -~]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

/** A shell without job control gives a background process no input, hence the third descriptor. */
const SCRIPT = `
trap 'kill -s TERM "$child"' TERM
trap 'kill -s HUP "$child"' HUP
trap : INT QUIT
exec 3<&0
${STATE}=$(stty -g) || ${STATE}=
export ${STATE}
"$@" <&3 3<&- &
child=$!
while :; do
  wait "$child"
  code=$?
  kill -s 0 "$child" 2>/dev/null || break
done
[ "$code" -lt 128 ] || printf '${octal(LEAVE_SCREEN)}'
[ -z "$${STATE}" ] || stty "$${STATE}"
[ "$code" -lt 128 ] || printf 'copse: copse watch was ended by signal %s; tasks and agents go on.\\n  → copse watch\\n' "$((code - 128))" >&2
exit "$code"
`;

let saved: string | null = null;

/** The settings that the terminal had before, for stty; null without a guard. */
export function savedTerminal(): string | null {
  return saved;
}

/** Does not return when this process becomes the guard; returns in the process below it, and where no guard is needed. */
export function guardTerminal(): void {
  const { env, execPath, execArgv, platform } = process;
  if (env[STATE] !== undefined) {
    saved = env[STATE] === '' ? null : env[STATE];
    // Programs that watch starts do not inherit it.
    delete env[STATE];
    return;
  }
  const isScreen = isatty(STDIN) && isatty(STDOUT) && env['TERM'] !== 'dumb';
  if (!isScreen || platform === 'win32' || process.execve === undefined) return;
  const program = [execPath, ...execArgv, ...FLAGS, ...process.argv.slice(1)];
  try {
    process.execve('/bin/sh', ['sh', '-c', SCRIPT, 'copse-watch', ...program], env);
  } catch {
    // Without a shell, watch itself restores the terminal wherever it can.
  }
}
