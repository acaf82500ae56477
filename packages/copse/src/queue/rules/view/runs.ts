/**
 * Checks of a queue as people see them, and those that ended lately, from the states that its leader recorded: a run that is no longer in `runs` has ended, and
 * the state that was recorded then says how. A half names the failed run that it was split from.
 */

import type { BoardEvent } from '../../../board/rules/event.ts';
import type { BranchName, CommitId, LandingId, TaskId, Timestamp } from '../../../kernel/ids.ts';
import type { QueueState } from '../decide/state.ts';
import type { CheckRun, MergeQueue } from '../merge-queue.ts';

/** `dropped`: without a verdict, because its changes moved or left, or its leader ended. */
type RunEnding = 'passed' | 'failed' | 'dropped';

export interface RunView {
  readonly run: number;
  readonly slot: number;
  readonly purpose: CheckRun['purpose'];
  /** The tasks that it is about: those of its batch, or all of them. */
  readonly about: readonly TaskId[];
  /** How many changes in flight its batch is checked on top of. */
  readonly below: number;
  readonly target: BranchName;
  /** All tasks that are merged into its commit. */
  readonly tasks: readonly TaskId[];
  readonly commit: CommitId;
  readonly since: Timestamp;
  /** The failed run that its batch was split from. */
  readonly of: number | null;
}

export interface EndedCheck extends RunView {
  readonly until: Timestamp;
  readonly ending: RunEnding;
}

/** How many are kept. */
const LATEST = 60;

/** The oldest first. */
export function endedRuns(events: Iterable<BoardEvent>, target: BranchName): readonly EndedCheck[] {
  const ended: EndedCheck[] = [];
  const taskOf = new Map<LandingId, TaskId>();
  const landed = new Map<string, EndedCheck>();
  let before: { readonly state: QueueState; readonly runs: readonly CheckRun[] } | undefined;
  for (const event of events) {
    if (event.type === 'landing.landed') {
      const passed = landed.get(event.id);
      if (passed !== undefined) replace(ended, passed, { ...passed, ending: 'passed' });
    }
    if (event.type !== 'queue.decided' || event.id !== target) continue;
    for (const { changes } of event.state.batches)
      for (const { landing, task } of changes) taskOf.set(landing, task);
    const stillRunning = new Set(event.runs.map(({ run }) => run));
    for (const run of before?.runs ?? []) {
      if (before === undefined || stillRunning.has(run.run)) continue;
      const seen = viewRun(run, { id: target, state: before.state }, { taskOf, ended });
      const ending = endingOf(run.run, before.state, event.state);
      const one = { ...seen, until: event.at, ending };
      ended.push(one);
      if (ending === 'dropped') for (const landing of run.landings) landed.set(landing, one);
    }
    before = event;
  }
  return ended.slice(-LATEST);
}

export function viewRun(
  { run, slot, purpose, commit, since, landings }: CheckRun,
  { id: target, state }: Pick<MergeQueue, 'id' | 'state'>,
  {
    taskOf,
    ended,
  }: { readonly taskOf: ReadonlyMap<LandingId, TaskId>; readonly ended: readonly EndedCheck[] },
): RunView {
  const batch = state.batches.find(({ stage }) => stage.is === 'checking' && stage.run === run);
  const tasks = landings.flatMap((landing) => taskOf.get(landing) ?? []);
  const about = batch?.changes.map(({ task }) => task) ?? tasks;
  const below = batch === undefined ? 0 : landings.length - batch.changes.length;
  const of = splitFrom({ about, purpose, since }, ended);
  return { run, slot, purpose, commit, since, tasks, about, below, target, of };
}

/** The failed run whose batch has all these tasks; only a half has one. */
function splitFrom(
  { about, purpose, since }: Pick<EndedCheck, 'about' | 'purpose' | 'since'>,
  ended: readonly EndedCheck[],
): number | null {
  if (purpose !== 'half' && purpose !== 'second_half') return null;
  const whole = ended.findLast(
    (one) =>
      one.ending === 'failed' &&
      one.until <= since &&
      one.about.length > about.length &&
      about.every((task) => one.about.includes(task)),
  );
  return whole?.run ?? null;
}

function endingOf(run: number, before: QueueState, after: QueueState): RunEnding {
  const batch = before.batches.find(({ stage }) => stage.is === 'checking' && stage.run === run);
  if (batch !== undefined) return batchEnding(batch, after);
  if (before.audit?.run === run) return targetEnding(run, after);
  const probe = before.probes.find((one) => one.run === run);
  if (probe === undefined) return 'dropped';
  if (after.probes.some((one) => one.run === run && one.red !== null)) return 'failed';
  const isKept = probe.batches.every((id) =>
    after.batches.some((one) => one.id === id && one.stage.is === 'green'),
  );
  return isKept ? 'passed' : 'dropped';
}

function batchEnding(batch: QueueState['batches'][number], after: QueueState): RunEnding {
  const same = after.batches.find(({ id }) => id === batch.id);
  if (same !== undefined) {
    const { stage } = same;
    if (stage.is === 'green') return 'passed';
    if (stage.is === 'accused' || stage.is === 'guilty') return 'failed';
    const isMarked = (same.wasRed && !batch.wasRed) || (same.wasSlow && !batch.wasSlow);
    return isMarked || (stage.is === 'waiting' && stage.as === 'half') ? 'failed' : 'dropped';
  }
  const landings = new Set(batch.changes.map(({ landing }) => landing));
  const isSplit = after.batches.some(
    ({ stage, changes }) =>
      stage.is === 'waiting' &&
      stage.as === 'second_half' &&
      changes.some(({ landing }) => landings.has(landing)),
  );
  return isSplit ? 'failed' : 'dropped';
}

function targetEnding(run: number, { audit }: QueueState): RunEnding {
  if (audit?.run !== run || audit.verdict === 'checking') return 'dropped';
  return audit.verdict === 'green' ? 'passed' : 'failed';
}

function replace(all: EndedCheck[], one: EndedCheck, by: EndedCheck): void {
  const at = all.indexOf(one);
  if (at !== -1) all[at] = by;
}
