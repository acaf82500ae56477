/**
 * Files that this process was given without asking for them. Node keeps its own from its children, and those with low
 * numbers that it was given, but not the rest: a pipe that a shell or a test opened somewhere above would stay open for as
 * long as a runner lives, and whoever reads it would wait for that.
 */

import { closeSync, readFileSync, readdirSync } from 'node:fs';

import { hasProc } from './identity.ts';

/** Only for a program that was started with standard input and output alone. */
export function closeInherited(): void {
  if (!hasProc) return;
  for (const name of readdirSync('/proc/self/fd')) {
    const file = Number(name);
    if (file > 2 && isInherited(file)) closeSync(file);
  }
}

const CLOSE_ON_EXEC = 0o2000000;

/** All that Node opens is marked to be closed when another program is started. */
function isInherited(file: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1')) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The folder that was just listed.
    return false;
  }
}
