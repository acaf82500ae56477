/** Copse's own queue in the simulated world: the very function that runs in the product. */

import {
  type BranchName,
  type CommitId,
  type LandingId,
  type TaskId,
  brand,
} from '../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import {
  type EndedRun,
  type QueueEntry,
  type QueuePlan,
  type Start,
  decideQueue,
} from '../../packages/copse/src/queue/rules/decide/decide.ts';
import type { Stack, Stacked } from '../../packages/copse/src/queue/rules/decide/stack.ts';
import {
  type QueuedChange,
  type QueueState,
  emptyQueueState,
} from '../../packages/copse/src/queue/rules/decide/state.ts';
import { drawing } from '../../test/support/workspaces/workspace-chance.ts';
import { type Outcome, Record, type World } from './world.ts';

interface Run {
  readonly start: Start;
  readonly endsMs: number;
  readonly isGreen: boolean;
}

export function sieveAndTrain(world: World): Outcome {
  return new Sieve(world).run();
}

class Sieve {
  readonly #world: World;
  readonly #record: Record;
  readonly #runs = new Map<number, Run>();
  readonly #gone = new Set<number>();
  readonly #green = new Set<string>();
  readonly #salts: readonly number[];
  #state: QueueState = emptyQueueState;
  #nowMs = 0;

  constructor(world: World) {
    this.#world = world;
    this.#record = new Record(world);
    const random = drawing(1);
    this.#salts = Array.from({ length: world.settings.branches }, () => Math.floor(random() * 2 ** 40));
    this.#green.add(this.#tree([]));
  }

  run(): Outcome {
    let ended: readonly EndedRun[] = [];
    while (!this.#record.isOver) {
      this.#settle(ended);
      if (this.#record.isOver) break;
      ended = this.#wait();
    }
    return this.#record.outcome();
  }

  /** Decides until nothing more follows from what is known. */
  #settle(ended: readonly EndedRun[]): void {
    for (let heard = ended; ; heard = []) {
      const plan = this.#decide(heard);
      this.#state = plan.state;
      for (const run of plan.abandon) this.#runs.delete(run);
      for (const { change, because } of plan.handBack) {
        const number = numberOf(change);
        if (this.#gone.has(number)) continue;
        this.#gone.add(number);
        this.#record.handBack(number, because === 'conflict' ? 'conflict' : 'checks', this.#nowMs);
      }
      for (const start of plan.start) this.#begin(start);
      if (plan.land !== null) {
        const numbers = plan.land.changes.map(numberOf);
        for (const one of numbers) this.#gone.add(one);
        this.#record.land(numbers, this.#nowMs);
      }
      if (plan.land === null && plan.handBack.length === 0) return;
    }
  }

  #decide(ended: readonly EndedRun[]): QueuePlan {
    const { slots, branches } = this.#world.settings;
    const target = this.#record.target;
    const inTarget = new Set(target);
    const waiting = Array.from({ length: branches }, (_, at) => at).filter(
      (at) => !this.#gone.has(at) && this.#world.arrivesMs[at]! <= this.#nowMs,
    );
    const entries = waiting.map((at) => this.#entryOf(at, inTarget));
    const decision = decideQueue(
      this.#state,
      {
        now: this.#nowMs,
        target: brand<BranchName>('main'),
        tip: brand<CommitId>(this.#commit(target)),
        entries,
        landed: target.map((at) => changeOf(at).landing),
        ended,
        running: [...this.#runs.keys()],
        slots,
        hasChecks: true,
        checks: 'unit',
        everyCommitGreen: false,
        blocked: null,
        isPaused: false,
      },
      (stack) => this.#look(stack),
      defaultPolicy.landing,
    );
    if (decision.kind === 'undecided') throw new Error('Everything is known in a simulation');
    return decision.plan;
  }

  #entryOf(at: number, inTarget: ReadonlySet<number>): QueueEntry {
    return {
      ...changeOf(at),
      queuedAt: this.#world.arrivesMs[at]!,
      isHotfix: false,
      isUnchecked: false,
      conflict: this.#world.merges(inTarget, at) ? null : [`${at}`],
      held: null,
    };
  }

  #look({ onto, changes }: Stack): Stacked {
    if (changes.length === 0)
      return { kind: 'merged', commit: onto, isGreen: this.#green.has(this.#trees.get(onto)!) };
    const below = new Set(this.#record.target);
    for (const [at, change] of changes.entries()) {
      if (!this.#world.merges(below, numberOf(change))) return { kind: 'conflict', at };
      below.add(numberOf(change));
    }
    const all = [...this.#record.target, ...changes.map(numberOf)];
    return {
      kind: 'merged',
      commit: brand<CommitId>(this.#commit(all)),
      isGreen: this.#green.has(this.#tree(all)),
    };
  }

  #begin(start: Start): void {
    const { checkMs } = this.#world.settings;
    const isGreen = this.#world.check([...this.#record.target, ...start.changes.map(numberOf)]);
    this.#runs.set(start.run, { start, endsMs: this.#nowMs + checkMs, isGreen });
  }

  /** Until the next check ends or the next branch arrives. */
  #wait(): readonly EndedRun[] {
    const arrivals = this.#world.arrivesMs.filter((ms) => ms > this.#nowMs);
    const nextMs = Math.min(...[...this.#runs.values()].map(({ endsMs }) => endsMs), ...arrivals.slice(0, 1));
    if (!Number.isFinite(nextMs)) throw new Error('The queue stands still');
    this.#nowMs = nextMs;
    const ended: EndedRun[] = [];
    for (const [run, { start, endsMs, isGreen }] of this.#runs) {
      if (endsMs > this.#nowMs) continue;
      this.#runs.delete(run);
      const batch = this.#state.batches.find(({ stage }) => stage.is === 'checking' && stage.run === run);
      const onto = batch?.stage.is === 'checking' ? batch.stage.onto : null;
      if (isGreen) this.#green.add(this.#trees.get(start.commit)!);
      ended.push({
        run,
        verdict: isGreen ? 'green' : 'red',
        reason: '',
        isOntoLanded: onto === null || this.#landedCommits().has(onto),
      });
    }
    return ended;
  }

  #landedCommits(): ReadonlySet<string> {
    const { target } = this.#record;
    return new Set([...target.keys(), target.length].map((length) => this.#commit(target.slice(0, length))));
  }

  readonly #trees = new Map<string, string>();

  /** A commit is all below it in order; a tree is the same in any order. */
  #commit(changes: readonly number[]): string {
    let [one, other] = [17, 31];
    for (const at of changes) {
      one = (Math.imul(one, 31) + at + 1) >>> 0;
      other = (Math.imul(other, 131) + at * 7 + 3) >>> 0;
    }
    const commit = `${changes.length}-${one}-${other}`;
    this.#trees.set(commit, this.#tree(changes));
    return commit;
  }

  #tree(changes: readonly number[]): string {
    return String(changes.reduce((sum, at) => sum + this.#salts[at]!, 0));
  }
}

function changeOf(at: number): QueuedChange {
  return {
    landing: brand<LandingId>(`la-${at}`),
    task: brand<TaskId>(`cp-${at}`),
    head: brand<CommitId>(`head-${at}`),
  };
}

function numberOf({ landing }: QueuedChange): number {
  return Number(landing.slice('la-'.length));
}
