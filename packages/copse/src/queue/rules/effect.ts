/**
 * The cost of moving a task to the front or out of the queue, before it is done: how many running checks would restart.
 * It asks the decision twice, with the queue as it is and as it would be. All changes are assumed to merge.
 */

import { type CommitId, type LandingId, brand } from '../../kernel/ids.ts';
import type { Landing } from './landing.ts';
import type { MergeQueue } from './merge-queue.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type QueueEntry, type StackLookup, type QueueFacts, decideQueue } from './decide/decide.ts';
import type { QueueState } from './decide/state.ts';

export interface EffectFacts {
  readonly queue: MergeQueue;
  /** In the order of landing. */
  readonly entries: readonly {
    readonly landing: Pick<Landing, 'id' | 'task' | 'head' | 'queuedAt' | 'isHotfix' | 'isUnchecked'>;
    readonly isHeld: boolean;
  }[];
  readonly slots: number;
  readonly hasChecks: boolean;
  readonly now: number;
}

export type Intervention =
  | { readonly kind: 'hurried'; readonly landings: readonly LandingId[] }
  | { readonly kind: 'withdrawn'; readonly landings: readonly LandingId[] };

/** How many of the running checks restart because of it, sooner or later. */
export function restartsBy(
  intervention: Intervention,
  facts: EffectFacts,
  policy: Policy['landing'],
): number {
  if (!facts.hasChecks || facts.queue.runs.length === 0) return 0;
  const as = thrownAway(facts, facts.entries.map(asEntry), policy);
  const would = thrownAway(facts, intervened(intervention, facts), policy);
  return [...would].filter((run) => !as.has(run)).length;
}

function intervened({ kind, landings }: Intervention, { entries }: EffectFacts): readonly QueueEntry[] {
  const isMeant = (id: LandingId) => landings.includes(id);
  if (kind === 'withdrawn') return entries.filter(({ landing }) => !isMeant(landing.id)).map(asEntry);
  const hurried = entries.map((one) =>
    isMeant(one.landing.id) ? { ...one, landing: { ...one.landing, isHotfix: true } } : one,
  );
  return hurried.toSorted((a, b) => Number(b.landing.isHotfix) - Number(a.landing.isHotfix)).map(asEntry);
}

function asEntry({ landing, isHeld }: EffectFacts['entries'][number]): QueueEntry {
  const { id, task, head, queuedAt, isHotfix, isUnchecked } = landing;
  const held = isHeld ? PAUSED : null;
  return { landing: id, task, head, queuedAt, isHotfix, isUnchecked, conflict: null, held };
}

/** Nothing lands while the cost is computed. */
const PAUSED = { kind: 'paused', comment: null } as const;

/** Running checks that are abandoned at once, or when the hotfixes that start now are green. */
function thrownAway(
  facts: EffectFacts,
  entries: readonly QueueEntry[],
  policy: Policy['landing'],
): ReadonlySet<number> {
  const { queue } = facts;
  const running = queue.runs.map(({ run }) => run);
  const before = plan(queue.state, facts, { entries, running, ended: [] }, policy);
  const alone = before.start.filter(({ purpose }) => purpose === 'alone').map(({ run }) => run);
  const left = running.filter((run) => !before.abandon.includes(run));
  const ended = alone.map((run) => ({ run, verdict: 'green', reason: '', isOntoLanded: true }) as const);
  const after = plan(before.state, facts, { entries, running: [...left, ...alone], ended }, policy);
  return new Set([...before.abandon, ...after.abandon].filter((run) => running.includes(run)));
}

function plan(
  state: QueueState,
  { queue, slots, now }: EffectFacts,
  seen: Pick<QueueFacts, 'entries' | 'running' | 'ended'>,
  policy: Policy['landing'],
) {
  const facts: QueueFacts = {
    ...seen,
    now,
    target: queue.id,
    tip: brand<CommitId>(state.audit?.tip ?? 'tip'),
    landed: [],
    slots,
    hasChecks: true,
    checks: state.audit?.checks ?? '',
    everyCommitGreen: false,
    blocked: PAUSED,
    isPaused: queue.paused.land !== null,
  };
  const decision = decideQueue(state, facts, everythingMerges(queue), policy);
  if (decision.kind === 'undecided') throw new Error('All stacks are known');
  return decision.plan;
}

/** A stack that is being checked is the commit that is being checked. */
function everythingMerges({ runs }: MergeQueue): StackLookup {
  const known = new Map(runs.map(({ landings, commit }) => [landings.join(' '), commit]));
  return ({ onto, changes }) => {
    if (changes.length === 0) return { kind: 'merged', commit: onto, isGreen: false };
    const key = changes.map(({ landing }) => landing).join(' ');
    return { kind: 'merged', commit: known.get(key) ?? brand<CommitId>(`${onto} ${key}`), isGreen: false };
  };
}
