/**
 * The queue of a target as data for people: which checks run and for what; for every entry its standing, the tasks
 * before it, and how long that may take. explain/rules/queue.ts makes the sentences.
 *
 * All of it follows from the board. Without a leader, checks that the last leader started count as lost. An entry gets
 * a range of time only where nothing but checks delays it.
 */

import { unreachable } from '../../../kernel/unreachable.ts';
import type { BranchName, CommitId, LandingId, TaskId, Timestamp } from '../../../kernel/ids.ts';
import { type Landing, isCommitted } from '../landing.ts';
import {
  type CheckRun,
  type MergeQueue,
  type Pause,
  type QueueSwitch,
  isResumedSince,
  pausedBy,
} from '../merge-queue.ts';
import type { Policy } from '../../../kernel/policy.ts';
import { type QueueHistory, type RecentLanding, type Usual, quantile, usualOf } from './history.ts';
import { type EstimateFacts, type Range, afterRun, afterSlot } from './estimate.ts';
import { type EndedCheck, type RunView, viewRun } from './runs.ts';
import { type EntryState, type EntryStanding, stateOf } from './standing.ts';
import { batchSize } from '../decide/decide.ts';
import type { Batch, QueuedChange, Trouble } from '../decide/state.ts';
import { isSameWait } from '../wait-reason.ts';

export type { EntryState } from './standing.ts';
export type { RunView } from './runs.ts';

export interface QueueRecords {
  readonly queue: MergeQueue;
  /** In the order of landing. */
  readonly entries: readonly QueueRecord[];
  readonly recent: QueueHistory;
  /** A process leads the queue now. */
  readonly isLed: boolean;
  /** Runs whose process is gone. */
  readonly lost?: ReadonlySet<number>;
  /** Commands of the required checks. */
  readonly commands: readonly string[];
  readonly slots: number;
  readonly now: Timestamp;
}

export interface QueueRecord {
  readonly landing: Landing;
  readonly title: string;
  /** The first dependency that is not done. */
  readonly dependsOn: TaskId | null;
}

export interface QueueView {
  readonly target: BranchName;
  readonly isLed: boolean;
  readonly hasChecks: boolean;
  readonly slots: { readonly busy: number; readonly of: number };
  readonly runs: readonly RunView[];
  /** Checks that ran when their leader was killed; the next leader starts them again. */
  readonly lost: readonly RunView[];
  /** Checks that ended lately, the oldest first. */
  readonly ended: readonly EndedCheck[];
  /** Changes that passed and will land together. */
  readonly train: number;
  readonly paused: { readonly [S in QueueSwitch]: Pause | null };
  readonly stalled: MergeQueue['stalled'];
  readonly trouble: Trouble | null;
  /** The target fails its checks with nothing merged into it. */
  readonly isTargetRed: boolean;
  readonly usual: Usual | null;
  readonly entries: readonly EntryView[];
  readonly figures: Figures;
  /** The latest first. */
  readonly landed: readonly RecentLanding[];
}

export interface EntryView {
  readonly position: number;
  readonly task: TaskId;
  readonly landing: LandingId;
  readonly title: string;
  readonly state: EntryState;
  readonly standing: EntryStanding;
  /** Tasks that land or must be done before it. */
  readonly behind: readonly TaskId[];
  readonly range: Range | null;
  readonly queuedAt: Timestamp;
  readonly isHotfix: boolean;
  readonly isUnchecked: boolean;
}

interface Figures {
  readonly oldestMs: number | null;
  readonly landedLastHour: number;
  /** From queued to landed. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Landings without checks do not count. */
  readonly checksPerLanded: number | null;
}

const HOUR_MS = 3_600_000;

