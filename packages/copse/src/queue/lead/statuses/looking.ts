/** Status "looking": reads the board and git, and finishes an interrupted landing before anything is decided. */

import type { CommitId } from '../../../kernel/ids.ts';
import type { EndedRun } from '../../rules/decide/decide.ts';
import type { Landing } from '../../rules/landing.ts';
import { type MergeQueue, newQueue } from '../../rules/merge-queue.ts';
import type { WaitReason } from '../../rules/wait-reason.ts';
import type { CheckRuns } from '../checks.ts';
import { queueEntries } from '../entries.ts';
import { bringHeads } from '../heads/bring.ts';
import type { FoundBase } from '../land.ts';
import { forgetSuperseded } from '../memory.ts';
import { noticeMovedBranches } from '../moved-branches.ts';
import { finishJournalled } from '../record-landed.ts';
import { saveQueue } from '../save-queue.ts';
import { recordStall, waitInQueue } from '../waits.ts';
import { LEAD_LOST, type Leading, type Seen, type Status } from './status.ts';

export async function look(leading: Leading): Promise<Status> {
  const { context, lead, options } = leading;
  if (!(await lead.renew())) return LEAD_LOST;
  const open = await openLandings(leading);
  const finished = await finishJournalled(context, lead, open);
  if (finished.kind === 'lead_lost') return LEAD_LOST;
  if (finished.kind === 'busy') {
    await recordStall(context, lead, finished.reason);
    return { kind: 'unchanged' };
  }
  for (const landed of finished.landed) options.onLanded(landed);
  if (finished.landed.length > 0) return { kind: 'changed', hasLanded: true };
  const here = await bringHeads(context, lead, open, options.memory);
  const { landings, hasChanged } = await noticeMovedBranches(context, lead, here);
  if (hasChanged) return { kind: 'changed', hasLanded: false };
  const queue = (await context.board.get('queue', lead.target)) ?? newQueue(lead.target);
  const [first] = landings;
  if (first === undefined) return clear(leading, queue);
  const base = await leading.bases.find(first);
  if (base.kind === 'unknown') {
    for (const landing of landings) await waitInQueue(context, lead, landing, base.reason);
    return { kind: 'unchanged' };
  }
  return { kind: 'deciding', seen: await observe(leading, queue, landings, base) };
}

export async function openLandings({ context, lead, options }: Leading): Promise<readonly Landing[]> {
  const { only } = options;
  const open = await context.board.openLandings();
  return open.filter(({ target, task }) => target === lead.target && (only === undefined || only.has(task)));
}

/** All entries left the queue: its batches and their checks are dropped. */
async function clear({ context, lead, runs }: Leading, queue: MergeQueue): Promise<Status> {
  await runs.abandon(runs.wanted);
  await recordStall(context, lead, null);
  const { state } = queue;
  if (queue.runs.length === 0 && state.batches.length === 0) return { kind: 'unchanged' };
  const empty = { ...state, batches: [], probes: [], audit: null, trouble: null, passedOver: {} };
  const saved = await saveQueue(context, lead, queue, { state: empty, runs: [], landings: [] });
  return saved === 'lead_lost' ? LEAD_LOST : { kind: 'unchanged' };
}

async function observe(
  leading: Leading,
  queue: MergeQueue,
  landings: readonly Landing[],
  base: FoundBase,
): Promise<Seen> {
  const { context, runs, options } = leading;
  const { memory } = options;
  const running = runs.wanted;
  const ended = await endedRuns(leading, queue, base.onto, runs.takeEnded());
  await forgetSuperseded(context, memory, { tip: base.onto, state: queue.state });
  const hasChecks = leading.required.length > 0;
  const heads = landings.map(({ head }) => head);
  memory.unsound = await context.merging.examine(base.onto, heads);
  const found = await queueEntries(context, queue, landings, { tip: base.onto, memory, hasChecks });
  const asked = new Set(landings.filter(({ waiting }) => waiting === null).map(({ id }) => id));
  const entries = memory.unexpected.hold(found, { nowMs: context.clock.elapsedMs(), asked });
  return { queue, landings, base, entries, running, ended, blocked: blockedBy(leading, queue, landings) };
}

async function endedRuns(
  { context, options }: Leading,
  queue: MergeQueue,
  tip: CommitId,
  runs: ReturnType<CheckRuns['takeEnded']>,
): Promise<readonly EndedRun[]> {
  const ended: EndedRun[] = [];
  for (const { tree, ...run } of runs) {
    options.memory.candidates.forgetVerdict(tree);
    const batch = queue.state.batches.find(({ stage }) => stage.is === 'checking' && stage.run === run.run);
    const onto = batch?.stage.is === 'checking' ? batch.stage.onto : tip;
    ended.push({ ...run, isOntoLanded: await context.git.isAncestor(onto, tip) });
  }
  return ended;
}

function blockedBy(
  { context, options }: Leading,
  { paused }: MergeQueue,
  landings: readonly Landing[],
): WaitReason | null {
  if (paused.land !== null) return { kind: 'paused', comment: paused.land.reason };
  const { memory } = options;
  const { clock, policy } = context;
  if (memory.refusal === null) return null;
  const { atMs, reason, landings: refused } = memory.refusal;
  // A landing that the remote refused and that no longer waits: a person asked to try it again.
  const isAsked = landings.some(({ id, waiting }) => waiting === null && refused.has(id));
  if (isAsked) memory.refusal = null;
  return !isAsked && clock.elapsedMs() - atMs < policy.landing.pushAgainMs ? reason : null;
}
