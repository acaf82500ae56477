/** The script that runs inside of a sandbox, and whether there is the program that it becomes. */

import path from 'node:path';

import { shellQuoted } from '../../kernel/shell.ts';
import type { Confinable } from '../../processes/ports/programs.ts';
import { findProgram, isProgram } from '../../kernel/system/find-program.ts';

/** Becomes the program, so that signals and the exit code are the program's own. */
export function scriptOf({ argv, folder }: Confinable, { isLocal }: { readonly isLocal: boolean }): string {
  return [
    // Inside, this machine's own addresses are others: what is allowed there is reached through the proxy.
    ...(isLocal ? ['unset NO_PROXY no_proxy'] : []),
    `cd -- ${quoted(folder)} || exit 126`,
    `exec ${argv.map(quoted).join(' ')}`,
    '',
  ].join('\n');
}

function quoted(word: string): string {
  if (word.includes('\0')) throw new Error('An argument has a NUL in it, which no program could be given.');
  return shellQuoted(word);
}

/** Whether the program that is to run is there. A name with a slash is a path, from the folder it starts in. */
export function isThere({ argv: [name], folder, environment }: Confinable): boolean {
  if (name.includes('/')) return isProgram(path.resolve(folder, name));
  return findProgram(name, environment) !== undefined;
}
