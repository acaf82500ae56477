import { describe, expect, it } from 'vitest';

import { emptyQueueState } from '../../packages/copse/src/domain/queue-state.ts';
import { batchSize } from '../../packages/copse/src/domain/queue.ts';
import { QueueWorld, namesOf } from './queue-world.ts';

/** A state in which so many are checked together. */
const batchesOf = (size: number) => ({ ...emptyQueueState, guilt: 0.69 / size });

const purposes = (world: QueueWorld) => world.plan.start.map((start) => `${start.purpose} ${namesOf(start)}`);

describe('the rules at the top of queue.ts', () => {
  it('1: the share of the guilty begins at 5 % and moves by 2 % with every change', () => {
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

  it('2: a conflict is handed back at once although it is being checked, and its batch goes on without it', () => {
    const world = new QueueWorld({ conflicts: [['b', 'x']], slots: 1 }).add('abc');
    world.decide();
    expect(world.checked).toEqual(['abc']);
    world.tip.push('x1');
    const plan = world.decide();
    expect(plan.handBack).toMatchObject([{ change: { head: 'b1' }, because: 'conflict' }]);
    expect(world.checked).toEqual(['ac']);
  });

  it('2: what merges by its files and still does not merge is handed back, and nothing breaks', () => {
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

  it('3: a second half is checked for want of anything better', () => {
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

  it('4: a batch is the next that merge together; whoever does not fit keeps its place', () => {
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

  it('5: if nobody else waits and little is in flight, a change is checked on top of that and lands right behind it', () => {
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
    world.blocked = 'a checkout is in the way';
    world.endCheckOf('a');
    world.endCheckOf('b');
    expect(world.decide()).toMatchObject({ start: [], stall: 'a checkout is in the way' });
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
    ['is held', (world: QueueWorld) => (world.entry('a').held = 'it depends on another')],
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

  it('8: a check that took too long uses up no retry of one that is red', () => {
    const world = new QueueWorld({ bad: ['a'] }).add('a');
    world.decide();
    for (const verdict of ['timeout', 'red'] as const) {
      world.endCheckOf('a', verdict);
      expect(world.decide().handBack).toEqual([]);
    }
    world.endCheckOf('a', 'timeout');
    expect(world.decide().handBack).toMatchObject([{ because: 'timeout' }]);
  });

  it('9: red on top of something that did not land blames nobody', () => {
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

  it('9: green on top of something that did not land is not green by itself: it is probed before it lands', () => {
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

  it('10: the train is probed as a whole, then in the middle of the largest stretch', () => {
    const world = new QueueWorld({ slots: 8 }).add('abcdefgh');
    world.state = batchesOf(1);
    world.decide();
    world.tip.push('F1');
    for (const name of 'abcdefgh') world.endCheckOf(name);
    world.decide();
    expect(purposes(world)).toEqual(['probe abcdefgh', 'probe abcd', 'probe ab', 'probe abcdef']);
  });

  it('11: the target moves to a green probe, and longer probes go on', () => {
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

  it('12: a red probe blames nobody while something shorter is green and only may not land', () => {
    const world = new QueueWorld({ slots: 4, clashes: [['b', 'F']] }).add('ab');
    world.state = batchesOf(1);
    world.decide();
    world.tip.push('F1');
    for (const name of 'ab') world.endCheckOf(name);
    world.blocked = 'a checkout is in the way';
    world.decide();
    expect(world.checked).toEqual(['ab', 'a']);
    for (const names of ['a', 'ab']) world.endCheckOf(names);
    expect(world.decide().start).toEqual([]);
    world.blocked = null;
    world.finish();
    expect(world.target).toBe('Fa');
    expect(world.handedBack).toEqual([{ name: 'b', because: 'red' }]);
  });

  it('13: before the first change is blamed the target is checked, once', () => {
    const world = new QueueWorld({ bad: ['a'], isKnownGreen: false }).add('a');
    world.decide();
    world.endCheckOf('a');
    world.decide();
    expect(purposes(world)).toEqual(['target ']);
    world.finish();
    expect(world.handedBack).toEqual([{ name: 'a', because: 'red' }]);
    expect(world.started.filter(({ purpose }) => purpose === 'target')).toHaveLength(1);
  });

  it('13: if the target is red nobody is blamed, each is checked alone once, and the one that mends it lands', () => {
    const world = new QueueWorld({ mends: ['d'], slots: 2 }).add('abcd');
    world.tip.push('RED1');
    world.finish();
    expect(world.landed.toSorted()).toEqual(['a', 'b', 'c', 'd']);
    expect(world.handedBack).toEqual([]);
  });

  it('13: if nobody mends the target the queue says so and begins nothing more', () => {
    const world = new QueueWorld({ slots: 2 }).add('abc');
    world.tip.push('RED1');
    world.finish();
    expect(world.plan).toMatchObject({ stall: 'the target itself fails its checks', start: [] });
    const alone = world.started.map(namesOf).filter((names) => names.length === 1);
    expect(alone.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('13: what was red on an older target was not tried on this one', () => {
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
  it('1: with every_commit_green each commit was checked, and batches are of one', () => {
    const world = new QueueWorld({ everyCommitGreen: true, slots: 3 }).add('abcdef');
    world.decide();
    expect(world.state.batches.map(namesOf)).toEqual(['a', 'b', 'c']);
    world.finish();
    expect(world.target).toBe('abcdef');
  });

  it('1: with every_commit_green, batches of before are checked one by one', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.everyCommitGreen = true;
    world.decide();
    expect(world.checked).toEqual(['a']);
  });

  it('6: first come, first served within a priority, and the more important first', () => {
    const world = new QueueWorld({ slots: 1 }).add('ab').add('c', { priority: 2 });
    world.state = batchesOf(2);
    world.decide();
    expect(world.checked).toEqual(['ca']);
  });

  it('6: who was passed over too often because it does not fit goes first and alone', () => {
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

  it('6: who waits longest is not passed over for ever by what is more important', () => {
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

  it('7: a hotfix goes to the front, alone, and takes the slot of the check that was begun last', () => {
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
  ])('7: a hotfix that is %s keeps nobody from landing', (what, options, back) => {
    const world = new QueueWorld({ slots: 2, ...options }).add('ab');
    world.tip.push('F1');
    world.add('h', { isHotfix: true, held: what === 'held' ? 'it depends on another' : null });
    world.finish();
    expect(world.target).toBe('Fab');
    expect(world.handedBack.map(({ name }) => name).join('')).toBe(back);
  });

  it('7: a hotfix that does not mend a red target is checked once and lets the one pass that does', () => {
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

  it('7: what a person lets land without checks lands at once, also out of a batch', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.entry('b').isUnchecked = true;
    expect(world.decide().land).toMatchObject({ changes: [{ head: 'b1' }], isChecked: false });
    world.endCheckOf('abc');
    world.finish();
    expect(world.target).toBe('bac');
    expect(world.started.map(namesOf)).toEqual(['abc']);
  });

  it('7: what a person lets land without checks is not checked while it cannot land, and not handed back', () => {
    const world = new QueueWorld({ bad: ['a'], slots: 1 }).add('a');
    world.decide();
    world.endCheckOf('a');
    world.decide();
    world.endCheckOf('a');
    world.blocked = 'a checkout is in the way';
    world.entry('a').isUnchecked = true;
    expect(world.decide()).toMatchObject({ handBack: [], start: [], stall: 'a checkout is in the way' });
    world.add('b', { isUnchecked: true });
    expect(world.decide()).toMatchObject({ start: [] });
    world.blocked = null;
    world.settle();
    expect(world.target).toBe('ab');
  });

  it('8: a pause lets checks end, begins none, lands nothing, and goes on from there', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.state = batchesOf(1);
    world.decide();
    [world.isPaused, world.blocked] = [true, 'the queue is paused'];
    expect(world.decide()).toMatchObject({ start: [], abandon: [], stall: null });
    world.endCheckOf('a');
    expect(world.decide()).toMatchObject({ start: [], land: null, stall: 'the queue is paused' });
    [world.isPaused, world.blocked] = [false, null];
    world.finish();
    expect(world.target).toBe('abc');
    expect(world.started.map(namesOf)).toEqual(['a', 'b', 'c']);
  });

  it('8: while the target must not move, checks go on', () => {
    const world = new QueueWorld({ slots: 1 }).add('ab');
    world.state = batchesOf(1);
    world.blocked = 'a checkout is in the way';
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

  it('9: what is held lands neither by itself nor with its batch, without blame', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.entry('b').held = 'it depends on cp-x, which is in_progress';
    world.endCheckOf('abc');
    world.finish();
    expect(world.target).toBe('ac');
    expect(world.handedBack).toEqual([]);
    expect(world.plan.stall).toBe('it depends on cp-x, which is in_progress');
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

  it('11: if somebody else moves the target forward, what is green is probed on it', () => {
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

  it('11: if somebody rewinds the target, nobody is blamed for what was red on top of the rest', () => {
    const world = new QueueWorld({ clashes: [['a', 'F']] }).add('a');
    world.tip.push('F1');
    world.decide();
    world.endCheckOf('a');
    world.decide();
    world.tip.pop();
    world.finish();
    expect(world.target).toBe('a');
  });

  it('11: nobody is blamed for what was red on top of something that was taken back while it was judged', () => {
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

  it('13: nobody is blamed for what was red on a red target that somebody mended meanwhile', () => {
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

  it('11: if the target moves while it is checked whether it is red, that is asked anew', () => {
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

  it('11: a batch that does not merge any more after the target moved goes back to the queue', () => {
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

  it('12: an infrastructure error blames nobody, and nothing is begun until some time has passed', () => {
    const world = new QueueWorld({ slots: 2 }).add('abcd');
    world.state = batchesOf(1);
    world.decide();
    for (const name of 'ab') world.endCheckOf(name, 'infrastructure');
    expect(world.decide()).toMatchObject({
      start: [],
      handBack: [],
      stall: 'its checks cannot run: disk full',
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

  it('12: what lands without checks says nothing about checks that cannot run', () => {
    const world = new QueueWorld({ slots: 1 }).add('ab');
    world.state = batchesOf(1);
    world.decide();
    world.endCheckOf('a', 'infrastructure');
    world.decide();
    world.entry('a').isUnchecked = true;
    world.settle();
    expect(world.target).toBe('a');
    expect(world.plan).toMatchObject({ start: [], stall: 'its checks cannot run: disk full' });
  });

  it('12: the time to wait for checks that cannot run does not grow beyond what policy allows', () => {
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

  it('12: checks that were lost with whoever ran them are begun again', () => {
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

  it('14: what stands still says why', () => {
    const world = new QueueWorld({ slots: 0 }).add('a');
    expect(world.decide().stall).toBe('no slot is free for its checks');
    world.entry('a').held = 'the queue accepts nothing now';
    expect(world.decide().stall).toBe('the queue accepts nothing now');
    world.blocked = 'the remote refused the last push';
    expect(world.decide().stall).toBe('the remote refused the last push');
    world.remove('a');
    expect(world.decide().stall).toBeNull();
  });

  it('without checks everything that merges lands in one go', () => {
    const world = new QueueWorld({ hasChecks: false, conflicts: [['a', 'c']] }).add('abcd');
    expect(world.decide().land).toMatchObject({ isChecked: false, commit: 'root+a1+b1+d1' });
    world.settle();
    expect(world.handedBack).toEqual([{ name: 'c', because: 'conflict' }]);
  });

  it('without checks not more land with one move than policy allows', () => {
    const world = new QueueWorld({ hasChecks: false, policy: { landedAtOnce: 3 } }).add('abcd');
    expect(world.decide().land?.changes).toHaveLength(3);
  });

  it('if checks are taken out of the configuration, what was in a batch lands, too', () => {
    const world = new QueueWorld({ slots: 1 }).add('abc');
    world.decide();
    world.hasChecks = false;
    const plan = world.decide();
    expect(plan.land?.changes).toHaveLength(3);
    expect(plan.abandon).toHaveLength(1);
  });

  it('asks for one merge at a time if nobody looked yet, and decides the same', () => {
    const options = { slots: 3, bad: ['c'], conflicts: [['a', 'd']], clashes: [['b', 'f']] };
    const [eager, late] = [new QueueWorld(options), new QueueWorld(options, { looksLate: true })];
    for (const world of [eager, late]) world.add('abcdefgh').finish();
    expect(late.started).toEqual(eager.started);
    expect(late.tip).toEqual(eager.tip);
  });
});
