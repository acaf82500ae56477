/**
 * Programs as a user without rights of their own. Root reads the environment of every process and makes control groups, so
 * what hides from Copse is shown only to another user.
 */

import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';

import { type Finished, cliFile, finished, nodeFlags, plainEnv } from '../cli.ts';
import { closeAtEnd } from '../close-at-end.ts';
import { scratchFolder } from '../scratch.ts';

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
  const [node, cli] = openProgram();
  const [file, ...args] = asPlainUser([node, ...nodeFlags, cli, ...argv]);
  const env = { ...plainEnv, HOME: home };
  return finished(spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** Node.js and the command line where that user can read them: a clone may be in a folder that only its owner enters. */
function openProgram(): readonly [node: string, cli: string] {
  if (!isRoot || isOpenToAll(path.dirname(cliFile))) return [process.execPath, cliFile];
  copied ??= copyProgram();
  return [path.join(copied, 'node'), path.join(copied, 'package', 'dist', path.basename(cliFile))];
}

let copied: string | undefined;

function copyProgram(): string {
  const folder = mkdtempSync(path.join(scratchFolder(), 'copse-open-'));
  chmodSync(folder, 0o755);
  closeAtEnd(() => {
    rmSync(folder, { recursive: true, force: true });
    copied = undefined;
  });
  copyFileSync(process.execPath, path.join(folder, 'node'));
  const dist = path.dirname(cliFile);
  cpSync(dist, path.join(folder, 'package', 'dist'), { recursive: true });
  copyFileSync(path.join(dist, '..', 'package.json'), path.join(folder, 'package', 'package.json'));
  return folder;
}

function isOpenToAll(folder: string): boolean {
  const above = path.dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (above === folder || isOpenToAll(above));
}
