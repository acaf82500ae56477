/**
 * Finding a program by its name, as the system would, but for one thing: a folder of the PATH that depends on where one is
 * (an empty entry, a relative one) is not searched. An agent may have put a program of that name there.
 */

import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The first file of that name that can be run; undefined when there is none. */
export function findProgram(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return (environment['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find(isProgram);
}

/** Folders can be "run" as well, as far as their permissions go. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
