/** The queue's decision in random worlds, in which everything goes wrong for a while. What must never happen is in queue-world.ts. */

import { describe, expect, it } from 'vitest';

import { drawing } from '../../support/workspaces/workspace-chance.ts';
import type { QueueState } from '../../../packages/copse/src/queue/rules/decide/state.ts';
import { QueueWorld, type WorldOptions, waits } from './world.ts';

const NAMES = 'abcdefghijkl'.split('');

/** What is named more often happens more often. */
const DEEDS = [
  'arrive arrive arrive end end end end end end wait',
  'cancel move hurry skip hold hold pause block foreign rewind crash lose',
].flatMap((deeds) => deeds.split(' '));

interface Kind {
  readonly name: string;
  readonly options?: (random: Random) => WorldOptions;
  readonly isFlaky?: boolean;
  readonly seeds: number;
}

const kinds: readonly Kind[] = [
  { name: 'of good changes', options: () => ({}), seeds: 60 },
  { name: 'with bad changes, clashes and conflicts', seeds: 200 },
  { name: 'with checks that lie', isFlaky: true, seeds: 120 },
  {
    name: 'in which every commit has to be green',
    options: (random) => ({ ...faults(random), everyCommitGreen: true }),
    seeds: 60,
  },
  { name: 'with one slot', options: (random) => ({ ...faults(random), slots: 1 }), seeds: 60 },
  {
    name: 'with a target that is not known to be green',
    options: (random) => ({ ...faults(random), isKnownGreen: false }),
    seeds: 60,
  },
  { name: 'without checks', options: (random) => ({ ...faults(random), hasChecks: false }), seeds: 40 },
  {
    name: 'where merges are looked at one by one',
    seeds: 40,
  },
];

describe.each(kinds)('random worlds $name', (kind) => {
  // promise: checked-tree-lands
  it('land or hand back everything, and never break a rule', () => {
    for (let seed = 1; seed <= kind.seeds; seed += 1) expect(failureOf(kind, seed)).toBeNull();
  });
});

function failureOf(kind: Kind, seed: number): string | null {
  const story: string[] = [];
  try {
    live(kind, seed, story);
    return null;
  } catch (error) {
    return `seed ${seed}: ${String(error)}\n${story.slice(-40).join('\n')}`;
  }
}

function live(kind: Kind, seed: number, story: string[]): void {
  const random = new Random(seed);
  const options = kind.options?.(random) ?? faults(random);
  const world = new QueueWorld(options, { looksLate: kind.name.startsWith('where') });
  story.push(JSON.stringify(options));
  const adversity = new Adversity(world, random, { isFlaky: kind.isFlaky ?? false });
  for (let step = 0; step < 80; step += 1) {
    story.push(adversity.step());
    if (random.chance(0.8)) story.push(adversity.decide());
  }
  adversity.stop();
  world.finish(300);
  const { stall, state } = world.plan;
  story.push(`the end: ${world.target} · ${stall?.kind}`);
  if (world.queued.length === 0) return;
  expect(stall).toMatchObject({ kind: 'target_red' });
  // A check that lied about the target is believed until the target moves.
  if (!world.isFlaky) expect(world.isTargetGood).toBe(false);
  expect(state.audit?.tried.map(({ head }) => head).toSorted()).toEqual(
    world.queued.map(({ head }) => head).toSorted(),
  );
}

class Adversity {
  readonly #world: QueueWorld;
  readonly #random: Random;
  readonly #isFlaky: boolean;
  #before: QueueState;
  #arrived = 0;
  #foreign = 0;

  constructor(world: QueueWorld, random: Random, { isFlaky }: { readonly isFlaky: boolean }) {
    this.#world = world;
    this.#random = random;
    this.#isFlaky = isFlaky;
    this.#before = world.state;
  }

  decide(): string {
    this.#before = this.#world.state;
    const plan = this.#world.decide();
    const starts = plan.start.map(({ run, commit, purpose }) => `${run} ${purpose} ${commit}`);
    const back = plan.handBack.map(({ change, because }) => `${change.head} ${because}`);
    return `  decided: start ${starts.join(', ')} · abandon ${plan.abandon.join(' ')} · land ${plan.land?.commit} · back ${back.join(', ')} · ${plan.stall?.kind}`;
  }

