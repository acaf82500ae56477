import { describe, expect, it } from 'vitest';

import { batchSize } from '../../../packages/copse/src/queue/rules/decide/decide.ts';
import { QueueWorld, batchesOf, namesOf, purposes, waits } from './world.ts';

describe('the rules at the top of queue.ts', () => {
  it('1: the estimated share of red changes starts at 5 % and moves by 2 % with every change', () => {
    const world = new QueueWorld({ bad: ['b'] }).add('ab');
    expect(world.state.guilt).toBe(0.05);
    world.finish();
    expect(world.target).toBe('a');
    expect(world.handedBack).toEqual([{ name: 'b', because: 'red' }]);
    expect(world.state.guilt).toBeCloseTo(0.05 * 0.98 * 0.98 + 0.02, 6);
  });

  it.each([
    [0.05, 13],
    [0.0001, 32],
    [0.0215, 32],
    [0.69, 1],
    [0.7, 1],
    [1, 1],
  ])('4: with a share of %d, %d changes are checked together', (guilt, size) => {
    expect(batchSize(guilt, { largestBatch: 32 })).toBe(size);
  });

  it('2: a conflict with the target is handed back at once, wherever it stands', () => {
    const world = new QueueWorld({ conflicts: [['z', 'x']], slots: 1 }).add('abz');
    world.tip.push('x1');
    expect(world.decide().handBack).toMatchObject([
      { change: { head: 'z1' }, because: 'conflict', run: null },
    ]);
    expect(world.checked).toEqual(['ab']);
  });

  it('2: a conflict is handed back at once although it is being checked, and its batch continues without it', () => {
    const world = new QueueWorld({ conflicts: [['b', 'x']], slots: 1 }).add('abc');
    world.decide();
    expect(world.checked).toEqual(['abc']);
    world.tip.push('x1');
    const plan = world.decide();
    expect(plan.handBack).toMatchObject([{ change: { head: 'b1' }, because: 'conflict' }]);
    expect(world.checked).toEqual(['ac']);
  });

  it('2: a change that seems to merge by its files and does not is handed back, and nothing breaks', () => {
    for (const of of [{}, { isHotfix: true }, { isUnchecked: true }]) {
      const world = new QueueWorld({ conflicts: [['b', 'x']] }).add('b', of);
      world.tip.push('x1');
      world.seesConflicts = false;
      expect(world.decide().handBack).toMatchObject([{ change: { head: 'b1' }, because: 'conflict' }]);
    }
  });

  it('3: a slot goes to retries before halves, halves before new batches, those before second halves', () => {
    const world = new QueueWorld({ slots: 1, bad: ['a'] }).add('abcd');
    world.state = batchesOf(4);
    world.decide();
    world.endCheckOf('abcd');
    world.add('e');
    world.decide();
    expect(purposes(world)).toEqual(['half ab']);
    world.endCheckOf('ab');
    world.decide();
    expect(purposes(world)).toEqual(['half a']);
    world.endCheckOf('a');
    world.decide();
    expect(purposes(world)).toEqual(['again a']);
    world.endCheckOf('a');
    world.settle();
    expect(world.checked).toEqual(['bcd']);
  });

  it('3: a second half is checked if there is nothing better', () => {
    const world = new QueueWorld({ slots: 2, bad: ['a'] }).add('ab');
    world.slots = 1;
    world.decide();
    world.endCheckOf('ab');
    world.slots = 2;
    world.decide();
    expect(purposes(world)).toEqual(['half a', 'second_half b']);
  });

  it('3: probes take at most half of the slots', () => {
    const world = new QueueWorld({ slots: 4 }).add('abcdefgh');
    world.state = batchesOf(2);
    world.decide();
    expect(world.checked).toEqual(['ab', 'cd', 'ef', 'gh']);
    world.tip.push('F1');
    for (const names of ['ab', 'cd', 'ef', 'gh']) world.endCheckOf(names);
    world.decide();
    expect(purposes(world)).toEqual(['probe abcdefgh', 'probe abcd']);
    world.add('i');
    world.decide();
    expect(purposes(world)).toEqual(['batch i']);
  });

  it('4: a batch has the next changes that merge together; one that does not fit keeps its place', () => {
    const world = new QueueWorld({ slots: 1, conflicts: [['a', 'b']] }).add('abcd');
    world.state = batchesOf(3);
    world.decide();
    expect(world.checked).toEqual(['acd']);
    expect(world.state.passedOver).toEqual({ 'la-b': 1 });
  });

  it('4: a short queue is spread over the free slots', () => {
    const world = new QueueWorld({ slots: 4 }).add('abcdef');
    world.decide();
    expect(world.state.batches.map(namesOf)).toEqual(['ab', 'cd', 'e', 'f']);
  });

  it('5: if no other change waits and little is in flight, a change is checked on top of that and lands right behind it', () => {
    const world = new QueueWorld({ slots: 4 }).add('a');
    world.decide();
    world.add('b');
    world.decide();
    expect(purposes(world)).toEqual(['batch ab']);
    world.endCheckOf('a');
    world.settle();
    expect(world.target).toBe('a');
    world.endCheckOf('ab');
    world.settle();
    expect(world.target).toBe('ab');
    expect(world.started).toHaveLength(2);
  });

  it('5: while others wait, a batch is checked on the target', () => {
    const world = new QueueWorld({ slots: 3 }).add('abcdef');
    world.decide();
    expect(world.checked).toEqual(['ab', 'cd', 'abcdef']);
  });

  it('5: if much is in flight, it is checked on the target', () => {
    const world = new QueueWorld({ slots: 4 }).add('a');
    world.state = batchesOf(1);
    world.decide();
    world.add('b');
    world.decide();
    expect(purposes(world)).toEqual(['batch b']);
  });

  it('6: a green batch that does not merge with the train in front of it waits, and is not checked again', () => {
    const world = new QueueWorld({ slots: 4, conflicts: [['a', 'b']] }).add('ab');
    world.decide();
    world.blocked = waits.checkout;
    world.endCheckOf('a');
    world.endCheckOf('b');
    expect(world.decide()).toMatchObject({ start: [], stall: waits.checkout });
    world.blocked = null;
    world.settle();
    expect(world.target).toBe('a');
    expect(world.handedBack).toEqual([{ name: 'b', because: 'conflict' }]);
    expect(world.started).toHaveLength(2);
  });

  it('7: if the first half is green, the second is split without being checked as a whole', () => {
    const world = new QueueWorld({ slots: 1, bad: ['d'] }).add('abcd');
    world.decide();
    world.endCheckOf('abcd');
    world.decide();
    world.endCheckOf('ab');
    world.settle();
    expect(world.target).toBe('ab');
    expect(world.checked).toEqual(['c']);
    world.finish();
    expect(world.target).toBe('abc');
    expect(world.started.map(namesOf)).toEqual(['abcd', 'ab', 'c', 'd', 'd']);
  });

  it('7: if the first half is red, the second goes back to the queue', () => {
    const world = new QueueWorld({ slots: 1, bad: ['a'] }).add('abcd');
    world.decide();
    world.endCheckOf('abcd');
    world.decide();
    world.endCheckOf('ab');
    world.decide();
    expect(world.state.batches.flatMap(({ changes }) => changes.map(({ head }) => head))).toEqual([
      'a1',
      'b1',
    ]);
  });

  it.each([
    ['is cancelled', (world: QueueWorld) => world.remove('a')],
    ['moves', (world: QueueWorld) => world.move('a')],
    ['is held', (world: QueueWorld) => (world.entry('a').held = waits.dependency)],
    ['lands without checks', (world: QueueWorld) => (world.entry('a').isUnchecked = true)],
    ['is a hotfix', (world: QueueWorld) => (world.entry('a').isHotfix = true)],
  ])('7: if the first half %s, the second is checked like any half', (_, happen) => {
    const world = new QueueWorld({ slots: 1, bad: ['c'] }).add('abc');
    world.decide();
    world.endCheckOf('abc');
    world.decide();
    expect(world.checked).toEqual(['ab']);
    happen(world);
    world.remove('b');
    world.settle();
    const left = world.state.batches.find(({ changes }) => changes.some(({ head }) => head === 'c1'));
    expect(left?.stage).not.toMatchObject({ as: 'second_half' });
    for (const one of world.queued) one.held = null;
    world.finish();
    expect(world.handedBack).toEqual([{ name: 'c', because: 'red' }]);
  });

  it('8: a change is checked once more before it is handed back', () => {
    const world = new QueueWorld({ bad: ['a'] }).add('a');
    world.decide();
    world.endCheckOf('a');
    expect(world.decide().handBack).toEqual([]);
    expect(purposes(world)).toEqual(['again a']);
    const [run] = world.running.keys();
    world.endCheckOf('a');
    expect(world.decide().handBack).toMatchObject([{ change: { head: 'a1' }, because: 'red', run }]);
  });

  it('8: a flake is forgiven', () => {
    const world = new QueueWorld().add('a');
    world.decide();
    world.endCheckOf('a', 'red');
    world.finish();
    expect(world.target).toBe('a');
  });

  it('8: a check that timed out uses up no retry of a red one', () => {
    const world = new QueueWorld({ bad: ['a'] }).add('a');
    world.decide();
    for (const verdict of ['timeout', 'red'] as const) {
      world.endCheckOf('a', verdict);
      expect(world.decide().handBack).toEqual([]);
    }
    world.endCheckOf('a', 'timeout');
    expect(world.decide().handBack).toMatchObject([{ because: 'timeout' }]);
  });

  it('9: red on top of a change that did not land hands nothing back', () => {
    const world = new QueueWorld({ clashes: [['a', 'b']] }).add('a');
    world.decide();
    world.add('b');
    world.decide();
    expect(world.checked).toEqual(['a', 'ab']);
    world.endCheckOf('ab');
    world.decide();
    expect(world.state.batches.find(({ changes }) => changes[0]?.head === 'b1')).toMatchObject({
      wasRed: false,
      stage: { is: 'checking', onto: 'root' },
    });
  });

  it('9: green on top of a change that did not land does not count alone: it is probed before it lands', () => {
    const world = new QueueWorld({ bad: ['a'] }).add('a');
    world.decide();
    world.add('b');
    world.decide();
    world.endCheckOf('ab', 'green');
    world.remove('a');
    world.decide();
    expect(purposes(world)).toEqual(['probe b']);
    world.finish();
    expect(world.target).toBe('b');
  });
});
