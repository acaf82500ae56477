/** The command line on a pseudo-terminal, answered as a person would. */

import { spawn, spawnSync } from 'node:child_process';

import { expect, onTestFinished } from 'vitest';

import { cliFile, plainEnv } from './cli.ts';

/** Gives a program a pseudo-terminal. */
const TERMINAL = 'script';
export const hasScript =
  spawnSync(TERMINAL, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

export const DOWN = '\u001b[B';
export const ENTER = '\r';
export const CONTROL_C = '\u0003';

/** Types each answer once its question is on the screen; resolves with everything that was printed. */
export async function onTerminal(
  argv: readonly string[],
  cwd: string,
  dialogue: readonly (readonly [question: string, keys: string | (() => Promise<string>)])[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  // Wide enough that no question is broken into lines.
  const command = `stty cols 300 rows 40; "$NODE" "$CLI" ${argv.join(' ')}`;
  const child = spawn(TERMINAL, ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd,
    env: { ...plainEnv, TERM: 'xterm', NO_COLOR: '1', NODE: process.execPath, CLI: cliFile, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const open = [...dialogue];
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const [next] = open;
    if (next === undefined || !screen.includes(next[0])) return;
    open.shift();
    const [, keys] = next;
    if (typeof keys === 'string') child.stdin.write(keys);
    else
      keys().then(
        (typed) => child.stdin.write(typed),
        () => child.kill('SIGKILL'),
      );
  });
  await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  expect({ unanswered: open, screen }).toEqual({ unanswered: [], screen });
  return screen;
}
