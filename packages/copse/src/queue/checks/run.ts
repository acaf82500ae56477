/**
 * One run: check out the candidate in the slot's worktree, set it up, and run the checks one after another until one is not
 * green.
 *
 *   lock the slot → end processes of an earlier run → write the note → worktree → set-up → checks
 *   → end all processes → delete the note
 *
 * - The system releases the slot's lock when its holder dies. The next holder finds the note of that run and ends its
 *   processes first.
 * - Set-up runs for every candidate, because it may depend on files of the tree. A set-up command that exits with a code of
 *   its own is the candidate's fault, a red result called `setup`: otherwise a broken manifest would stop the queue for ever.
 *   One that cannot start, times out or is killed is infrastructure.
 * - Processes that set-up leaves running, a database for example, serve all checks of the run. Processes that a check leaves
 *   running are ended before the next check.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import { brand } from '../../kernel/ids.ts';
import { processList } from '../../kernel/process.ts';
import type { CheckRequest, CheckRunEnd } from '../ports/checks.ts';
import type { FurnishReport } from '../../workspaces/ports/furnishing.ts';
import type { RegisteredWorktree } from '../../git/port.ts';
import type { EndedLeftovers } from '../../processes/ports/programs.ts';
import { RunCommands } from './commands.ts';
import { markOf } from './environment.ts';
import type { CheckRunner } from './runner.ts';
import { type SlotNote, notesOf } from './slot-note.ts';

const LOCK_PATIENCE_MS = defaultPolicy.checkRuns.slotPatienceMs;

export function lockOf(slot: number): string {
  return `queue-slot-${slot}`;
}

export async function runChecks(runner: CheckRunner, request: CheckRequest): Promise<CheckRunEnd> {
  if (request.signal.aborted) return { kind: 'cancelled' };
  if (!/^[\w][\w.-]*$/.test(request.id)) throw new Error(`${request.id} is not a valid id of a check run`);
  try {
    const done = await runner.tryLock(lockOf(request.slot), () => runAlone(runner, request), {
      patienceMs: LOCK_PATIENCE_MS,
    });
    return done?.value ?? infrastructure(`Another process runs checks in slot ${request.slot}.`);
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) throw error;
    // A full or read-only disk, a failing git: neither says anything about the change.
    return infrastructure(error instanceof Error ? error.message : String(error));
  }
}

function infrastructure(reason: string, log: string | null = null): CheckRunEnd {
  return { kind: 'infrastructure', reason, log };
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

type LeftoverContext = Pick<CheckRunner, 'home' | 'places' | 'graceMs' | 'steps'>;

/** Ends the processes of a run that was cut short. Returns a sentence if there were any. */
export async function endEarlier(runner: LeftoverContext, slot: number): Promise<string | undefined> {
  const notes = notesOf(runner.home, slot);
  const note = notes.read(await runner.steps.moment());
  const { ended, remaining } = note ? await endRun(runner, slot, note) : { ended: 0, remaining: [] };
  if (remaining.length > 0)
    throw new Error(`Cannot end these processes of the check ${note?.id}: ${processList(remaining)}.`);
  notes.forget();
  if (note === undefined || ended === 0) return undefined;
  const what = ended === 1 ? '1 process' : `${ended} processes`;
  return `Ended ${what} of the check ${note.id}, left running in slot ${slot}.`;
}

function endRun(
  { home, places, graceMs, steps }: LeftoverContext,
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
  if (readied.kind !== 'ready') return infrastructure(readied.reason);
  if (signal.aborted) return { kind: 'cancelled' };
  const furnished = await furnish(runner, readied.place);
  const sandbox = (await runner.sandbox?.(request.id)) ?? null;
  if (signal.aborted) {
    sandbox?.close();
    return { kind: 'cancelled' };
  }
  const anew = readied.anew === null ? [] : [`The worktree was made anew: ${readied.anew}.`];
  const remarks = [...anew, ...remarksOf(furnished)];
  const commands = new RunCommands({
    runner,
    request,
    worktree: readied.place.path,
    sandbox,
    remarks,
    note,
  });
  try {
    return (await commands.setUp()) ?? (await commands.checks());
  } finally {
    await commands.close();
  }
}

function furnish(
  runner: CheckRunner,
  { path: folder, gitDir, tip }: RegisteredWorktree,
): Promise<FurnishReport> {
  const { source, home, settings, worktreeFolder } = runner;
  return runner.furnishing.furnish({
    task: brand('queue'),
    source,
    target: { folder, gitDir },
    commit: tip,
    home,
    // The set-up commands run here, where they can be cancelled.
    settings: { ...settings, setup: [], teardown: [] },
    never: [worktreeFolder],
    env: {},
    isFresh: true,
    isAsBase: false,
    record: null,
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
