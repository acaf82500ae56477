/** What goes wrong, how often, and until when. */

import type { RecordedEvent } from '../../packages/copse/src/board/rules/event.ts';
import { TARGET_REF } from './node.ts';
import type { Simulation } from './simulate.ts';
import type { Fate, Process } from './world.ts';

const HOUR_MS = 3_600_000;
const TAKEN: ReadonlySet<string> = new Set(['task.paused', 'task.cancelled', 'task.deleted']);

export class Faults {
  readonly #simulation: Simulation;
  /** How likely each action is the last of its process. */
  readonly #deathShare: number;
  readonly #stopShare: number;
  #isOn = false;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    const { world } = simulation;
    this.#deathShare = world.pick([0, 0.0005, 0.002, 0.01, 0.03]);
    this.#stopShare = world.pick([0, 0.0005, 0.002, 0.005]);
  }

  fate(process: Process): Fate {
    if (!this.#isOn || process.name === 'world') return 'none';
    const { world } = this.#simulation;
    const draw = world.random();
    if (draw < this.#deathShare) return world.chance(0.5) ? 'dies_before' : 'dies_after';
    if (draw < this.#deathShare + this.#stopShare) this.#pause(process);
    return 'none';
  }

  /** The worst moment to die: a person has taken a task from its session, and nobody has ended anything yet. */
  committed(process: Process, events: readonly RecordedEvent[]): void {
    const { world } = this.#simulation;
    if (!this.#isOn || this.#deathShare === 0 || process.kind !== 'person') return;
    const taken = events.find(({ event }) => TAKEN.has(event.type))?.event.id;
    if (taken === undefined || !world.chance(0.3)) return;
    for (const one of world.alive(
      (other) => other === process || (other.kind === 'runner' && other.task === taken),
    ))
      world.kill(one, `right after ${taken} was taken from its session`);
  }

  /** The events of a run that are no single process's fate. */
  begin(self: Process, untilMs: number): void {
    const { world } = this.#simulation;
    this.#isOn = true;
    const happenings = world.upTo(8);
    for (let number = 0; number < happenings; number += 1) {
      const atMs = world.upTo(untilMs);
      world.spawn({ kind: 'person', name: 'world', node: self.node }, atMs, async (process) => {
        if (this.#isOn) await this.#happen(process);
        return 0;
      });
    }
    world.spawn({ kind: 'person', name: 'world', node: self.node }, 0, (process) => this.#tend(process));
  }

  heal(): void {
    const { world, nodes } = this.#simulation;
    this.#isOn = false;
    world.slowness = 1;
    this.#simulation.isBoardAway = false;
    for (const process of world.alive()) world.wake(process);
    for (const node of nodes.values()) {
      if (node.checkout === null) continue;
      node.checkout.isBusy = false;
      node.checkout.files.clear();
      const { repository, target } = node.shared;
      for (const [path, content] of repository.require(target).tree) node.checkout.files.set(path, content);
    }
    for (const node of nodes.values()) this.#keepOne(node.id);
  }

  /** Somebody starts an orchestrator again that was killed. */
  async #tend(self: Process): Promise<number> {
    const { world, nodes } = this.#simulation;
    for (;;) {
      await world.clockOf(self).sleep(world.upTo(30_000));
      for (const node of nodes.values()) this.#keepOne(node.id);
    }
  }

  #keepOne(node: string): void {
    const { world, nodes } = this.#simulation;
    if (world.alive((one) => one.kind === 'orchestrator' && one.node === node).length > 0) return;
    const found = nodes.get(node);
    if (found !== undefined) this.#simulation.startOrchestrator(found);
  }

  #pause(process: Process): void {
    const { world } = this.#simulation;
    world.stop(process);
    const forMs = world.pick([1_000, 20_000, 45_000, 100_000, 100_000]);
    world.spawn({ kind: 'person', name: 'world', node: process.node }, forMs, async () => {
      world.wake(process);
      return 0;
    });
  }

  async #happen(self: Process): Promise<void> {
    const { world } = this.#simulation;
    const clock = world.clockOf(self);
    switch (
      world.pick([
        'all',
        'some',
        'jump',
        'slow',
        'target',
        'checkout',
        'busy',
        'stop',
        'leave',
        'away',
      ] as const)
    ) {
      case 'all':
        for (const one of world.alive(({ name }) => name !== 'world')) world.kill(one, 'all at once');
        return;
      case 'some':
        for (const one of world.alive(({ name }) => name !== 'world'))
          if (world.chance(0.5)) world.kill(one, 'some at once');
        return;
      case 'jump':
        world.note(null, 'a clock jumps');
        return world.jump(this.#simulation.anyNode().id, world.chance(0.5) ? HOUR_MS : -HOUR_MS);
      case 'slow':
        world.slowness = world.pick([5, 50]);
        await clock.sleep(world.upTo(60_000));
        world.slowness = 1;
        return;
      case 'target':
        return this.#moveTarget(self);
      case 'checkout':
        return this.#editCheckout(self);
      case 'busy': {
        const { checkout } = this.#simulation.anyNode();
        if (checkout === null) return;
        checkout.isBusy = true;
        await clock.sleep(world.upTo(60_000));
        checkout.isBusy = false;
        return;
      }
      case 'stop': {
        const runners = world.alive(({ kind }) => kind === 'runner' || kind === 'orchestrator');
        if (runners.length > 0) this.#pause(world.pick(runners));
        return;
      }
      case 'leave': {
        const all = world.alive(({ kind }) => kind === 'orchestrator');
        if (all.length > 0) world.terminate(world.pick(all));
        return;
      }
      case 'away':
        this.#simulation.isBoardAway = true;
        await clock.sleep(world.pick([100, 5_000, 45_000]));
        this.#simulation.isBoardAway = false;
        return;
      default:
    }
  }

  /** Somebody commits to the target without asking, where nobody has it checked out. */
  async #moveTarget(self: Process): Promise<void> {
    const { world, work } = this.#simulation;
    const node = this.#simulation.anyNode();
    if (node.checkout !== null) return;
    const { repository } = node.shared;
    await world.call(self, 'a person commits to the target', () => {
      work.count += 1;
      const { target } = node.shared;
      const tree = new Map(repository.require(target).tree);
      const [path, text] = world.chance(0.3)
        ? (['shared.txt', `${tree.get('shared.txt')}\nperson ${work.count}`] as const)
        : ([`person-${work.count}`, 'by hand'] as const);
      tree.set(path, text);
      node.move(
        TARGET_REF,
        target,
        repository.write([target], tree, `by hand ${work.count}`, work.count),
        null,
      );
    });
  }

  async #editCheckout(self: Process): Promise<void> {
    const { world } = this.#simulation;
    const node = this.#simulation.anyNode();
    const { checkout } = node;
    if (checkout === null) return;
    const path = world.pick(['shared.txt', 'README']);
    const before = node.shared.repository.require(node.shared.target).tree.get(path);
    if (checkout.files.get(path) !== before) return;
    checkout.files.set(path, `${before} edited by hand`);
    const mine = checkout.files.get(path);
    await world.clockOf(self).sleep(world.upTo(120_000));
    if (checkout.files.get(path) !== mine) {
      if (this.#isOn)
        this.#simulation.violate('10: a file that a person edited in the checkout was written over');
    } else if (before !== undefined) checkout.files.set(path, before);
  }
}
