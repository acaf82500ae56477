/** Status "deciding": asks rules/decide what to start, land and hand back, and merges what the decision needs to know. */

import type { LandingId } from '../../../kernel/ids.ts';
import { type QueueFacts, decideQueue } from '../../rules/decide/decide.ts';
import { digestOf } from '../checks.ts';
import type { Leading, Seen, Status } from './status.ts';

export async function decide(leading: Leading, seen: Seen): Promise<Status> {
  const { context, options, runs, required } = leading;
  const { policy, landing: settings } = context;
  const { candidates } = options.memory;
  const { queue, entries, base, running, ended, blocked } = seen;
  const abandoned = runs.slots.length - runs.wanted.length;
  const facts: QueueFacts = {
    now: context.clock.now(),
    target: leading.lead.target,
    tip: base.onto,
    entries,
    landed: await landedOf(leading, seen),
    ended,
    running,
    slots: Math.max(0, settings.slots - abandoned),
    hasChecks: required.length > 0,
    checks: digestOf(required),
    everyCommitGreen: settings.every_commit_green,
    blocked,
    isPaused: queue.paused.land !== null,
  };
  for (;;) {
    const decision = decideQueue(queue.state, facts, (stack) => candidates.look(stack), policy.landing);
    if (decision.kind === 'undecided') {
      await candidates.find(decision.stack);
      continue;
    }
    const { plan } = decision;
    return plan.land === null
      ? { kind: 'acting', seen, plan, landed: null }
      : { kind: 'landing', seen, plan, land: plan.land };
  }
}

/** Of the changes that the queue remembers, those that have landed. */
async function landedOf(
  { context: { board } }: Leading,
  { queue: { state }, entries }: Seen,
): Promise<readonly LandingId[]> {
  const open = new Set(entries.map(({ landing }) => landing));
  const gone = state.batches.flatMap(({ changes }) => changes).filter(({ landing }) => !open.has(landing));
  const records = await Promise.all(gone.map(({ landing }) => board.get('landing', landing)));
  return records.flatMap((record) => (record?.state.status === 'landed' ? [record.id] : []));
}
