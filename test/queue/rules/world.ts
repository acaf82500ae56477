/**
 * A little world around the queue's decision. A commit is what was merged, in order; its tree is the same in any order. Whether
 * a tree is good is a fact that the queue learns by checks only. Everything that must never happen is looked at with every
 * decision (`#verify`).
 */

import { isDeepStrictEqual } from 'node:util';

import {
  type BranchName,
  type CommitId,
  type LandingId,
  type TaskId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import { type Policy, defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  type EndedRun,
  type QueueEntry,
  type QueueFacts,
  type QueuePlan,
  type Rejection,
  type Stack,
  type Stacked,
  type Start,
  decideQueue,
} from '../../../packages/copse/src/queue/rules/decide/decide.ts';
import type { WaitReason } from '../../../packages/copse/src/queue/rules/wait-reason.ts';
import {
  type QueueState,
  emptyQueueState,
  runsOf,
} from '../../../packages/copse/src/queue/rules/decide/state.ts';

/** Reasons to wait that the decision only passes on. */
export const waits = {
  checkout: { kind: 'checkout_changed', checkout: '/work', files: ['a.txt'] },
  dependency: { kind: 'dependency', task: brand<TaskId>('cp-x'), status: 'in_progress' },
  paused: { kind: 'paused', comment: null },
  notAccepted: { kind: 'not_accepted', comment: null },
  push: { kind: 'push_failed', target: brand<BranchName>('main'), detail: 'refused' },
} as const satisfies Record<string, WaitReason>;

/** A change by its name; its head is the name with a number that grows when the branch moves. */
export interface Queued {
  readonly name: string;
  head: string;
  queuedAt: number;
  priority: number;
  isHotfix: boolean;
  isUnchecked: boolean;
  held: WaitReason | null;
}

export interface WorldOptions {
  /** Red by themselves. */
  readonly bad?: readonly string[];
  /** Red together: 'ab'. */
  readonly clashes?: readonly (readonly string[])[];
  /** Do not merge with each other. */
  readonly conflicts?: readonly (readonly string[])[];
  /** Do not merge when all of them are there, and merge otherwise. */
  readonly jams?: readonly (readonly string[])[];
  /** With these, the target is green again. */
  readonly mends?: readonly string[];
  readonly slots?: number;
  readonly hasChecks?: boolean;
  readonly everyCommitGreen?: boolean;
  /** The target passed its checks before. */
  readonly isKnownGreen?: boolean;
  readonly policy?: Partial<Policy['landing']>;
}

type Verdict = EndedRun['verdict'];

export class QueueWorld {
  readonly queued: Queued[] = [];
  readonly landed: string[] = [];
  readonly handedBack: { readonly name: string; readonly because: Rejection['because'] }[] = [];
  /** Every check that was ever begun. */
  readonly started: Start[] = [];
  readonly running = new Map<number, Start>();
  readonly greenTrees = new Set<string>();
  readonly policy: Policy['landing'];
  readonly options: WorldOptions;
  state: QueueState = emptyQueueState;
  tip = ['root'];
  now = 0;
  slots: number;
  hasChecks: boolean;
  checks = 'unit';
  everyCommitGreen: boolean;
  blocked: WaitReason | null = null;
  isPaused = false;
  /** Otherwise only a merge shows them. */
  seesConflicts = true;
  /** Checks may have been wrong, so nothing follows from who was blamed. */
  isFlaky = false;
  /** What is merged is known only after it was asked for. */
  readonly #looked: Set<string> | null;
  #ended: { readonly run: number; readonly verdict: Verdict }[] = [];
  readonly #landedHeads = new Set<string>();
  plan!: QueuePlan;

  constructor(options: WorldOptions = {}, { looksLate = false } = {}) {
    this.options = options;
    this.slots = options.slots ?? 4;
    this.hasChecks = options.hasChecks ?? true;
    this.everyCommitGreen = options.everyCommitGreen ?? false;
    this.policy = { ...defaultPolicy.landing, ...options.policy };
    this.#looked = looksLate ? new Set() : null;
    if (options.isKnownGreen ?? true) this.greenTrees.add(treeOf(this.tip));
  }

  add(names: string | readonly string[], of: Partial<Queued> = {}): this {
    for (const name of names)
      this.queued.push({
        name,
        head: `${name}1`,
        queuedAt: this.queued.length + this.landed.length + this.now,
        priority: 0,
        isHotfix: false,
        isUnchecked: false,
        held: null,
        ...of,
      });
    return this;
  }

  entry(name: string): Queued {
    return this.queued.find((one) => one.name === name)!;
  }

  remove(name: string): void {
    this.queued.splice(this.queued.indexOf(this.entry(name)), 1);
  }

  /** Its branch moved. */
  move(name: string): void {
    const entry = this.entry(name);
    entry.head = `${name}${Number(entry.head.slice(name.length)) + 1}`;
  }

  /** One decision, carried out. */
  decide(): QueuePlan {
    const plan = this.ask();
    this.#carryOut(plan);
    return plan;
  }

  /** One decision, not carried out. */
  ask(): QueuePlan {
    const facts = this.facts();
    for (;;) {
      const decision = decideQueue(this.state, facts, (stack) => this.#look(stack), this.policy);
      if (decision.kind === 'decided') {
        this.#verify(decision.plan, facts);
        return decision.plan;
      }
      this.#looked!.add(keyOf(decision.stack));
    }
  }

  /** Decides until nothing more follows. */
  settle(): QueuePlan {
    for (let times = 0; times < 200; times += 1) {
      const plan = this.decide();
      if (plan.land === null && plan.handBack.length === 0) return plan;
    }
    throw new Error('It lands and hands back for ever');
  }

  /** A check ends: as it must, or as it is told. */
  end(run: number, verdict?: Verdict): void {
    const start = this.running.get(run);
    if (start === undefined) throw new Error(`Nobody runs ${run}`);
    this.running.delete(run);
    const isGood = this.isGood(start.commit.split('+'));
    const what = verdict ?? (isGood ? 'green' : 'red');
    if (what === 'green') this.greenTrees.add(treeOf(start.commit.split('+')));
    if ((what === 'green') !== isGood && what !== 'infrastructure') this.isFlaky = true;
    this.#ended.push({ run, verdict: what });
  }

  /** The check of exactly these on the target ends. */
  endCheckOf(names: string, verdict?: Verdict): void {
    this.end(this.checkOf(names).run, verdict);
  }

  checkOf(names: string): Start {
    const start = [...this.running.values()].find((one) => namesOf(one) === names);
    if (start === undefined)
      throw new Error(`${names || 'the target'} is not checked: ${this.checked.join(', ')}`);
    return start;
  }

  /** What is being checked, in the order in which it was begun. */
  get checked(): readonly string[] {
    return [...this.running.values()].map(namesOf);
  }

  get target(): string {
    return this.tip.slice(1).map(nameOf).join('');
  }

  /** Ends all checks again and again, the oldest first, until nothing goes on. */
  finish(most = 500): void {
    for (let times = 0; times < most; times += 1) {
      this.settle();
      const [first] = this.running.keys();
      if (first === undefined) return;
      this.end(first);
    }
    throw new Error(`It never ends: ${JSON.stringify(this.state)}`);
  }

  /** Whoever led is gone, with all checks; a state as of before its last decision, perhaps. */
  crash(state: QueueState = this.state): void {
    this.running.clear();
    this.#ended = [];
    this.state = state;
  }

  facts(): QueueFacts {
    const ended = this.#ended.map(({ run, verdict }): EndedRun => {
      const batch = this.state.batches.find(({ stage }) => stage.is === 'checking' && stage.run === run);
      const onto = batch?.stage.is === 'checking' ? batch.stage.onto : this.#tipId;
      return { run, verdict, reason: 'disk full', isOntoLanded: isPrefix(onto, this.#tipId) };
    });
    this.#ended = [];
    const byPlace = this.queued.toSorted(
      (a, b) => Number(b.isHotfix) - Number(a.isHotfix) || b.priority - a.priority || a.queuedAt - b.queuedAt,
    );
    return {
      now: this.now,
      target: brand<BranchName>('main'),
      tip: this.#tipId,
      entries: byPlace.map((one) => this.#entryOf(one)),
      landed: this.#landedOfState(),
      ended,
      running: [...this.running.keys()],
      slots: this.slots,
      hasChecks: this.hasChecks,
      checks: this.checks,
      everyCommitGreen: this.everyCommitGreen,
      blocked: this.blocked,
      isPaused: this.isPaused,
    };
  }

  #landedOfState(): readonly LandingId[] {
    const named = new Set(this.state.batches.flatMap(({ changes }) => changes.map(({ head }) => head)));
    return [...this.#landedHeads]
      .filter((head) => named.has(brand(head)))
      .map((head) => landingOf(nameOf(head)));
  }

  isGood(elements: readonly string[]): boolean {
    const { bad = [], clashes = [], mends = [] } = this.options;
    const names = new Set(elements.map(nameOf));
    if (names.has('RED') && !mends.some((one) => names.has(one))) return false;
    return !bad.some((one) => names.has(one)) && !clashes.some((all) => all.every((one) => names.has(one)));
  }

  get isTargetGood(): boolean {
    return this.isGood(this.tip);
  }

  get #tipId(): CommitId {
    return brand<CommitId>(this.tip.join('+'));
  }

  #entryOf({ name, head, queuedAt, isHotfix, isUnchecked, held }: Queued): QueueEntry {
    return {
      landing: landingOf(name),
      task: brand<TaskId>(`cp-${name}`),
      head: brand<CommitId>(head),
      queuedAt,
      isHotfix,
      isUnchecked,
      conflict: this.#merges(this.tip, name) || !this.seesConflicts ? null : ['file'],
      held,
    };
  }

  #merges(below: readonly string[], name: string): boolean {
    const { conflicts = [], jams = [] } = this.options;
    const names = new Set(below.map(nameOf));
    const isJammed = jams.some(
      (all) => all.includes(name) && all.every((one) => one === name || names.has(one)),
    );
    if (isJammed) return false;
    return !conflicts.some((all) => all.includes(name) && all.some((one) => one !== name && names.has(one)));
  }

  #look(stack: Stack): Stacked | undefined {
    if (this.#looked !== null && !this.#looked.has(keyOf(stack))) return undefined;
    const all = stack.onto.split('+');
    for (const [at, { head }] of stack.changes.entries()) {
      if (!this.#merges(all, nameOf(head))) return { kind: 'conflict', at };
      all.push(head);
    }
    return {
      kind: 'merged',
      commit: brand<CommitId>(all.join('+')),
      isGreen: this.greenTrees.has(treeOf(all)),
    };
  }

  #carryOut(plan: QueuePlan): void {
    this.plan = plan;
    this.state = JSON.parse(JSON.stringify(plan.state)) as QueueState;
    for (const run of plan.abandon) this.running.delete(run);
    for (const start of plan.start) {
      this.started.push(start);
      this.running.set(start.run, start);
    }
    for (const { change, because } of plan.handBack) {
      const name = nameOf(change.head);
      this.handedBack.push({ name, because });
      this.remove(name);
    }
    for (const { head } of plan.land?.changes ?? []) {
      this.tip = [...this.tip, head];
      this.#landedHeads.add(head);
      this.landed.push(nameOf(head));
      this.remove(nameOf(head));
    }
  }

  // What must never happen.

  #verify(plan: QueuePlan, facts: QueueFacts): void {
    this.#verifyLanding(plan, facts);
    this.#verifyChecks(plan, facts);
    this.#verifyRejections(plan, facts);
    this.#verifyState(plan.state, facts);
    const isIdle = plan.land === null && runsOf(plan.state).length === 0;
    const waiting = facts.entries.length - plan.handBack.length;
    must(!isIdle || waiting === 0 || plan.stall !== null, 'it stands still and says nothing');
    must(plan.stall === null || isIdle, 'it says that it stands still, and does not');
    must(plan.stall?.kind !== 'nothing_to_check', 'it stands still and does not know why');
  }

  #verifyLanding({ land, handBack }: QueuePlan, facts: QueueFacts): void {
    if (land === null) return;
    must(facts.blocked === null, 'it lands although it must not');
    must(land.onto === facts.tip, 'it lands on something else');
    const heads = land.changes.map(({ head }) => head);
    must(land.commit === [facts.tip, ...heads].join('+'), 'it lands something else');
    must(!land.isChecked || this.#isKnownGreen(heads), 'a tree lands that was not checked');
    const entries = land.changes.map(({ landing, head }) =>
      facts.entries.find((entry) => entry.landing === landing && entry.head === head),
    );
    must(!entries.includes(undefined), 'what lands is not in the queue');
    const isAllowed = land.isChecked || !facts.hasChecks || (entries.length === 1 && entries[0]?.isUnchecked);
    must(isAllowed === true, 'it lands without checks, and nobody said so');
    must(
      entries.every((entry) => entry?.held === null),
      'what is held lands',
    );
    must(
      entries.every((entry) => entry?.conflict === null),
      'what conflicts lands',
    );
    must(new Set(heads).size === heads.length, 'it lands twice at once');
    must(!heads.some((head) => this.#landedHeads.has(head)), 'it lands twice');
    const blamed = new Set(handBack.map(({ change }) => change.landing));
    must(!land.changes.some(({ landing }) => blamed.has(landing)), 'what is handed back lands');
    const isEachGreen = heads.every((_, at) => this.#isKnownGreen(heads.slice(0, at + 1)));
    must(!facts.everyCommitGreen || !land.isChecked || isEachGreen, 'a commit lands that was not checked');
  }

  #isKnownGreen(heads: readonly string[]): boolean {
    return this.greenTrees.has(treeOf([...this.tip, ...heads]));
  }

  #verifyChecks({ start, abandon, state }: QueuePlan, facts: QueueFacts): void {
    const runs = runsOf(state);
    must(start.length === 0 || runs.length <= facts.slots, 'more checks than slots');
    must(start.length === 0 || !facts.isPaused, 'a check begins in a pause');
    const going = facts.running.filter((run) => !abandon.includes(run));
    const all = [...going, ...start.map(({ run }) => run)];
    must(isDeepStrictEqual(runs.toSorted(), all.toSorted()), 'what goes on is not what is wanted');
    for (const { commit, changes } of start) {
      const heads = changes.map(({ head }) => head);
      must(commit === [facts.tip, ...heads].join('+'), 'something else is checked');
      must(!this.#isKnownGreen(heads), 'what is known is checked');
    }
  }

  #verifyRejections({ handBack }: QueuePlan, facts: QueueFacts): void {
    for (const { change, because, run } of handBack) {
      const entry = facts.entries.find((one) => one.landing === change.landing);
      must(entry?.head === change.head, 'what is handed back is not in the queue');
      const checked = this.started.findLast((one) => one.run === run)?.commit.split('+') ?? [];
      const others = checked.filter((one) => one !== change.head);
      if (because === 'conflict') must(!this.#merges(this.tip, nameOf(change.head)), 'it merges');
      else must(checked.includes(change.head), 'it is blamed for a check that it was not in');
      if (because === 'conflict' || this.isFlaky) continue;
      must(!this.isGood(checked), `${change.head} is blamed for nothing`);
      must(this.isGood(others), `${change.head} is blamed for others`);
      must(isPrefix(others.join('+'), facts.tip), `${change.head} is blamed on something else`);
    }
  }

  #verifyState(state: QueueState, facts: QueueFacts): void {
    must(isDeepStrictEqual(JSON.parse(JSON.stringify(state)), state), 'the state cannot be written down');
    const changes = state.batches.flatMap((batch) => batch.changes);
    const landings = changes.map(({ landing }) => landing);
    must(new Set(landings).size === landings.length, 'one change is in two batches');
    const open = new Map(facts.entries.map(({ landing, head }) => [landing, head]));
    const named = [...changes, ...(state.audit?.tried ?? [])];
    must(
      named.every(({ landing, head }) => open.get(landing) === head),
      'it remembers what is gone',
    );
    const passedOver = Object.keys(state.passedOver) as LandingId[];
    must(
      passedOver.every((landing) => open.has(landing)),
      'it remembers who is gone',
    );
    must(state.probes.length <= 2 * landings.length, 'it remembers too many probes');
    must(state.guilt > 0 && state.guilt <= 1, 'the share of the guilty is no share');
  }
}

function must(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(`What must never happen: ${otherwise}`);
}

/** What a check is of, on top of the target as it was. */
export function namesOf({ changes }: Pick<Start, 'changes'>): string {
  return changes.map(({ head }) => nameOf(head)).join('');
}

function nameOf(head: string): string {
  return head.replace(/\d+$/, '');
}

function landingOf(name: string): LandingId {
  return brand<LandingId>(`la-${name}`);
}

function treeOf(elements: readonly string[]): string {
  return [...new Set(elements)].toSorted().join(' ');
}

function keyOf({ onto, changes }: Stack): string {
  return [onto, ...changes.map(({ head }) => head)].join(' ');
}

function isPrefix(onto: string, tip: string): boolean {
  return tip === onto || tip.startsWith(`${onto}+`);
}

/** A state in which so many are checked together. */
export const batchesOf = (size: number): QueueState => ({ ...emptyQueueState, guilt: 0.69 / size });

export const purposes = (world: QueueWorld): readonly string[] =>
  world.plan.start.map((start) => `${start.purpose} ${namesOf(start)}`);
