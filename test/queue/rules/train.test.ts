import { describe, expect, it } from 'vitest';

import { QueueWorld, batchesOf, namesOf, purposes, waits } from './world.ts';

describe('the rules at the top of queue.ts', () => {
  it('10: the train is probed as a whole, then in the middle of the largest stretch', () => {
    const world = new QueueWorld({ slots: 8 }).add('abcdefgh');
    world.state = batchesOf(1);
    world.decide();
    world.tip.push('F1');
    for (const name of 'abcdefgh') world.endCheckOf(name);
    world.decide();
    expect(purposes(world)).toEqual(['probe abcdefgh', 'probe abcd', 'probe ab', 'probe abcdef']);
  });

  it('11: the target moves to a green probe, and longer probes continue', () => {
    const world = new QueueWorld({ slots: 4 }).add('abcd');
    world.state = batchesOf(1);
    world.decide();
    world.tip.push('F1');
    for (const name of 'abcd') world.endCheckOf(name);
    world.decide();
    expect(world.checked).toEqual(['abcd', 'ab']);
    world.endCheckOf('ab');
    world.settle();
    expect(world.target).toBe('Fab');
    expect(world.checked).toContain('abcd');
    world.endCheckOf('abcd');
    world.settle();
    expect(world.target).toBe('Fabcd');
    expect(world.started.filter((start) => namesOf(start) === 'abcd')).toHaveLength(1);
  });

  it('11: a tree that is known to be green lands without a check', () => {
    const world = new QueueWorld().add('ab');
    world.greenTrees.add('a1 root').add('a1 b1 root');
    world.settle();
    expect(world.target).toBe('ab');
    expect(world.started).toEqual([]);
  });

  it('12: of a red probe each batch is checked again, and later ones stay green', () => {
    const world = new QueueWorld({ slots: 8, clashes: [['a', 'b', 'F']] }).add('abcd');
    world.state = batchesOf(1);
    world.decide();
    world.tip.push('F1');
    for (const name of 'abcd') world.endCheckOf(name);
    world.decide();
    expect(world.checked).toEqual(['abcd', 'ab', 'a', 'abc']);
    world.endCheckOf('abc');
    world.endCheckOf('ab');
    world.decide();
    expect(world.state.batches.map(({ stage }) => stage.is)).toEqual(['green', 'green', 'green', 'green']);
    world.endCheckOf('a', 'infrastructure');
    world.decide();
    world.now += 1_000_000;
    expect(world.state.batches.map(({ stage }) => stage.is).slice(2)).toEqual(['green', 'green']);
    world.finish();
    expect(world.target).toBe('Fcda');
    expect(world.handedBack).toEqual([{ name: 'b', because: 'red' }]);
  });

  it('12: a red probe waits for shorter ones that are being checked', () => {
    const world = new QueueWorld({ slots: 4, bad: ['b'] }).add('abcd');
    world.state = batchesOf(1);
    world.decide();
    world.tip.push('F1');
    for (const name of 'abcd') world.endCheckOf(name, 'green');
    world.decide();
    world.endCheckOf('abcd');
    world.decide();
    expect(world.state.batches.map(({ stage }) => stage.is)).toEqual(['green', 'green', 'green', 'green']);
  });

  it('12: a red probe hands nothing back while a shorter one is green and only may not land', () => {
    const world = new QueueWorld({ slots: 4, clashes: [['b', 'F']] }).add('ab');
    world.state = batchesOf(1);
    world.decide();
    world.tip.push('F1');
    for (const name of 'ab') world.endCheckOf(name);
    world.blocked = waits.checkout;
    world.decide();
    expect(world.checked).toEqual(['ab', 'a']);
    for (const names of ['a', 'ab']) world.endCheckOf(names);
    expect(world.decide().start).toEqual([]);
    world.blocked = null;
    world.finish();
    expect(world.target).toBe('Fa');
    expect(world.handedBack).toEqual([{ name: 'b', because: 'red' }]);
  });

  it('13: before the first handback the target is checked, once', () => {
    const world = new QueueWorld({ bad: ['a'], isKnownGreen: false }).add('a');
    world.decide();
    world.endCheckOf('a');
    world.decide();
    expect(purposes(world)).toEqual(['target ']);
    world.finish();
    expect(world.handedBack).toEqual([{ name: 'a', because: 'red' }]);
    expect(world.started.filter(({ purpose }) => purpose === 'target')).toHaveLength(1);
  });

  it('13: if the target is red nothing is handed back, each is checked alone once, and the one that fixes it lands', () => {
    const world = new QueueWorld({ mends: ['d'], slots: 2 }).add('abcd');
    world.tip.push('RED1');
    world.finish();
    expect(world.landed.toSorted()).toEqual(['a', 'b', 'c', 'd']);
    expect(world.handedBack).toEqual([]);
  });

  it('13: if no change fixes the target the queue says so and starts nothing more', () => {
    const world = new QueueWorld({ slots: 2 }).add('abc');
    world.tip.push('RED1');
    world.finish();
    expect(world.plan).toMatchObject({ stall: { kind: 'target_red' }, start: [] });
    const alone = world.started.map(namesOf).filter((names) => names.length === 1);
    expect(alone.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('13: what was found out about the target with other checks does not count', () => {
    const world = new QueueWorld({ isKnownGreen: false }).add('a');
    world.decide();
    const tip = world.started[0]!.onto;
    const audit = { tip, verdict: 'green', run: 99, tried: [], checks: world.checks } as const;
    world.state = { ...world.state, audit };
    world.decide();
    expect(world.state.audit).toEqual(audit);
    world.checks = 'other';
    world.decide();
    expect(world.state.audit).toBeNull();
  });

  it('13: a red verdict on an older target does not count for this one', () => {
    const world = new QueueWorld({ clashes: [['a', 'b']], mends: ['a'], slots: 2 }).add('a');
    world.tip.push('b1');
    world.decide();
    world.tip = ['root', 'RED1'];
    world.crash();
    world.finish();
    expect(world.target).toBe('REDa');
  });
});

describe('what MERGE-QUEUE.md promises of the decision', () => {
  it('11: if another person moves the target forward, green changes are probed on it', () => {
    const world = new QueueWorld({ slots: 2, clashes: [['a', 'F']] }).add('ab');
    world.state = batchesOf(1);
    world.decide();
    world.tip.push('F1');
    world.endCheckOf('a');
    world.endCheckOf('b');
    expect(world.decide().land).toBeNull();
    expect(purposes(world)).toEqual(['probe ab']);
    world.finish();
    expect(world.target).toBe('Fb');
    expect(world.handedBack).toEqual([{ name: 'a', because: 'red' }]);
  });

  it('11: if a person rewinds the target, a red verdict on top of the removed commits hands nothing back', () => {
    const world = new QueueWorld({ clashes: [['a', 'F']] }).add('a');
    world.tip.push('F1');
    world.decide();
    world.endCheckOf('a');
    world.decide();
    world.tip.pop();
    world.finish();
    expect(world.target).toBe('a');
  });

  it('11: a red verdict on top of a change that was reverted meanwhile hands nothing back', () => {
    const world = new QueueWorld({ clashes: [['a', 'F']] }).add('a');
    world.decide();
    world.endCheckOf('a', 'red');
    world.decide();
    world.tip.push('F1');
    world.crash();
    world.decide();
    world.endCheckOf('a');
    world.decide();
    expect(purposes(world)).toEqual(['target ']);
    world.endCheckOf('');
    world.tip.pop();
    world.finish();
    expect(world.handedBack).toEqual([]);
    expect(world.target).toBe('a');
  });

  it('13: a red verdict on a red target that was fixed meanwhile hands nothing back', () => {
    const world = new QueueWorld({ mends: ['M'] }).add('a');
    world.decide();
    world.endCheckOf('a', 'red');
    world.decide();
    world.tip.push('RED1');
    world.crash();
    world.decide();
    world.endCheckOf('a');
    world.tip.push('M1');
    world.greenTrees.add('M1 RED1 root');
    world.finish();
    expect(world.handedBack).toEqual([]);
    expect(world.target).toBe('REDMa');
  });

  it('11: if the target moves while it is itself checked, it is checked again', () => {
    const world = new QueueWorld({ bad: ['a'], isKnownGreen: false }).add('a');
    world.decide();
    world.endCheckOf('a');
    world.decide();
    const [audit] = world.running.keys();
    world.tip.push('F1');
    expect(world.decide().abandon).toEqual([audit]);
    expect(purposes(world)).toEqual(['target ']);
    world.finish();
    expect(world.handedBack).toEqual([{ name: 'a', because: 'red' }]);
  });

  it('11: a batch that no longer merges after the target moved goes back to the queue', () => {
    const world = new QueueWorld({ slots: 1, conflicts: [['b', 'F']] }).add('abc');
    world.decide();
    world.crash();
    world.tip.push('F1');
    world.settle();
    expect(world.checked).toEqual(['ac']);
  });

  it.each([
    ['waits', (world: QueueWorld) => world.crash()],
    ['is green', (world: QueueWorld) => world.endCheckOf('abc')],
  ])('11: a batch that %s and merges one by one, but not as a whole, is made anew', (_, happen) => {
    const world = new QueueWorld({ slots: 1, jams: [['a', 'b', 'F']] }).add('abc');
    world.decide();
    expect(world.checked).toEqual(['abc']);
    happen(world);
    world.tip.push('F1');
    world.settle();
    expect(world.checked).toEqual(['ac']);
    world.finish();
    expect(world.target).toBe('Fac');
    expect(world.handedBack).toEqual([{ name: 'b', because: 'conflict' }]);
  });
});