  step(): string {
    if (this.#random.chance(0.2)) [this.#world.isPaused, this.#world.blocked] = [false, null];
    const what = this.#random.one(DEEDS);
    return `${what} ${this.#do(what)}`;
  }

  /** Everybody leaves the queue alone from now on. */
  stop(): void {
    const world = this.#world;
    world.isPaused = false;
    world.blocked = null;
    world.settle();
    world.now += world.policy.troubleMostMs;
    for (const one of world.queued) one.held = null;
  }

  #do(what: string): string {
    const world = this.#world;
    const random = this.#random;
    const one = world.queued.length === 0 ? undefined : random.one(world.queued);
    switch (what) {
      case 'arrive':
        return this.#arrive();
      case 'end':
        return this.#end();
      case 'wait':
        world.now += random.one([1_000, 10_000, 1_000_000]);
        return String(world.now);
      case 'cancel':
        if (one !== undefined && random.chance(0.5)) world.remove(one.name);
        return one?.name ?? '';
      case 'move':
        if (one !== undefined) world.move(one.name);
        return one?.name ?? '';
      case 'hurry':
        if (one !== undefined) one.isHotfix = true;
        return one?.name ?? '';
      case 'skip':
        if (one !== undefined && random.chance(0.2)) one.isUnchecked = true;
        return one?.name ?? '';
      case 'hold':
        if (one !== undefined) one.held = one.held === null ? waits.dependency : null;
        return one?.name ?? '';
      case 'pause':
        world.isPaused = random.chance(0.3);
        world.blocked = world.isPaused ? waits.paused : null;
        return String(world.isPaused);
      case 'block':
        world.blocked = random.chance(0.5) ? waits.checkout : null;
        return String(world.blocked?.kind);
      case 'foreign':
        this.#foreign += 1;
        world.tip = [...world.tip, random.chance(0.15) ? 'RED1' : `F${this.#foreign}`];
        return world.tip.join('+');
      case 'rewind':
        if (random.chance(0.5) && world.tip.length > 1) world.tip = world.tip.slice(0, -1);
        return world.tip.join('+');
      case 'crash':
        world.crash(random.chance(0.5) ? world.state : this.#before);
        return '';
      case 'lose':
        if (world.running.size > 0) world.running.delete(random.one([...world.running.keys()]));
        return '';
      default:
        throw new Error(`Nobody knows how to ${what}`);
    }
  }

  #arrive(): string {
    const name = NAMES[this.#arrived];
    if (name === undefined) return '';
    this.#arrived += 1;
    this.#world.now += 1;
    this.#world.add(name, { priority: this.#random.one([0, 0, 0, 1, 2]), queuedAt: this.#world.now });
    return name;
  }

  #end(): string {
    const runs = [...this.#world.running.keys()];
    if (runs.length === 0) return '';
    const run = this.#random.one(runs);
    const isGood = this.#world.isGood(this.#world.running.get(run)!.commit.split('+'));
    const verdict = this.#random.chance(0.08)
      ? 'infrastructure'
      : isGood
        ? this.#isFlaky && this.#random.chance(0.15)
          ? this.#random.one(['red', 'timeout'] as const)
          : 'green'
        : this.#random.one(['red', 'red', 'timeout'] as const);
    this.#world.end(run, verdict);
    return `${run} ${verdict}`;
  }
}

class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = drawing(seed);
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#next() * of.length)]!;
  }
}

function faults(random: Random): WorldOptions {
  const some = (share: number) => NAMES.filter(() => random.chance(share));
  const pairs = (share: number) =>
    some(share).flatMap((one) => {
      const other = random.one(NAMES);
      return one === other ? [] : [[one, other]];
    });
  const triples = (share: number) =>
    pairs(share)
      .map((pair) => pair.concat(random.one(['F', ...NAMES])))
      .filter((all) => new Set(all).size === 3);
  return {
    bad: some(random.one([0.05, 0.2])),
    clashes: pairs(0.1),
    conflicts: pairs(random.one([0, 0.15, 0.4])),
    jams: triples(0.2),
    mends: some(0.15),
    slots: random.one([1, 2, 3, 4]),
    policy: { mostPassedOver: random.one([1, 3, 8]) },
  };
}
