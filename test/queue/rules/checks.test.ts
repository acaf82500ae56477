import { describe, expect, it } from 'vitest';

import { QueueWorld, batchesOf, namesOf, waits } from './world.ts';

describe('what MERGE-QUEUE.md promises of the decision', () => {
  // setting: landing.slots
  it('1: with every_commit_green each commit was checked, and batches are of one', () => {
    const world = new QueueWorld({ everyCommitGreen: true, slots: 3 }).add('abcdef');
    world.decide();
    expect(world.state.batches.map(namesOf)).toEqual(['a', 'b', 'c']);
    world.finish();
    expect(world.target).toBe('abcdef');
  });

  it('1: with every_commit_green, changes of earlier batches are checked one by one', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.everyCommitGreen = true;
    world.decide();
    expect(world.checked).toEqual(['a']);
  });

  it('12: an infrastructure error hands nothing back, and no check starts before a delay', () => {
    const world = new QueueWorld({ slots: 2 }).add('abcd');
    world.state = batchesOf(1);
    world.decide();
    for (const name of 'ab') world.endCheckOf(name, 'infrastructure');
    expect(world.decide()).toMatchObject({
      start: [],
      handBack: [],
      stall: { kind: 'checks_unavailable', detail: 'disk full' },
    });
    expect(world.state.trouble).toMatchObject({ times: 1, until: world.policy.troubleFirstMs });
    world.now = world.policy.troubleFirstMs;
    world.decide();
    expect(world.checked).toEqual(['a']);
    world.endCheckOf('a', 'infrastructure');
    world.decide();
    expect(world.state.trouble).toMatchObject({ times: 2, until: 3 * world.policy.troubleFirstMs });
    world.now = world.policy.troubleMostMs;
    world.decide();
    world.endCheckOf('a');
    world.settle();
    expect(world.state.trouble).toBeNull();
    expect(world.checked).toHaveLength(2);
    world.finish();
    expect(world.target).toBe('abcd');
  });

  it('12: a landing without checks does not end the delay of checks that cannot run', () => {
    const world = new QueueWorld({ slots: 1 }).add('ab');
    world.state = batchesOf(1);
    world.decide();
    world.endCheckOf('a', 'infrastructure');
    world.decide();
    world.entry('a').isUnchecked = true;
    world.settle();
    expect(world.target).toBe('a');
    expect(world.plan).toMatchObject({
      start: [],
      stall: { kind: 'checks_unavailable', detail: 'disk full' },
    });
  });

  it('12: the delay of checks that cannot run grows up to the policy’s maximum', () => {
    const world = new QueueWorld({ slots: 1 }).add('a');
    for (let times = 0; times < 40; times += 1) {
      world.decide();
      world.endCheckOf('a', 'infrastructure');
      world.decide();
      world.now = world.state.trouble!.until;
    }
    world.decide();
    world.endCheckOf('a', 'infrastructure');
    world.decide();
    expect(world.state.trouble!.until - world.now).toBe(world.policy.troubleMostMs);
  });

  it('12: checks that were lost with their leader are started again', () => {
    const world = new QueueWorld({ slots: 2 }).add('ab');
    world.decide();
    world.crash();
    world.decide();
    expect(world.checked).toEqual(['a', 'b']);
    expect(world.state.batches.every(({ wasRed }) => !wasRed)).toBe(true);
  });

  it('12: a change that landed while the state still named it is forgotten', () => {
    const world = new QueueWorld({ slots: 1 }).add('ab');
    world.decide();
    world.endCheckOf('ab');
    const before = world.state;
    world.decide();
    expect(world.target).toBe('ab');
    world.crash(before);
    expect(world.decide()).toMatchObject({ land: null, start: [], stall: null });
    expect(world.state.batches).toEqual([]);
  });

  it('14: a stalled queue has a reason', () => {
    const world = new QueueWorld({ slots: 0 }).add('a');
    expect(world.decide().stall).toEqual({ kind: 'no_slot' });
    world.entry('a').held = waits.notAccepted;
    expect(world.decide().stall).toEqual(waits.notAccepted);
    world.blocked = waits.push;
    expect(world.decide().stall).toEqual(waits.push);
    world.remove('a');
    expect(world.decide().stall).toBeNull();
  });

  it('without checks everything that merges lands with one move', () => {
    const world = new QueueWorld({ hasChecks: false, conflicts: [['a', 'c']] }).add('abcd');
    expect(world.decide().land).toMatchObject({ isChecked: false, commit: 'root+a1+b1+d1' });
    world.settle();
    expect(world.handedBack).toEqual([{ name: 'c', because: 'conflict' }]);
  });

  it('without checks at most the policy’s number land with one move', () => {
    const world = new QueueWorld({ hasChecks: false, policy: { landedAtOnce: 3 } }).add('abcd');
    expect(world.decide().land?.changes).toHaveLength(3);
  });

  it('if checks are removed from the configuration, the changes of a batch land too', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.hasChecks = false;
    const plan = world.decide();
    expect(plan.land?.changes).toHaveLength(3);
    expect(plan.abandon).toHaveLength(1);
  });

  it('asks for one merge at a time if none is known, and decides the same', () => {
    const options = { slots: 3, bad: ['c'], conflicts: [['a', 'd']], clashes: [['b', 'f']] };
    const [eager, late] = [new QueueWorld(options), new QueueWorld(options, { looksLate: true })];
    for (const world of [eager, late]) world.add('abcdefgh').finish();
    expect(late.started).toEqual(eager.started);
    expect(late.tip).toEqual(eager.tip);
  });
});
