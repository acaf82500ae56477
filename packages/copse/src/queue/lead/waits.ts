/** Records why entries of a queue wait, and whether the whole queue is stalled. */

import { decided } from '../../kernel/decision.ts';
import { change } from '../../board/context.ts';
import type { QueueEntry, QueuePlan } from '../rules/decide/decide.ts';
import { type Landing, decideLanding, isCommitted } from '../rules/landing.ts';
import type { MergeQueue } from '../rules/merge-queue.ts';
import { type WaitReason, isSameWait } from '../rules/wait-reason.ts';
import { type Lead, requireLead } from './leadership.ts';
import type { RunContext } from '../context.ts';

export interface WaitFacts {
  readonly queue: MergeQueue;
  readonly landings: readonly Landing[];
  readonly entries: readonly QueueEntry[];
  /** Why the target must not move. */
  readonly blocked: WaitReason | null;
}

/** Entries that cannot land although nothing is wrong with them get their reason; so does a stalled queue. */
export async function recordWaits(
  context: RunContext,
  lead: Lead,
  { queue, landings, entries, blocked }: WaitFacts,
  plan: QueuePlan,
  { isMoving }: { readonly isMoving: boolean },
): Promise<void> {
  // A check that starts to see whether checks work again is no movement yet.
  const isInTrouble = plan.state.trouble !== null;
  const held = new Map(entries.flatMap((entry) => (entry.held ? [[entry.landing, entry.held]] : [])));
  const rejected = new Set(plan.handBack.map(({ change }) => change.landing));
  for (const landing of landings) {
    if (rejected.has(landing.id)) continue;
    const reason = held.get(landing.id) ?? plan.stall;
    // A reason that the look already found is not written again: a person may have asked for a retry since then, which
    // drops the reason, and the next look has to see that.
    const isKnown =
      plan.land === null && landing.state.status === 'queued' && isSameWait(landing.waiting, reason);
    if (reason !== null && !isKnown) await waitInQueue(context, lead, landing, reason);
    else if (reason !== null) continue;
    else if (landing.waiting !== null && blocked === null && !isInTrouble)
      await goOnInQueue(context, lead, landing);
  }
  if (queue.stalled !== null && isInTrouble) return;
  await recordStall(context, lead, isMoving || plan.land !== null ? null : plan.stall);
}

/** Null: it moves. What is recorded already is not written again. */
export async function recordStall(context: RunContext, lead: Lead, reason: WaitReason | null): Promise<void> {
  const { target: id } = lead;
  const known = (await context.board.get('queue', id))?.stalled?.reason ?? null;
  if (isSameWait(reason, known)) return;
  await change(context, async (change) => {
    await requireLead(change, lead);
    const of = { id, at: change.at };
    await change.apply(
      decided(reason === null ? { type: 'queue.moving', ...of } : { type: 'queue.stalled', ...of, reason }),
    );
  });
}

/** Records why it stays in the queue; an unchanged reason writes nothing. Without a lead, a journalled landing is left alone. */
export async function waitInQueue(
  context: RunContext,
  lead: Lead | null,
  landing: Landing,
  reason: WaitReason,
): Promise<'recorded' | 'lead_lost'> {
  const recorded = await change(context, async (change) => {
    if (lead !== null) await requireLead(change, lead);
    const current = await change.require('landing', landing.id);
    if (lead === null && isCommitted(current)) return;
    if (isSameWait(current.waiting, reason) && current.state.status === 'queued') return;
    await change.apply(decideLanding(current, { action: 'wait', reason }, change.at));
  });
  return recorded.kind === 'refused' && recorded.refusal.code === 'fenced' ? 'lead_lost' : 'recorded';
}

/** The reason why it waited is gone. */
async function goOnInQueue(context: RunContext, lead: Lead, { id }: Landing): Promise<void> {
  await change(context, async (change) => {
    await requireLead(change, lead);
    const current = await change.require('landing', id);
    if (current.waiting === null || current.state.status !== 'queued') return;
    const request = {
      action: 'requeue',
      head: current.head,
      reason: 'the reason why it waited is gone',
    } as const;
    await change.apply(decideLanding(current, request, change.at));
  });
}
