/**
 * Closes the pipes and sockets that this process inherited. A pipe that a shell or a test opened above it would otherwise stay
 * open for as long as a runner lives, and its reader would wait for that. Node passes inherited descriptors above 2 on to
 * its children, but none that it opened itself.
 *
 * Not everything without close-on-exec was inherited: V8 keeps its profile open that way, and preloaded libraries their logs.
 * If one of these were closed, the next file to be opened, the board perhaps, would get its number and its writes. So
 * plain files stay open, since no program waits for their end, and every closed number is given to /dev/null.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync, readdirSync } from 'node:fs';

import { hasProc } from './identity.ts';

/** Only for a program that was started with standard input and output alone, and before it opens anything. */
export function closeInherited(): void {
  if (!hasProc) return;
  const closed = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((file) => file > 2 && isInherited(file) && isWaitedFor(file));
  for (const file of closed) closeSync(file);
  occupy(closed);
}

/** A new file gets the lowest number that is free, so lower ones are taken too until the closed ones are. */
function occupy(closed: readonly number[]): void {
  const free = new Set(closed);
  const lower: number[] = [];
  while (free.size > 0) {
    const file = openSync('/dev/null', constants.O_RDWR);
    if (!free.delete(file)) lower.push(file);
  }
  for (const file of lower) closeSync(file);
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

function isWaitedFor(file: number): boolean {
  const found = fstatSync(file);
  return found.isFIFO() || found.isSocket() || found.isCharacterDevice();
}
