/** The check slots of a queue: which check starts next (decide.ts, 3 to 5 and 10). */

import type { CommitId } from '../../../kernel/ids.ts';
import { batchSize } from './batches.ts';
import type { QueueDraft } from './draft.ts';
import type { QueueEntry } from './facts.ts';
import type { Stack } from './stack.ts';
import { type Batch, type QueuedChange, isInFlight } from './state.ts';

export type Purpose = 'batch' | 'again' | 'half' | 'second_half' | 'probe' | 'target' | 'alone';

export interface Start extends Stack {
  readonly run: number;
  readonly commit: CommitId;
  readonly purpose: Purpose;
}

/** `green`: no check was needed, because the tree is known to be green. */
type Started = 'nothing' | 'check' | 'green';

export class Slots {
  readonly started: Start[] = [];
  readonly #draft: QueueDraft;

  constructor(draft: QueueDraft) {
    this.#draft = draft;
  }

  /** Starts checks until every slot is taken, or a tree is known to be green: then something may land. */
  fill(): Started {
    const { hasChecks, slots, now } = this.#draft.facts;
    if (!hasChecks || (this.#draft.trouble !== null && now < this.#draft.trouble.until)) return 'nothing';
    const most = this.#draft.trouble === null ? slots : Math.min(1, slots);
    for (;;) {
      if (this.#startUrgent(most) === 'green') return 'green';
      if (this.#draft.runs >= most) return 'nothing';
      const started = this.#startNext();
      if (started !== 'check') return started;
    }
  }

  #startUrgent(most: number): Started {
    for (const entry of this.#draft.urgent()) {
      if (!this.#draft.stacks.fit([entry])) continue;
      const batch = this.#alone(entry);
      if (batch.stage.is !== 'waiting') continue;
      const isKnown = this.#draft.stacks.mustFit([entry]).isGreen;
      if (!isKnown && this.#draft.runs >= most && !(entry.isHotfix && this.#makeRoom(most))) return 'nothing';
      if (this.#startBatch(batch, 'alone', []) === 'green') return 'green';
    }
    return 'nothing';
  }

  /** Takes it out of its batch into one of its own. */
  #alone(entry: QueueEntry): Batch {
    const batch = this.#draft.batches.with(entry);
    if (batch?.changes.length === 1) return batch;
    if (batch !== undefined)
      this.#draft.batches.reduce(
        batch,
        batch.changes.filter(({ landing }) => landing !== entry.landing),
      );
    return this.#draft.batches.add([entry]);
  }

  /** Gives up the check that started last: it loses the least work. */
  #makeRoom(most: number): boolean {
    if (most === 0 || this.#draft.trouble !== null) return false;
    const isUrgent = this.#draft.isOneOf(this.#draft.urgent());
    const runs = this.#draft.batches.all
      .filter((batch) => !isUrgent(batch))
      .flatMap((batch) => (batch.stage.is === 'checking' ? [{ batch, run: batch.stage.run }] : []));
    const probes = this.#draft.probes
      .filter(({ red, batches: [first] }) => {
        const batch = this.#draft.batches.all.find(({ id }) => id === first);
        return red === null && (batch === undefined || !isUrgent(batch));
      })
      .map(({ run }) => ({ batch: null, run }));
    const youngest = [...runs, ...probes].toSorted((a, b) => b.run - a.run)[0];
    if (youngest === undefined) return false;
    if (youngest.batch !== null) this.#draft.batches.again(youngest.batch);
    else this.#draft.probes = this.#draft.probes.filter(({ run }) => run !== youngest.run);
    return this.#draft.runs < most;
  }

  #startNext(): Started {
    const ways = [
      () => this.#startAudit(),
      () => this.#startProbe(),
      () => this.#startWaiting('again'),
      () => this.#startWaiting('half'),
      () => this.#startNew(),
      () => this.#startWaiting('second_half'),
    ];
    for (const start of ways) {
      const started = start();
      if (started !== 'nothing') return started;
    }
    return 'nothing';
  }

  #startAudit(): Started {
    const isAccused = this.#draft.batches.all.some(({ stage }) => stage.is === 'accused');
    if (!isAccused || this.#draft.audit !== null) return 'nothing';
    const { tip, checks } = this.#draft.facts;
    const run = this.#draft.batches.take();
    this.#draft.audit = { tip, verdict: 'checking', run, tried: [], checks };
    this.started.push({ run, onto: tip, changes: [], commit: tip, purpose: 'target' });
    return 'check';
  }

  #startProbe(): Started {
    const running = this.#draft.probes.filter(({ red }) => red === null).length;
    if (running >= Math.max(1, Math.floor(this.#draft.facts.slots / 2))) return 'nothing';
    const train = this.#draft.train();
    const length = train.nextProbe(this.#draft.probes);
    if (length === undefined) return 'nothing';
    const batches = train.batches.slice(0, length);
    const changes = batches.flatMap((batch) => batch.changes);
    const { commit } = this.#draft.stacks.mustFit(changes);
    const run = this.#draft.batches.take();
    this.#draft.probes = [
      ...this.#draft.probes,
      { run, batches: batches.map(({ id }) => id), commit, red: null },
    ];
    this.started.push({ run, onto: this.#draft.facts.tip, changes, commit, purpose: 'probe' });
    return 'check';
  }

  #startWaiting(as: 'again' | 'half' | 'second_half'): Started {
    for (const batch of this.#draft.batches.all) {
      if (batch.stage.is !== 'waiting' || batch.stage.as !== as) continue;
      if (this.#draft.stacks.fit(batch.changes)) return this.#startBatch(batch, as, []);
      this.#draft.batches.dissolve(batch);
    }
    return 'nothing';
  }

  #startNew(): Started {
    const free = this.#free();
    const { slots, everyCommitGreen } = this.#draft.facts;
    const freeSlots = Math.max(1, slots - this.#draft.runs);
    const usual = batchSize(this.#draft.guilt, this.#draft.policy);
    const isAlone = everyCommitGreen || this.#draft.isTargetRed;
    const size = isAlone ? 1 : Math.min(usual, Math.ceil(free.length / freeSlots));
    const changes = this.#draft.stacks.fitting(free, size);
    if (changes.length === 0) return 'nothing';
    this.#countPassedOver(free, changes);
    const inFlight = this.#draft.batches.all.filter(isInFlight);
    const count = inFlight.reduce((sum, batch) => sum + batch.changes.length, 0);
    const isQuiet = free.length === changes.length && count > 0 && count < usual && !this.#draft.isTargetRed;
    const below = isQuiet ? this.#below(inFlight, changes) : [];
    return this.#startBatch(this.#draft.batches.add(changes), 'batch', below);
  }

  /** Entries in no batch that may get into one. */
  #free(): readonly QueueEntry[] {
    const tried = this.#draft.tried();
    return this.#draft.facts.entries.filter(
      (entry) =>
        !entry.isUnchecked &&
        this.#draft.batches.with(entry) === undefined &&
        this.#draft.mayLand(entry) &&
        !tried.has(entry.landing),
    );
  }

  /** Everything in flight, in the order of landing, if it merges with these changes. */
  #below(inFlight: readonly Batch[], changes: readonly QueuedChange[]): readonly QueuedChange[] {
    const { batches: train } = this.#draft.wholeTrain();
    const below = [...train, ...inFlight.filter((batch) => !train.includes(batch))];
    const all = below.flatMap((batch) => batch.changes);
    return this.#draft.stacks.fit([...all, ...changes]) ? all : [];
  }

  #countPassedOver(free: readonly QueueEntry[], taken: readonly QueueEntry[]): void {
    const isTaken = new Set(taken);
    const last = free.findLastIndex((entry) => isTaken.has(entry));
    const passed = new Set(free.slice(0, last).filter((entry) => !isTaken.has(entry)));
    const eldest = free.reduce((one, other) => (other.queuedAt < one.queuedAt ? other : one));
    if (!isTaken.has(eldest)) passed.add(eldest);
    for (const { landing } of passed)
      this.#draft.passedOver.set(landing, (this.#draft.passedOver.get(landing) ?? 0) + 1);
  }

  #startBatch(batch: Batch, purpose: Purpose, below: readonly QueuedChange[]): Started {
    const { tip } = this.#draft.facts;
    const changes = [...below, ...batch.changes];
    const { commit, isGreen } = this.#draft.stacks.mustFit(changes);
    const of = batch.stage.is === 'waiting' && batch.stage.as === 'second_half' ? batch.stage.of : null;
    if (isGreen) {
      this.#draft.batches.becomeGreen(batch);
      if (of === null) this.#draft.batches.tellSecondHalf(batch, true);
      return 'green';
    }
    const onto = below.length === 0 ? tip : this.#draft.stacks.mustFit(below).commit;
    const run = this.#draft.batches.take();
    this.#draft.batches.move(batch, { is: 'checking', run, onto, of });
    this.started.push({ run, onto: tip, changes, commit, purpose });
    return 'check';
  }
}
