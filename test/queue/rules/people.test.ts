import { describe, expect, it } from 'vitest';

import { QueueWorld, batchesOf, namesOf, purposes, waits } from './world.ts';

describe('what MERGE-QUEUE.md promises of the decision', () => {
  it('6: first come, first served within a priority, and the more important first', () => {
    const world = new QueueWorld({ slots: 1 }).add('ab').add('c', { priority: 2 });
    world.state = batchesOf(2);
    world.decide();
    expect(world.checked).toEqual(['ca']);
  });

  it('6: a change that was passed over too often because it does not fit goes first and alone', () => {
    const world = new QueueWorld({ slots: 2, conflicts: [['a', 'b']], policy: { mostPassedOver: 1 } }).add(
      'abcdef',
    );
    world.state = batchesOf(3);
    world.decide();
    expect(purposes(world)).toEqual(['batch acd', 'alone b']);
    const late = new QueueWorld({ slots: 2, conflicts: [['a', 'b']], policy: { mostPassedOver: 1 } }).add(
      'abc',
    );
    late.slots = 1;
    late.decide();
    expect(late.checked).toEqual(['ac']);
    late.slots = 2;
    late.decide();
    expect(purposes(late)).toEqual(['alone b']);
    late.endCheckOf('ac');
    expect(late.decide().land).toBeNull();
    late.endCheckOf('b');
    late.settle();
    expect(late.target.startsWith('b')).toBe(true);
  });

  it('6: the change that waits longest is not passed over for ever by more important ones', () => {
    const world = new QueueWorld({ slots: 1, policy: { mostPassedOver: 3 } }).add('z');
    world.state = batchesOf(1);
    for (const name of 'abcdefgh') {
      world.add(name, { priority: 5 });
      world.settle();
      world.end([...world.running.keys()][0]!);
    }
    world.finish();
    expect(world.landed.indexOf('z')).toBe(2);
  });

  it('7: a hotfix goes to the front, alone, and takes the slot of the check that started last', () => {
    const world = new QueueWorld({ slots: 2 }).add('abcd');
    world.state = batchesOf(2);
    world.decide();
    expect(world.checked).toEqual(['ab', 'cd']);
    world.add('h', { isHotfix: true });
    world.decide();
    expect(world.checked).toEqual(['ab', 'h']);
    world.endCheckOf('ab');
    expect(world.decide().land).toBeNull();
    world.endCheckOf('h');
    world.settle();
    expect(world.target.startsWith('h')).toBe(true);
  });

  it('7: a hotfix that is in a batch is taken out of it', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.entry('b').isHotfix = true;
    world.decide();
    expect(world.checked).toEqual(['b']);
    world.endCheckOf('b');
    world.finish();
    expect(world.landed).toEqual(['b', 'a', 'c']);
  });

  it('7: a hotfix takes the slot of a probe, too', () => {
    const world = new QueueWorld({ slots: 1 }).add('a');
    world.decide();
    world.tip.push('F1');
    world.endCheckOf('a');
    world.decide();
    expect(purposes(world)).toEqual(['probe a']);
    world.add('h', { isHotfix: true });
    world.decide();
    expect(world.checked).toEqual(['h']);
    world.finish();
    expect(world.target).toBe('Fha');
  });

  it.each([
    ['red', { bad: ['h'] }, 'h'],
    ['in conflict', { conflicts: [['h', 'F']] }, 'h'],
    ['held', {}, ''],
  ])('7: a hotfix that is %s does not stop others from landing', (what, options, back) => {
    const world = new QueueWorld({ slots: 2, ...options }).add('ab');
    world.tip.push('F1');
    world.add('h', { isHotfix: true, held: what === 'held' ? waits.dependency : null });
    world.finish();
    expect(world.target).toBe('Fab');
    expect(world.handedBack.map(({ name }) => name).join('')).toBe(back);
  });

  it('7: a hotfix that does not fix a red target is checked once and lets the one pass that does', () => {
    const world = new QueueWorld({ slots: 2, mends: ['a'] }).add('a').add('h', { isHotfix: true });
    world.tip.push('RED1');
    world.settle();
    for (let times = 0; times < 20 && world.running.size > 0; times += 1) {
      world.end([...world.running.keys()][0]!);
      world.settle();
    }
    expect(world.landed.toSorted()).toEqual(['a', 'h']);
    expect(world.landed[0]).toBe('a');
  });

  it('7: a retry of a hotfix goes before everything else', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc').add('h', { isHotfix: true });
    world.decide();
    expect(world.checked).toEqual(['h']);
    world.endCheckOf('h', 'red');
    world.decide();
    expect(purposes(world)).toEqual(['alone h']);
  });

  it('7: a change without checks lands at once, also out of a batch', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.entry('b').isUnchecked = true;
    expect(world.decide().land).toMatchObject({ changes: [{ head: 'b1' }], isChecked: false });
    world.endCheckOf('abc');
    world.finish();
    expect(world.target).toBe('bac');
    expect(world.started.map(namesOf)).toEqual(['abc']);
  });

  it('7: a change without checks is not checked while it cannot land, and not handed back', () => {
    const world = new QueueWorld({ bad: ['a'], slots: 1 }).add('a');
    world.decide();
    world.endCheckOf('a');
    world.decide();
    world.endCheckOf('a');
    world.blocked = waits.checkout;
    world.entry('a').isUnchecked = true;
    expect(world.decide()).toMatchObject({ handBack: [], start: [], stall: waits.checkout });
    world.add('b', { isUnchecked: true });
    expect(world.decide()).toMatchObject({ start: [] });
    world.blocked = null;
    world.settle();
    expect(world.target).toBe('ab');
  });

  it('8: a pause lets checks end, starts none, lands nothing, and continues from there', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.state = batchesOf(1);
    world.decide();
    [world.isPaused, world.blocked] = [true, waits.paused];
    expect(world.decide()).toMatchObject({ start: [], abandon: [], stall: null });
    world.endCheckOf('a');
    expect(world.decide()).toMatchObject({ start: [], land: null, stall: waits.paused });
    [world.isPaused, world.blocked] = [false, null];
    world.finish();
    expect(world.target).toBe('abc');
    expect(world.started.map(namesOf)).toEqual(['a', 'b', 'c']);
  });

  it('8: while the target must not move, checks continue', () => {
    const world = new QueueWorld({ slots: 1 }).add('ab');
    world.state = batchesOf(1);
    world.blocked = waits.checkout;
    world.decide();
    world.endCheckOf('a');
    expect(world.decide()).toMatchObject({ land: null, stall: null });
    expect(world.checked).toEqual(['b']);
  });

  it('8: a cancelled change leaves its batch, whose check is abandoned', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    const [run] = world.running.keys();
    world.remove('b');
    expect(world.decide().abandon).toEqual([run]);
    expect(world.checked).toEqual(['ac']);
  });

  // promise: dependency-order
  it('9: a held change lands neither alone nor with its batch, and is not handed back', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.entry('b').held = waits.dependency;
    world.endCheckOf('abc');
    world.finish();
    expect(world.target).toBe('ac');
    expect(world.handedBack).toEqual([]);
    expect(world.plan.stall).toEqual(waits.dependency);
  });

  it('10: a branch that moves keeps its place, and old verdicts do not apply to it', () => {
    const world = new QueueWorld({ slots: 1 }).add('ab');
    world.state = batchesOf(1);
    world.decide();
    world.endCheckOf('a');
    world.move('a');
    world.decide();
    expect(world.plan.land).toBeNull();
    expect(world.plan.start).toMatchObject([{ changes: [{ head: 'a2' }] }]);
  });
});
