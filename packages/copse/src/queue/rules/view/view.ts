/**
 * What the queue of a target looks like to a person: what is being checked and for what, and of every entry where it stands,
 * why it waits, behind whom, and how long that may take.
 *
 * All of it follows from what the board keeps. A queue that nobody leads says so: checks that its last leader began are lost
 * then, whatever is written about them. A range of time is only given where nothing but checks is in the way, and only
 * once it is known how long these take. It goes from "everything is green" to "every batch has to be split to the end".
 */

import { unreachable } from '../../../kernel/unreachable.ts';
import type { BranchName, CommitId, LandingId, TaskId, Timestamp } from '../../../kernel/ids.ts';
import { type Landing, isCommitted } from '../landing.ts';
import type { CheckRun, MergeQueue, Pause, QueueSwitch } from '../merge-queue.ts';
import type { Policy } from '../../../kernel/policy.ts';
import { type Recent, type RecentLanding, type Usual, quantile, usualOf } from './history.ts';
import { batchSize } from '../decide/decide.ts';
import type { Batch, Change, Trouble } from '../decide/state.ts';
import { spanText } from '../../../kernel/time.ts';
import { named } from '../../../kernel/text.ts';

export interface QueueRecords {
  readonly queue: MergeQueue;
  /** In the order of landing. */
  readonly entries: readonly QueueRecord[];
  readonly recent: Recent;
  /** Somebody looks after it right now. */
  readonly isLed: boolean;
  /** Of its runs, those whose process is gone. */
  readonly lost?: ReadonlySet<number>;
  /** Of the checks that are asked for. */
  readonly commands: readonly string[];
  readonly slots: number;
  readonly now: Timestamp;
}

export interface QueueRecord {
  readonly landing: Landing;
  readonly title: string;
  /** A dependency that is not done. */
  readonly dependsOn: TaskId | null;
}

export interface QueueView {
  readonly target: BranchName;
  readonly isLed: boolean;
  /** Whatever lands is checked first. */
  readonly hasChecks: boolean;
  readonly slots: { readonly busy: number; readonly of: number };
  readonly runs: readonly RunView[];
  /** Were going on when whoever led the queue was killed. They are begun again by whoever leads it next. */
  readonly lost: readonly RunView[];
  /** Changes that passed and wait to be landed together. */
  readonly train: number;
  readonly paused: { readonly [S in QueueSwitch]: Pause | null };
  readonly stalled: MergeQueue['stalled'];
  readonly trouble: Trouble | null;
  /** It fails its checks with nothing merged into it. */
  readonly isTargetRed: boolean;
  readonly usual: Usual | null;
  readonly entries: readonly EntryView[];
  readonly figures: Figures;
  /** The latest first. */
  readonly landed: readonly RecentLanding[];
}

export interface RunView {
  readonly slot: number;
  readonly purpose: CheckRun['purpose'];
  /** What is found out by it, such as "a batch of 3: cp-a1b2, cp-c3d4, cp-e5f6". */
  readonly says: string;
  readonly tasks: readonly TaskId[];
  readonly commit: CommitId;
  readonly since: Timestamp;
}

export type EntryState =
  | 'waiting'
  | 'checking'
  | 'green'
  | 'again'
  | 'half'
  | 'held'
  | 'handed_back'
  | 'landing';

export interface EntryView {
  readonly position: number;
  readonly task: TaskId;
  readonly landing: LandingId;
  readonly title: string;
  readonly state: EntryState;
  /** What follows "it": "is checked with cp-a1b2". */
  readonly why: string;
  /** Those that land first or have to be done first. */
  readonly behind: readonly TaskId[];
  readonly range: Range | null;
  readonly queuedAt: Timestamp;
  readonly isHotfix: boolean;
  readonly isUnchecked: boolean;
}

/** Until it is landed. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Figures {
  readonly oldestMs: number | null;
  readonly landedLastHour: number;
  /** From queued to landed. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly checksPerLanded: number | null;
}

const HOUR_MS = 3_600_000;

/** As many of those that landed as are worth showing. */
const SHOWN_LANDED = 5;

export function viewQueue(records: QueueRecords, policy: Policy['landing']): QueueView {
  return new Viewer(records, policy).view();
}

class Viewer {
  readonly #records: QueueRecords;
  readonly #policy: Policy['landing'];
  readonly #usual: Usual | null;
  readonly #runs: readonly CheckRun[];
  readonly #lost: readonly CheckRun[];
  readonly #taskOf: ReadonlyMap<LandingId, TaskId>;
  readonly #open: ReadonlyMap<LandingId, CommitId>;

