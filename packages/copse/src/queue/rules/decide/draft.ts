/** The next state of a queue while the decision writes it, with the facts, and what follows from both. */

import type { LandingId } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import { Batches } from './batches.ts';
import type { QueueEntry, QueueFacts } from './facts.ts';
import { type StackLookup, Stacks } from './stack.ts';
import { type TargetCheck, type Batch, type Probe, type QueueState, type Trouble, runsOf } from './state.ts';
import { Train, fittingTrain } from './train.ts';

export class QueueDraft {
  readonly facts: QueueFacts;
  readonly policy: Policy['landing'];
  readonly entries: ReadonlyMap<LandingId, QueueEntry>;
  readonly stacks: Stacks;
  readonly batches: Batches;
  guilt: number;
  probes: readonly Probe[];
  audit: TargetCheck | null;
  trouble: Trouble | null;
  readonly passedOver: Map<LandingId, number>;

  constructor(state: QueueState, facts: QueueFacts, lookup: StackLookup, policy: Policy['landing']) {
    this.facts = facts;
    this.policy = policy;
    this.entries = new Map(facts.entries.map((entry) => [entry.landing, entry]));
    this.stacks = new Stacks(facts.tip, lookup);
    // Without checks, nothing that was remembered about them applies.
    const { hasChecks } = facts;
    this.batches = new Batches(hasChecks ? state : { ...state, batches: [] });
    this.guilt = state.guilt;
    this.probes = hasChecks ? state.probes : [];
    this.audit = hasChecks ? state.audit : null;
    this.trouble = hasChecks ? state.trouble : null;
    const passedOver = Object.entries(state.passedOver) as [LandingId, number][];
    this.passedOver = new Map(passedOver.filter(([landing]) => this.entries.has(landing)));
  }

  state(): QueueState {
    const tried = this.audit?.tried.filter((one) => this.entries.get(one.landing)?.head === one.head) ?? [];
    return {
      guilt: this.guilt,
      next: this.batches.next,
      batches: this.batches.all,
      probes: this.probes,
      audit: this.audit && { ...this.audit, tried },
      trouble: this.trouble,
      passedOver: Object.fromEntries(this.passedOver),
    };
  }

  get runs(): number {
    return runsOf({ batches: this.batches.all, probes: this.probes, audit: this.audit }).length;
  }

  targetVerdict(): 'green' | 'red' | 'unknown' {
    if (this.stacks.areGreen([])) return 'green';
    if (this.audit === null || this.audit.verdict === 'checking') return 'unknown';
    return this.audit.verdict;
  }

  get isTargetRed(): boolean {
    return this.audit?.verdict === 'red' && !this.stacks.areGreen([]);
  }

  /** While a change is urgent, the train consists of urgent changes only. */
  train(): Train {
    const whole = this.wholeTrain();
    const urgent = this.urgent();
    if (urgent.length === 0) return whole;
    const isUrgent = this.isOneOf(urgent);
    const end = whole.batches.findIndex((batch) => !isUrgent(batch));
    return new Train(end === -1 ? whole.batches : whole.batches.slice(0, end), this.stacks, this.facts);
  }

  wholeTrain(): Train {
    const green = this.batches.all.flatMap((batch) =>
      batch.stage.is === 'green' ? [{ batch, since: batch.stage.since }] : [],
    );
    const isUrgent = this.isOneOf(this.urgent());
    const ordered = green
      .toSorted((a, b) => Number(isUrgent(b.batch)) - Number(isUrgent(a.batch)) || a.since - b.since)
      .map(({ batch }) => batch);
    return new Train(fittingTrain(ordered, this.stacks, this.batches), this.stacks, this.facts);
  }

  mayLand({ conflict, held, landing }: QueueEntry): boolean {
    return conflict === null && held === null && !this.stacks.misfits.has(landing);
  }

  /** Entries that go first and alone, and can still land. */
  urgent(): readonly QueueEntry[] {
    const isTried = this.tried();
    return this.facts.entries.filter(
      (entry) =>
        (entry.isHotfix || this.#wasPassedOverTooOften(entry)) &&
        !entry.isUnchecked &&
        this.mayLand(entry) &&
        !isTried.has(entry.landing) &&
        this.batches.with(entry)?.stage.is !== 'guilty',
    );
  }

  /** Except those that got into a batch with others since. */
  #wasPassedOverTooOften(entry: QueueEntry): boolean {
    if ((this.passedOver.get(entry.landing) ?? 0) < this.policy.mostPassedOver) return false;
    return (this.batches.with(entry)?.changes.length ?? 1) === 1;
  }

  isOneOf(entries: readonly QueueEntry[]): (batch: Batch) => boolean {
    const landings = new Set(entries.map(({ landing }) => landing));
    return ({ changes }) => changes.some(({ landing }) => landings.has(landing));
  }

  /** Entries that were checked alone on a red target and did not mend it. */
  tried(): ReadonlySet<LandingId> {
    if (!this.isTargetRed) return new Set();
    const tried = this.audit?.tried ?? [];
    return new Set(
      tried.filter((one) => this.entries.get(one.landing)?.head === one.head).map(({ landing }) => landing),
    );
  }
}
