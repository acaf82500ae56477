/**
 * Closes file descriptors that this process inherited. A pipe that a shell or a test opened above it would otherwise stay
 * open for as long as a runner lives, and its reader would wait for that. Node passes inherited descriptors above 2 on to
 * its children, but none that it opened itself.
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

/** Node marks every file that it opens as close-on-exec. */
function isInherited(file: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1')) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The folder that was just listed.
    return false;
  }
}
