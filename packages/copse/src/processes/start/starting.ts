/** Shared by programs with and without a terminal. */

import { constants, openSync, statSync } from 'node:fs';

import { ProgramMissing } from '../ports/programs.ts';

/** A sentence for a person when there is nothing to start; undefined for a surprise. */
export function missing(file: string, code: string | undefined): ProgramMissing | undefined {
  if (code === 'ENOENT')
    return new ProgramMissing(
      `The program ${file} is not installed. Install it, or correct the agent’s \`command\` in copse.yml.`,
    );
  if (code === 'EACCES')
    return new ProgramMissing(
      `${file} is not executable. Run chmod +x on it, or correct the agent’s \`command\` in copse.yml.`,
    );
  return undefined;
}

/** Starting a program in a folder that is not there fails as if the program were missing. */
export function requireFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new Error(`Cannot start the program: its folder ${folder} does not exist.`);
}

/** Follows no link: the program must not choose where its output goes. */
export function openLog(log: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  return openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
}
