/** Runs the checks of the merge queue on this machine; see queue/ports/checks.ts. */

import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

import type { Checks } from '../ports/checks.ts';
import { digestOf } from './environment.ts';
import { endEarlier, lockOf, runChecks } from './run.ts';
import type { CheckRunner, CheckSetup } from './runner.ts';
import { notedSlots } from './slot-note.ts';

export type ChecksOptions = Omit<CheckRunner, 'setup'> & {
  /** Read from the files now. */
  readonly setup: () => CheckSetup;
  /** How long the output of a run is kept. */
  readonly keepLogsMs: number;
};

export function openChecks(options: ChecksOptions): Checks {
  return {
    environmentOf(check) {
      const { copy, link, sparse } = options.settings;
      const { commands, included } = options.setup();
      const sandbox = options.sandbox === null ? {} : { sandbox: true };
      return digestOf(check, { copy, link, sparse, included, commands, ...sandbox }, options.environment);
    },
    run: (request) => runChecks({ ...options, setup: options.setup() }, request),
    recover: () => recover(options),
  };
}

async function recover(options: ChecksOptions): Promise<readonly string[]> {
  const said: string[] = [];
  for (const slot of new Set([...options.places.known(), ...notedSlots(options.home)])) {
    // Not free: the process that runs a check there is alive.
    const done = await options.tryLock(lockOf(slot), () => endEarlier(options, slot));
    if (done?.value) said.push(done.value);
  }
  removeOldLogs(options);
  return said;
}

function removeOldLogs({ home, keepLogsMs }: ChecksOptions): void {
  const folder = path.join(home, '.copse', 'logs', 'queue');
  for (const name of statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : []) {
    const run = path.join(folder, name);
    if (Date.now() - statSync(run).mtimeMs > keepLogsMs) rmSync(run, { recursive: true, force: true });
  }
}
