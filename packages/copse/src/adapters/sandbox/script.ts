/** The script that runs inside of a sandbox, and where the programs are that it will find. */

import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

import type { Confinable } from '../../ports/sandbox.ts';

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

/** For any POSIX shell: nothing between single quotes means anything but a single quote. */
function quoted(word: string): string {
  if (word.includes('\0')) throw new Error('An argument has a NUL in it, which no program could be given.');
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** As the system would find it. Names without a folder are looked for in absolute folders of the PATH only. */
export function findProgram(
  name: string,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (name.includes('/'))
    return isProgram(path.resolve(folder, name)) ? path.resolve(folder, name) : undefined;
  return (environment['PATH'] ?? '')
    .split(path.delimiter)
    .filter((place) => path.isAbsolute(place))
    .map((place) => path.join(place, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