/** How many of the latest landings are shown. */
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
  readonly #times: EstimateFacts;

  constructor(records: QueueRecords, policy: Policy['landing']) {
    this.#records = records;
    this.#policy = policy;
    this.#usual = usualOf(records.commands, records.recent);
    const { runs, state } = records.queue;
    const isGoingOn = ({ run }: CheckRun) => records.isLed && !records.lost?.has(run);
    this.#runs = runs.filter(isGoingOn);
    this.#lost = runs.filter((run) => !isGoingOn(run));
    this.#times = { usual: this.#usual, runs: this.#runs, slots: records.slots, now: records.now };
    this.#open = new Map(records.entries.map(({ landing }) => [landing.id, landing.head]));
    const { batches } = state;
    this.#taskOf = new Map([
      ...batches.flatMap(({ changes }) => changes.map(({ landing, task }) => [landing, task] as const)),
      ...records.entries.map(({ landing }) => [landing.id, landing.task] as const),
    ]);
  }

  view(): QueueView {
    const { queue, entries, recent, isLed, slots, commands } = this.#records;
    const { state, paused } = queue;
    const stalled = this.#stalled;
    return {
      target: queue.id,
      isLed,
      hasChecks: commands.length > 0,
      slots: { busy: this.#runs.length, of: commands.length > 0 ? slots : 0 },
      runs: this.#runs.toSorted(bySlot).map((run) => this.#run(run)),
      lost: this.#lost.toSorted(bySlot).map((run) => this.#run(run)),
      ended: recent.ended,
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

  get #stalled(): MergeQueue['stalled'] {
    const { stalled, paused } = this.#records.queue;
    return stalled !== null && isResumedSince(stalled.reason, paused) ? null : stalled;
  }

  get #isTargetRed(): boolean {
    return this.#records.queue.state.audit?.verdict === 'red';
  }

  #figures(): Figures {
    const { entries, recent, now } = this.#records;
    const { landed, runs } = recent;
    const checked = landed.filter(({ isVerified }) => isVerified).length;
    const took = landed.map(({ tookMs }) => tookMs);
    const ages = entries.map(({ landing }) => now - landing.queuedAt);
    return {
      oldestMs: ages.length === 0 ? null : Math.max(0, ...ages),
      landedLastHour: landed.filter(({ at }) => now - at < HOUR_MS).length,
      p50Ms: took.length === 0 ? null : quantile(took, 0.5),
      p95Ms: took.length === 0 ? null : quantile(took, 0.95),
      checksPerLanded: checked === 0 || runs === 0 ? null : runs / checked,
    };
  }

  // Checks.

  #run(run: CheckRun): RunView {
    const { queue, recent } = this.#records;
    return viewRun(run, queue, { taskOf: this.#taskOf, ended: recent.ended });
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

  /** Its changes, without those that have just landed or left: the leader notices that within seconds. */
  #present({ changes }: Batch): readonly QueuedChange[] {
    return changes.filter(({ landing, head }) => this.#open.get(landing) === head);
  }

  // Entries.

  #entry({ landing, title, dependsOn }: QueueRecord, at: number): EntryView {
    const { id, task, queuedAt, isHotfix, isUnchecked } = landing;
    const { standing, behind = [], range = null } = this.#place(landing, dependsOn, at);
    return {
      position: at + 1,
      task,
      landing: id,
      title,
      state: stateOf(standing),
      standing,
      behind,
      range: this.#isStopped() ? null : range,
      queuedAt,
      isHotfix,
      isUnchecked,
    };
  }

  #place(landing: Landing, dependsOn: TaskId | null, at: number): EntryPlace {
    if (isCommitted(landing))
      return { standing: { kind: 'landing', target: landing.target }, range: { fromMs: 0, toMs: 0 } };
    const batch = this.#batchOf(landing);
    if (batch?.stage.is === 'guilty') return { standing: { kind: 'handed_back' } };
    const held = this.#heldBy(landing, dependsOn);
    if (held !== null) return held;
    if (!this.#records.isLed) return { standing: this.#withoutLeader(landing, batch) };
    if (landing.isUnchecked) return { standing: { kind: 'unchecked' } };
    return batch === undefined ? this.#inLine(at) : this.#inBatch(batch, landing, at);
  }

  #withoutLeader({ task }: Landing, batch: Batch | undefined): EntryStanding {
    const run = batch?.stage.is === 'checking' ? batch.stage.run : null;
    const isCheckLost = this.#lost.some((one) => one.run === run);
    return { kind: 'no_leader', task, isCheckLost };
  }

  #heldBy(landing: Landing, dependsOn: TaskId | null): EntryPlace | null {
    const { paused } = this.#records.queue;
    const stalled = this.#stalled;
    const isOver = landing.waiting !== null && isResumedSince(landing.waiting, paused);
    const waiting = isOver ? null : landing.waiting;
    const isForDependency = waiting === null || (waiting.kind === 'dependency' && waiting.task === dependsOn);
    if (dependsOn !== null && isForDependency)
      return { standing: { kind: 'dependent', on: dependsOn }, behind: [dependsOn] };
    const reason = pausedBy(paused, landing);
    if (reason !== null) return { standing: { kind: 'held', reason } };
    if (waiting === null)
      return stalled?.reason.kind === 'queue_failed' ? { standing: { kind: 'stalled' } } : null;
    if (stalled !== null && isSameWait(waiting, stalled.reason)) return { standing: { kind: 'stalled' } };
    return { standing: { kind: 'held', reason: waiting } };
  }

  /** In no batch. */
  #inLine(at: number): EntryPlace {
    const { commands, entries, slots, queue } = this.#records;
    if (commands.length === 0) return { standing: { kind: 'no_checks' } };
    const ahead = entries.slice(0, at).map(({ landing }) => landing);
    const free = ahead.filter((one) => this.#batchOf(one) === undefined && one.waiting === null);
    const perRound = batchSize(queue.state.guilt, this.#policy) * Math.max(1, slots);
    return {
      standing: {
        kind: 'in_line',
        behind: free.map(({ task }) => task),
        hasFreeSlot: this.#runs.length < slots,
      },
      behind: ahead.map(({ task }) => task),
      range: afterSlot(this.#times, Math.floor(free.length / perRound), perRound),
    };
  }

  #inBatch(batch: Batch, landing: Landing, at: number): EntryPlace {
    const { stage } = batch;
    const changes = this.#present(batch);
    const size = changes.length;
    const others = changes.filter(({ landing: id }) => id !== landing.id).map(({ task }) => task);
    switch (stage.is) {
      case 'checking': {
        const run = this.#runs.find((one) => one.run === stage.run);
        if (run === undefined) return { standing: { kind: 'check_lost', with: others } };
        return {
          standing: { kind: 'checking', with: others, purpose: run.purpose },
          behind: this.#records.entries.slice(0, at).map((entry) => entry.landing.task),
          range: afterRun(this.#times, run, size),
        };
      }
      case 'green':
        return this.#inTrain(batch);
      case 'accused':
        return {
          standing: { kind: 'target_check', with: others, target: landing.target },
          range: afterSlot(this.#times, 1, size),
        };
      case 'waiting': {
        const isSecond = stage.as === 'second_half';
        const standing: EntryStanding =
          stage.as === 'again'
            ? { kind: 'recheck', with: others, wasRed: batch.wasRed }
            : { kind: 'half', with: others, isSecond };
        return { standing, range: afterSlot(this.#times, isSecond ? 1 : 0, size) };
      }
      case 'guilty':
        return { standing: { kind: 'handed_back' } };
      default:
        return unreachable(stage);
    }
  }

  /** Passed: it lands when the train up to it was checked as a whole. */
  #inTrain(batch: Batch): EntryPlace {
    const train = this.#train();
    const ahead = train.slice(0, train.indexOf(batch)).flatMap((one) => this.#present(one));
    const behind = ahead.map(({ task }) => task);
    const hotfix = this.#records.entries.find((entry) => entry.landing.isHotfix)?.landing.task;
    if (hotfix !== undefined)
      return { standing: { kind: 'after_hotfix', hotfix }, behind: [hotfix, ...behind] };
    const { probes } = this.#records.queue.state;
    const own = probes.filter(({ red, batches }) => red === null && batches.includes(batch.id));
    const runs = this.#runs.filter(({ run }) => own.some((probe) => probe.run === run));
    const [first] = runs.toSorted((a, b) => a.landings.length - b.landings.length);
    if (first === undefined)
      return { standing: { kind: 'in_train', behind }, behind, range: afterSlot(this.#times, 0, 1) };
    const upTo = this.#tasks(first.landings).at(-1) ?? null;
    return { standing: { kind: 'train_check', upTo }, behind, range: afterRun(this.#times, first, 1) };
  }

  #batchOf({ id, head }: Landing): Batch | undefined {
    return this.#records.queue.state.batches.find(({ changes }) =>
      changes.some((change) => change.landing === id && change.head === head),
    );
  }

  /** The duration of checks says nothing about when these entries land. */
  #isStopped(): boolean {
    const { isLed, queue } = this.#records;
    return !isLed || this.#stalled !== null || queue.state.trouble !== null || this.#isTargetRed;
  }
}

interface EntryPlace {
  readonly standing: EntryStanding;
  readonly behind?: readonly TaskId[];
  readonly range?: Range | null;
}

function bySlot(one: CheckRun, other: CheckRun): number {
  return one.slot - other.slot;
}
