/**
 * Programs as a user without rights of their own. Root reads the environment of every process and makes control groups, so
 * what hides from Copse is shown only to another user.
 */

import { spawn } from 'node:child_process';
import { chownSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { type Finished, cliFile, finished, nodeFlags, plainEnv } from '../cli.ts';

const isRoot = process.getuid?.() === 0;
/** The user `nobody` of most systems. */
const PLAIN = 65_534;

/** The same program, as a user that is not root. */
function asPlainUser(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (!isRoot) return argv;
  return ['setpriv', `--reuid=${PLAIN}`, `--regid=${PLAIN}`, '--clear-groups', ...argv];
}

/** Everything in the folder becomes that user's. */
export function giveToPlainUser(place: string): void {
  if (!isRoot) return;
  chownSync(place, PLAIN, PLAIN);
  for (const name of readdirSync(place)) {
    const file = path.join(place, name);
    const found = lstatSync(file);
    if (found.isDirectory()) giveToPlainUser(file);
    else if (!found.isSymbolicLink()) chownSync(file, PLAIN, PLAIN);
  }
}

/** The built command line as that user. */
export function copseAsPlainUser(
  argv: readonly string[],
  { cwd, home }: { readonly cwd: string; readonly home: string },
): Promise<Finished> {
  const [file, ...args] = asPlainUser([process.execPath, ...nodeFlags, cliFile, ...argv]);
  const env = { ...plainEnv, HOME: home };
  return finished(spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}
