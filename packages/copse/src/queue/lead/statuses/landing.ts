/** Status "landing": moves the target, plans again on a new tip when another push was first, and sets aside what fails. */

import { unreachable } from '../../../kernel/unreachable.ts';
import type { QueuedChange } from '../../rules/decide/state.ts';
import type { Landing } from '../../rules/landing.ts';
import type { WaitReason } from '../../rules/wait-reason.ts';
import { giveUpLanding } from '../hand-back.ts';
import { type FoundBase, type LandPlan, type StackMoved, findInTheWay, landPlanned } from '../land.ts';
import { waitInQueue } from '../waits.ts';
import { LEAD_LOST, type Leading, type Seen, type Status, type InStatus } from './status.ts';

interface Planned {
  readonly land: LandPlan;
  readonly base: FoundBase;
}

export async function land(leading: Leading, { seen, plan, land }: InStatus<'landing'>): Promise<Status> {
  if (await hasBaseMoved(leading, seen)) return { kind: 'changed', hasLanded: false };
  const { context, lead, required } = leading;
  const { memory, onLanded, onStep = () => {} } = leading.options;
  let planned: Planned | undefined = { land, base: seen.base };
  let outcome: StackMoved = { kind: 'outrun' };
  for (let times = 0; planned !== undefined && outcome.kind === 'outrun'; times += 1) {
    outcome = await landPlanned(context, lead, { ...planned, memory, required, onStep });
    const isAgain = outcome.kind === 'outrun' && times < context.policy.landing.outrunTimes;
    planned = isAgain ? await planOnNewTip(leading, seen, land) : undefined;
  }
  if (outcome.kind === 'landed') for (const one of outcome.landed) onLanded(one);
  if (outcome.kind !== 'failed') memory.unexpected.clear(land.changes);
  switch (outcome.kind) {
    case 'landed':
    case 'outdated':
      return { kind: 'acting', seen, plan, landed: outcome.kind };
    case 'lead_lost':
      return LEAD_LOST;
    case 'outrun':
    case 'push_unknown':
      return { kind: 'changed', hasLanded: false };
    case 'push_refused':
      return { kind: 'deciding', seen: { ...seen, blocked: outcome.reason } };
    case 'blocked':
      return { kind: 'deciding', seen: await withoutBlocked(leading, seen, land, outcome.reason) };
    case 'failed':
      return failed(leading, seen, land, outcome);
    default:
      return unreachable(outcome);
  }
}

/** The remote is asked once more right before a landing, unless it was asked a moment ago. */
async function hasBaseMoved(
  { context, bases }: Leading,
  { base, landings: [first] }: Seen,
): Promise<boolean> {
  if (!context.landing.push || !bases.isOld || first === undefined) return false;
  const now = await bases.find(first, { isAboutToLand: true });
  return now.kind === 'unknown' || now.onto !== base.onto || now.local !== base.local;
}

/**
 * Another push was first. Merged again onto the new tip at once, without a whole look, the next push has a good chance; where
 * the new tree must be checked first, or does not merge, the next look decides.
 */
async function planOnNewTip(
  { options, bases, required }: Leading,
  { landings: [first] }: Seen,
  land: LandPlan,
): Promise<Planned | undefined> {
  if (first === undefined || options.signal.aborted) return undefined;
  const base = await bases.find(first, { isAboutToLand: true });
  if (base.kind === 'unknown') return undefined;
  const { candidates } = options.memory;
  const stack = { onto: base.onto, changes: land.changes };
  await candidates.find(stack);
  const merged = candidates.look(stack);
  if (merged?.kind !== 'merged') return undefined;
  const mustBeGreen = required.length > 0 && land.isChecked;
  if (mustBeGreen && !merged.isGreen) return undefined;
  return { base, land: { ...stack, commit: merged.commit, isChecked: land.isChecked } };
}

/** Without checks the others can land: only the entry whose files are changed in the checkout is held. */
async function withoutBlocked(
  { context, lead, options, required }: Leading,
  seen: Seen,
  land: LandPlan,
  reason: WaitReason,
): Promise<Seen> {
  const isSeparable = required.length === 0 && land.changes.length > 1;
  const steps = isSeparable ? await options.memory.candidates.steps(land) : [];
  const move = { target: lead.target, from: seen.base.local };
  const inTheWay = await findInTheWay(context, move, steps);
  if (inTheWay === undefined) return { ...seen, blocked: reason };
  const entries = seen.entries.map((entry) =>
    entry.landing === inTheWay ? { ...entry, held: reason } : entry,
  );
  return { ...seen, entries };
}

/** See failures.ts. */
async function failed(
  leading: Leading,
  seen: Seen,
  { changes }: LandPlan,
  { detail, isFaultOfMachine: isOurs }: Extract<StackMoved, { kind: 'failed' }>,
): Promise<Status> {
  if (isOurs) return { kind: 'deciding', seen: { ...seen, blocked: { kind: 'queue_failed', detail } } };
  const [only, ...others] = changes;
  if (others.length > 0) leading.options.memory.unexpected.suspect(changes);
  else if (only !== undefined) await setAside(leading, seen.landings, only, detail);
  return { kind: 'changed', hasLanded: false };
}

/** Tried again later; in the end a person is asked. */
export async function setAside(
  { context, lead, options }: Leading,
  landings: readonly Landing[],
  change: QueuedChange,
  detail: string,
): Promise<void> {
  const { clock, policy } = context;
  const { unexpected, candidates } = options.memory;
  const landing = landings.find(({ id }) => id === change.landing);
  candidates.forgetFailed(change);
  const nowMs = clock.elapsedMs();
  const times = unexpected.add(change, detail, { nowMs, policy: policy.landing });
  if (landing === undefined) return;
  if (times < policy.landing.failedTimes)
    await waitInQueue(context, lead, landing, { kind: 'landing_failed', detail });
  else await giveUpLanding(context, landing, { because: 'landing', reason: detail }, lead);
}