  constructor(records: QueueRecords, policy: Policy['landing']) {
    this.#records = records;
    this.#policy = policy;
    this.#usual = usualOf(records.commands, records.recent);
    const { runs, state } = records.queue;
    const isGoingOn = ({ run }: CheckRun) => records.isLed && !records.lost?.has(run);
    this.#runs = runs.filter(isGoingOn);
    this.#lost = runs.filter((run) => !isGoingOn(run));
    this.#open = new Map(records.entries.map(({ landing }) => [landing.id, landing.head]));
    const { batches } = state;
    this.#taskOf = new Map([
      ...batches.flatMap(({ changes }) => changes.map(({ landing, task }) => [landing, task] as const)),
      ...records.entries.map(({ landing }) => [landing.id, landing.task] as const),
    ]);
  }

  view(): QueueView {
    const { queue, entries, recent, isLed, slots, commands } = this.#records;
    const { state, paused, stalled } = queue;
    return {
      target: queue.id,
      isLed,
      hasChecks: commands.length > 0,
      slots: { busy: this.#runs.length, of: commands.length > 0 ? slots : 0 },
      runs: this.#runs.toSorted(bySlot).map((run) => this.#run(run)),
      lost: this.#lost.toSorted(bySlot).map((run) => this.#run(run)),
      train: this.#train().flatMap((batch) => this.#present(batch)).length,
      paused,
      stalled,
      trouble: state.trouble,
      isTargetRed: this.#isTargetRed,
      usual: this.#usual,
      entries: entries.map((entry, at) => this.#entry(entry, at)),
      figures: this.#figures(),
      landed: recent.landed.slice(-SHOWN_LANDED).toReversed(),
    };
  }

  get #isTargetRed(): boolean {
    return this.#records.queue.state.audit?.verdict === 'red';
  }

  #figures(): Figures {
    const { entries, recent, now } = this.#records;
    const { landed, runs } = recent;
    const took = landed.map(({ tookMs }) => tookMs);
    const ages = entries.map(({ landing }) => now - landing.queuedAt);
    return {
      oldestMs: ages.length === 0 ? null : Math.max(0, ...ages),
      landedLastHour: landed.filter(({ at }) => now - at < HOUR_MS).length,
      p50Ms: took.length === 0 ? null : quantile(took, 0.5),
      p95Ms: took.length === 0 ? null : quantile(took, 0.95),
      checksPerLanded: landed.length === 0 || runs === 0 ? null : runs / landed.length,
    };
  }

  // Checks.

  #run(run: CheckRun): RunView {
    const { slot, purpose, commit, since } = run;
    const tasks = this.#tasks(run.landings);
    return { slot, purpose, commit, since, tasks, says: this.#purposeText(run, tasks) };
  }

  #purposeText({ run, purpose, landings }: CheckRun, all: readonly TaskId[]): string {
    const { batches } = this.#records.queue.state;
    const batch = batches.find(({ stage }) => stage.is === 'checking' && stage.run === run);
    const own = batch?.changes.map(({ task }) => task) ?? all;
    const below = batch === undefined ? 0 : landings.length - batch.changes.length;
    const onTop = below === 0 ? '' : ` on top of ${counted(below, 'change')} in flight`;
    switch (purpose) {
      case 'batch':
        return `${own.length === 1 ? named(own) : `a batch of ${own.length}: ${named(own)}`}${onTop}`;
      case 'again':
        return `${own.length === 1 ? '' : `${own.length} changes: `}${named(own)}, once more`;
      case 'half':
        return `half of a red batch: ${named(own)}`;
      case 'second_half':
        return `the other half of a red batch: ${named(own)}`;
      case 'probe':
        return `the train up to ${all.at(-1) ?? 'its end'} (${counted(all.length, 'change')})`;
      case 'target':
        return `${this.#records.queue.id} itself, with nothing merged into it`;
      case 'alone':
        return `${named(own)} alone`;
      default:
        return unreachable(purpose);
    }
  }

  #tasks(landings: readonly LandingId[]): readonly TaskId[] {
    return landings.flatMap((landing) => this.#taskOf.get(landing) ?? []);
  }

  #train(): readonly Batch[] {
    const since = ({ stage }: Batch) => (stage.is === 'green' ? stage.since : 0);
    return this.#records.queue.state.batches
      .filter(({ stage }) => stage.is === 'green')
      .toSorted((a, b) => since(a) - since(b));
  }

  /** What it is made of, without what has just landed or left: whoever leads the queue sees that at its next look. */
  #present({ changes }: Batch): readonly Change[] {
    return changes.filter(({ landing, head }) => this.#open.get(landing) === head);
  }

  // Entries.

  #entry({ landing, title, dependsOn }: QueueRecord, at: number): EntryView {
    const { id, task, queuedAt, isHotfix, isUnchecked } = landing;
    const standing = this.#standing(landing, dependsOn, at);
    const of = { position: at + 1, task, landing: id, title, queuedAt, isHotfix, isUnchecked };
    const range = this.#isStopped() ? null : (standing.range ?? null);
    return { ...of, state: standing.state, why: standing.why, behind: standing.behind ?? [], range };
  }

  #standing(landing: Landing, dependsOn: TaskId | null, at: number): Standing {
    if (isCommitted(landing))
      return {
        state: 'landing',
        why: `is landing: ${landing.target} moves to it`,
        range: { fromMs: 0, toMs: 0 },
      };
    const batch = this.#batchOf(landing);
    if (batch?.stage.is === 'guilty')
      return { state: 'handed_back', why: 'failed its checks twice and is handed back' };
    const held = this.#heldBy(landing, dependsOn);
    if (held !== null) return held;
    if (!this.#records.isLed) return this.#unled(batch);
    if (landing.isUnchecked)
      return { state: 'waiting', why: 'lands without checks as soon as it is looked at' };
    return batch === undefined ? this.#free(at) : this.#inBatch(batch, landing, at);
  }

  #unled(batch: Batch | undefined): Standing {
    const run = batch?.stage.is === 'checking' ? batch.stage.run : null;
    if (this.#lost.every((one) => one.run !== run))
      return { state: 'waiting', why: `waits for somebody to lead the queue` };
    const why = 'lost its check with whoever led the queue; it is checked again when somebody leads it';
    return { state: 'again', why };
  }

  #heldBy({ waiting, queuedAt }: Landing, dependsOn: TaskId | null): Standing | null {
    const { queue } = this.#records;
    if (dependsOn !== null && (waiting === null || waiting.includes(dependsOn)))
      return { state: 'held', why: `waits for ${dependsOn}, on which it depends`, behind: [dependsOn] };
    const { accept, land } = queue.paused;
    if (accept !== null && queuedAt >= accept.since)
      return { state: 'held', why: `waits outside: ${pauseText('accept', accept)}` };
    if (land !== null) return { state: 'held', why: `waits: ${pauseText('land', land)}` };
    if (waiting === null) return null;
    if (waiting === queue.stalled?.reason) return { state: 'held', why: 'waits until the queue moves again' };
    const [, forWhat] = /^waiting for (.*)$/su.exec(waiting) ?? [];
    return { state: 'held', why: forWhat === undefined ? `waits: ${waiting}` : `waits for ${forWhat}` };
  }

  /** In no batch. */
  #free(at: number): Standing {
    const { commands, entries, slots } = this.#records;
    const ahead = entries.slice(0, at).map(({ landing }) => landing);
    if (commands.length === 0) return { state: 'waiting', why: 'lands at the next look' };
    const free = ahead.filter((one) => this.#batchOf(one) === undefined && one.waiting === null);
    const behind = ahead.map(({ task }) => task);
    const hasSlot = this.#runs.length < slots;
    const why =
      free.length === 0
        ? `waits for ${hasSlot ? 'its check to begin' : 'a free slot'}`
        : `waits for a free slot, behind ${named(free.map(({ task }) => task))}`;
    const perRound = batchSize(this.#records.queue.state.guilt, this.#policy) * Math.max(1, slots);
    const rounds = Math.floor(free.length / perRound);
    return { state: 'waiting', why, behind, range: this.#afterSlot(rounds, perRound) };
  }

  #inBatch(batch: Batch, landing: Landing, at: number): Standing {
    const { stage } = batch;
    const changes = this.#present(batch);
    const others = changes.filter(({ landing: id }) => id !== landing.id).map(({ task }) => task);
    const together = others.length === 0 ? '' : ` with ${named(others)}`;
    switch (stage.is) {
      case 'checking': {
        const run = this.#runs.find((one) => one.run === stage.run);
        if (run === undefined) return { state: 'again', why: `is checked again${together} at the next look` };
        const range = this.#afterRun(run, changes.length);
        const why = `is checked${together}${howText(run)}`;
        return { state: 'checking', why, behind: this.#ahead(at), range };
      }
      case 'green':
        return this.#inTrain(batch);
      case 'accused': {
        const why = `was red${together}; ${landing.target} itself is checked before anybody is blamed`;
        return { state: 'again', why, range: this.#afterSlot(1, changes.length) };
      }
      case 'waiting':
        return {
          state: stage.as === 'again' ? 'again' : 'half',
          why: this.#againText(batch, together),
          range: this.#afterSlot(stage.as === 'second_half' ? 1 : 0, changes.length),
        };
      case 'guilty':
        return { state: 'handed_back', why: 'failed its checks twice and is handed back' };
      default:
        return unreachable(stage);
    }
  }

  #againText({ stage, wasRed }: Batch, together: string): string {
    if (stage.is !== 'waiting') return '';
    switch (stage.as) {
      case 'again':
        return wasRed
          ? `was red once, which may have been by chance, and is checked once more`
          : `is checked again${together} as soon as a slot is free`;
      case 'half':
        return `is in a half of a red batch${together}, which is checked by itself`;
      case 'second_half':
        return `is in the other half of a red batch${together}; the first half is checked first`;
      default:
        return unreachable(stage);
    }
  }

  /** Green by itself: it lands when all of the train up to it was checked as a whole. */
  #inTrain(batch: Batch): Standing {
    const train = this.#train();
    const ahead = train.slice(0, train.indexOf(batch)).flatMap((one) => this.#present(one));
    const behind = ahead.map(({ task }) => task);
    const hotfix = this.#hotfixFirst();
    if (hotfix !== undefined)
      return { state: 'green', why: `passed; ${hotfix} lands first`, behind: [hotfix, ...behind] };
    const { probes } = this.#records.queue.state;
    const own = probes.filter(({ red, batches }) => red === null && batches.includes(batch.id));
    const runs = this.#runs.filter(({ run }) => own.some((probe) => probe.run === run));
    const after = behind.length === 0 ? '' : ` behind ${named(behind)}`;
    const [first] = runs.toSorted((a, b) => a.landings.length - b.landings.length);
    if (first === undefined)
      return {
        state: 'green',
        why: `passed; it joins the train${after}`,
        behind,
        range: this.#afterSlot(0, 1),
      };
    const upTo = this.#tasks(first.landings).at(-1) ?? 'its end';
    const why = `passed; the train up to ${upTo} is checked`;
    return { state: 'green', why, behind, range: this.#afterRun(first, 1) };
  }

  #hotfixFirst(): TaskId | undefined {
    return this.#records.entries.find(({ landing }) => landing.isHotfix)?.landing.task;
  }

  #ahead(at: number): readonly TaskId[] {
    return this.#records.entries.slice(0, at).map(({ landing }) => landing.task);
  }

  #batchOf({ id, head }: Landing): Batch | undefined {
    return this.#records.queue.state.batches.find(({ changes }) =>
      changes.some((change) => change.landing === id && change.head === head),
    );
  }

  // Time.

  /** Nothing that is known about checks says how long this takes. */
  #isStopped(): boolean {
    const { isLed, queue } = this.#records;
    return !isLed || queue.stalled !== null || queue.state.trouble !== null || this.#isTargetRed;
  }

  /** After the end of a run: at once, or after a check of the train, or after its batch was split to the end. */
  #afterRun(run: CheckRun, size: number): Range | null {
    if (this.#usual === null) return null;
    const ranMs = this.#records.now - run.since;
    const { medianMs, slowMs } = this.#usual;
    return {
      fromMs: Math.max(0, medianMs - ranMs),
      toMs: Math.max(0, slowMs - ranMs) + slowMs * (1 + splits(size)),
    };
  }

  /** After so many rounds of checks that come first, and its own. */
  #afterSlot(rounds: number, size: number): Range | null {
    if (this.#usual === null) return null;
    const { slots, now } = this.#records;
    const { medianMs, slowMs } = this.#usual;
    const ends = this.#runs.map(({ since }) => since - now);
    const isFree = this.#runs.length < slots;
    const slotMs = (lasts: number) =>
      isFree ? 0 : Math.max(0, Math.min(...ends.map((begun) => begun + lasts)));
    return {
      fromMs: slotMs(medianMs) + medianMs * (rounds + 1),
      toMs: slotMs(slowMs) + slowMs * (2 * rounds + 2 + splits(size)),
    };
  }
}

interface Standing {
  readonly state: EntryState;
  readonly why: string;
  readonly behind?: readonly TaskId[];
  readonly range?: Range | null;
}

function bySlot(one: CheckRun, other: CheckRun): number {
  return one.slot - other.slot;
}

/** What is special about the check that it is part of. */
function howText({ purpose }: CheckRun): string {
  switch (purpose) {
    case 'again':
      return ' once more';
    case 'half':
    case 'second_half':
      return ' as half of a red batch';
    case 'alone':
      return ' first and alone';
    case 'batch':
    case 'probe':
    case 'target':
      return '';
    default:
      return unreachable(purpose);
  }
}

/** How often a batch is halved until one is left. */
function splits(size: number): number {
  return Math.ceil(Math.log2(Math.max(1, size)));
}

function pauseText(what: QueueSwitch, { reason }: Pause): string {
  const says = what === 'accept' ? 'the queue accepts nothing now' : 'the queue is paused';
  return reason === null ? says : `${says} (${reason})`;
}

/** `about 2 min`, `30 s to 2 min`. */
export function rangeText({ fromMs, toMs }: Range): string {
  const [from, to] = [spanText(fromMs), spanText(toMs)];
  return from === to ? `about ${to}` : `${from} to ${to}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
