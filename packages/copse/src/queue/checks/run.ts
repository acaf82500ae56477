/**
 * One run: the worktree of the slot becomes the candidate, is set up, and the checks run in it one after another until one
 * is not green.
 *
 *   lock the slot → end what an earlier run left → note who runs here → worktree → set-up → checks
 *   → end everything → forget the note
 *
 * - The slot's lock is given back by the system when its holder dies. Whoever gets it finds the note of that run, and ends
 *   its processes before anything else.
 * - Set-up is run for every candidate, because it may depend on files of the tree. A set-up command that fails with a code
 *   of its own is the candidate's fault, a red result called `setup`: a broken manifest would else stop the queue for
 *   ever. One that cannot be started, takes too long or is killed is infrastructure.
 * - What set-up leaves running, a database say, is there for all checks of the run. What a check leaves running is ended
 *   before the next begins.
 */

import path from 'node:path';

import { brand } from '../../kernel/ids.ts';
import type { CheckRequest, CheckRunEnd } from '../ports/checks.ts';
import type { FurnishReport } from '../../workspaces/ports/furnishing.ts';
import type { Place } from '../../git/port.ts';
import type { EndedLeftovers } from '../../processes/ports/programs.ts';
import { RunCommands } from './commands.ts';
import { markOf } from './environment.ts';
import type { CheckRunner } from './runner.ts';
import { type SlotNote, notesOf } from './slot-note.ts';

/** For one that has just been called off by somebody who did not wait, or whose process is dying. */
const LOCK_PATIENCE_MS = 2_000;

export function lockOf(slot: number): string {
  return `queue-slot-${slot}`;
}

export async function runChecks(runner: CheckRunner, request: CheckRequest): Promise<CheckRunEnd> {
  if (request.signal.aborted) return { ended: 'cancelled' };
  if (!/^[\w][\w.-]*$/.test(request.id)) throw new Error(`${request.id} cannot name the run of a check`);
  try {
    const done = await runner.tryLock(lockOf(request.slot), () => runAlone(runner, request), {
      patienceMs: LOCK_PATIENCE_MS,
    });
    return done?.value ?? infrastructure(`Another process runs checks in slot ${request.slot}.`);
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) throw error;
    // A full or read-only disk, a git that fails: whatever it is, it says nothing about the change.
    return infrastructure(error instanceof Error ? error.message : String(error));
  }
}

function infrastructure(reason: string, log: string | null = null): CheckRunEnd {
  return { ended: 'infrastructure', reason, log };
}

async function runAlone(runner: CheckRunner, request: CheckRequest): Promise<CheckRunEnd> {
  const notes = notesOf(runner.home, request.slot);
  await endEarlier(runner, request.slot);
  const visitors = await runner.steps.visitors(runner.places.path(request.slot));
  const note = { id: request.id, visitors, ...(await runner.steps.moment()) };
  notes.begin(note);
  try {
    return await runInPlace(runner, request, note);
  } finally {
    await endRun(runner, request.slot, note);
    notes.forget();
  }
}

type Keeper = Pick<CheckRunner, 'home' | 'places' | 'graceMs' | 'steps'>;

/** Ends what a run left that did not come to its end. A sentence, if there was anything to end. */
export async function endEarlier(runner: Keeper, slot: number): Promise<string | undefined> {
  const notes = notesOf(runner.home, slot);
  const note = notes.read(await runner.steps.moment());
  const { ended, remaining } = note ? await endRun(runner, slot, note) : { ended: 0, remaining: 0 };
  if (remaining > 0)
    throw new Error(
      `${remaining} processes of the check ${note?.id} in ${runner.places.path(slot)} cannot be ended.`,
    );
  notes.forget();
  if (note === undefined || ended === 0) return undefined;
  const what = ended === 1 ? '1 process' : `${ended} processes`;
  return `Ended ${what} of the check ${note.id}, which its queue had left running in slot ${slot}.`;
}

function endRun(
  { home, places, graceMs, steps }: Keeper,
  slot: number,
  { id, since, visitors }: SlotNote,
): Promise<EndedLeftovers> {
  const records = notesOf(home, slot).records();
  const folder = places.path(slot);
  return steps.end({ mark: markOf(id), records, folder, since, visitors, graceMs });
}

async function runInPlace(runner: CheckRunner, request: CheckRequest, note: SlotNote): Promise<CheckRunEnd> {
  const { slot, commit, signal } = request;
  const readied = await runner.places.ready(slot, { commit, sparse: runner.settings.sparse });
  if (!readied.ready) return infrastructure(readied.reason);
  if (signal.aborted) return { ended: 'cancelled' };
  const furnished = await furnish(runner, readied.place);
  if (signal.aborted) return { ended: 'cancelled' };
  const anew = readied.anew === null ? [] : [`The worktree was made anew: ${readied.anew}.`];
  const remarks = [...anew, ...remarksOf(furnished)];
  const commands = new RunCommands({ runner, request, worktree: readied.place.path, remarks, note });
  try {
    return (await commands.setUp()) ?? (await commands.checks());
  } finally {
    await commands.close();
  }
}

function furnish(runner: CheckRunner, { path: folder, gitDir, tip }: Place): Promise<FurnishReport> {
  const { source, home, settings, worktreeFolder } = runner;
  return runner.furnishing.furnish({
    task: brand('queue'),
    source,
    target: { folder, gitDir },
    commit: tip,
    home,
    // Its commands are run here, where they can be called off.
    settings: { ...settings, setup: [], teardown: [] },
    never: [worktreeFolder],
    env: {},
    isFresh: true,
    // Never there: what git keeps about the worktree was written anew.
    marker: path.join(gitDir, 'copse-furnished'),
  });
}

function remarksOf({ submodules, notes, skipped }: FurnishReport): readonly string[] {
  return [
    ...notes,
    ...skipped.map(({ path: at, why }) => `${at}: ${why}`),
    ...submodules.flatMap((one) =>
      one.kind === 'ready' ? [] : [`The submodule ${one.path} is not there: ${one.why}`],
    ),
  ];
}
