/** Shared by the orchestrator and its runners: the clock, the program files, and the `copse` for agents. */

import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { elapsedMs } from '../kernel/system/elapsed.ts';
import { writeAtomically } from '../kernel/system/write-atomically.ts';
import { timestamp } from '../kernel/ids.ts';
import { shellQuoted } from '../kernel/shell.ts';
import type { Timer } from '../kernel/clock.ts';
import { readIfPlain } from '../kernel/system/plain-file.ts';

export const systemTimer: Timer = {
  now: () => timestamp(Date.now()),
  elapsedMs,
  async sleep(ms, signal) {
    try {
      await sleep(ms, undefined, signal && { signal });
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    }
  },
};

/** A program of this package: a bundle in this folder; when sources run as they are, the built one or a source file. */
export function programFile(name: 'cli' | 'runner'): string {
  const places = [`./${name}.js`, `../../dist/${name}.js`, `../${name}.ts`];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? '';
}

/** A folder with a `copse` that runs this installation, for the PATH of agents. */
export function ownPrograms(home: string): string {
  const folder = path.join(home, '.copse', 'bin');
  const file = path.join(folder, 'copse');
  const script = `#!/bin/sh\nexec ${shellQuoted(process.execPath)} ${shellQuoted(programFile('cli'))} "$@"\n`;
  if (readIfPlain(file) === script) return folder;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeAtomically(file, script, { mode: 0o700 });
  return folder;
}
