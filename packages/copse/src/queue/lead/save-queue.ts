/** Writes what the leader decided, in one transaction with its token: the queue's state, its checks, and which landings they check. */

import type { ProcessIdentity } from '../../kernel/process.ts';
import { decided } from '../../kernel/decision.ts';
import { type Change, change } from '../../board/context.ts';
import type { Start } from '../rules/decide/decide.ts';
import { isInFlight } from '../rules/decide/state.ts';
import { type Landing, decideLanding } from '../rules/landing.ts';
import { type CheckRun, type MergeQueue, keepRetry } from '../rules/merge-queue.ts';
import type { RunContext } from '../context.ts';
import { type Lead, requireLead } from './leadership.ts';

/** Gives each check that is to start a slot of its own, the lowest that is free. */
export function placeRuns(
  { clock, node }: RunContext,
  starts: readonly Start[],
  { busy, process }: { readonly busy: readonly number[]; readonly process: ProcessIdentity | undefined },
): readonly CheckRun[] {
  const taken = new Set(busy);
  return starts.map(({ run, purpose, commit, changes }) => {
    let slot = 1;
    while (taken.has(slot)) slot += 1;
    taken.add(slot);
    const landings = changes.map(({ landing }) => landing);
    return { run, purpose, commit, landings, slot, node, ...(process && { process }), since: clock.now() };
  });
}

export interface RecordedState {
  readonly state: MergeQueue['state'];
  readonly runs: readonly CheckRun[];
  /** Those whose status may change by it. */
  readonly landings: readonly Landing[];
}

/** Writes nothing where nothing changed. */
export async function saveQueue(
  context: RunContext,
  lead: Lead,
  queue: MergeQueue,
  { state, runs, landings }: RecordedState,
): Promise<'saved' | 'refused' | 'lead_lost'> {
  const isSame = JSON.stringify([queue.state, queue.runs]) === JSON.stringify([state, runs]);
  const inFlight = new Set<string>();
  for (const batch of state.batches.filter(isInFlight))
    for (const { landing } of batch.changes) inFlight.add(landing);
  const moved = landings.filter((landing) => nextStatus(landing, inFlight) !== null);
  if (isSame && moved.length === 0) return 'saved';
  const outcome = await change(context, async (change) => {
    await requireLead(change, lead);
    if (!isSame) {
      const written = await change.board.get('queue', queue.id);
      const kept = keepRetry(state, queue.state, written?.state ?? queue.state);
      await change.apply(decided({ type: 'queue.decided', id: queue.id, at: change.at, state: kept, runs }));
    }
    for (const landing of moved) await moveLanding(change, landing, inFlight, runs);
  });
  if (outcome.kind === 'done') return 'saved';
  return outcome.refusal.code === 'fenced' ? 'lead_lost' : 'refused';
}

/** `checking`: it became part of a batch in flight. `queued`: its batch is no longer in flight. */
function nextStatus(
  { id, state, waiting }: Landing,
  inFlight: ReadonlySet<string>,
): 'checking' | 'queued' | null {
  if (state.status === 'queued' && waiting === null && inFlight.has(id)) return 'checking';
  return state.status === 'checking' && !inFlight.has(id) ? 'queued' : null;
}

async function moveLanding(
  change: Change,
  { id, task }: Landing,
  inFlight: ReadonlySet<string>,
  runs: readonly CheckRun[],
): Promise<void> {
  const current = await change.board.get('landing', id);
  const owner = await change.board.get('task', task);
  if (current === undefined || owner?.state.status !== 'landing') return;
  const { head } = current;
  const candidate = runs.find(({ landings }) => landings.includes(id))?.commit ?? head;
  const next = nextStatus(current, inFlight);
  if (next === 'checking')
    await change.apply(decideLanding(current, { action: 'check', candidate }, change.at));
  if (next === 'queued') {
    const reason = 'its check is over';
    await change.apply(decideLanding(current, { action: 'requeue', head, reason }, change.at));
  }
}
