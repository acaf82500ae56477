/**
 * Finding a program by its name, as the system would, but for one thing: a folder of the PATH that depends on where one is
 * (an empty entry, a relative one) is not searched. An agent may have put a program of that name there.
 */

import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The first file of that name that can be run and may be taken; undefined when there is none. */
export function findProgram(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  mayTake: (file: string) => boolean = () => true,
): string | undefined {
  return (environment['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find((file) => isProgram(file) && mayTake(file));
}

/** The PATH without the folders of which nothing may be taken, and without those that depend on where one is. */
export function searchedFolders(folders: string, mayTake: (file: string) => boolean): string {
  return folders
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder) && mayTake(path.join(folder, 'program')))
    .join(path.delimiter);
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
