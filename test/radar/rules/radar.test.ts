import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type BranchName,
  type CommitId,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  type LiveBranch,
  type Pair,
  type RadarMemory,
  type Touched,
  type PairVerdict,
  asOf,
  decidePairs,
  findingsOf,
  nothingKnown,
  rememberLook,
  settlePair,
  sharedFiles,
  sightingOf,
} from '../../../packages/copse/src/radar/rules/radar.ts';

const now = timestamp(1_000_000);
const limits = defaultPolicy.radar;

function branch(task: string, touched: Partial<Touched>, of: Partial<LiveBranch> = {}): LiveBranch {
  return {
    task: brand<TaskId>(task),
    branch: brand<BranchName>(`${task}/work`),
    target: brand<BranchName>('main'),
    tip: brand<CommitId>(`${task}@1`),
    base: brand<CommitId>('base'),
    touched: { paths: [], emptied: [], isWide: false, ...touched },
    ...of,
  };
}

const ids = (pairs: readonly Pair[]) => pairs.map(({ tasks }) => tasks.join('+')).toSorted();

describe('two branches', () => {
  const meet = (one: Partial<Touched>, other: Partial<Touched>) =>
    decidePairs([branch('a', one), branch('b', other)], nothingKnown, now).length === 1;

  it.each<[string, boolean, Partial<Touched>, Partial<Touched>]>([
    ['other files', false, { paths: ['src/a.ts'] }, { paths: ['src/b.ts'] }],
    ['the same file', true, { paths: ['x', 'src/a.ts'] }, { paths: ['src/a.ts', 'y'] }],
    ['nothing and something', false, {}, { paths: ['a'] }],
    ['a file and a folder of its name', true, { paths: ['a'] }, { paths: ['a/b'] }],
    ['a file and what is far below it', true, { paths: ['a/b'] }, { paths: ['a/b/c/d'] }],
    ['names that only begin alike', false, { paths: ['a/b'] }, { paths: ['a/bc', 'a/b.c'] }],
    ['a folder that went, and a new file in it', true, { emptied: ['d'] }, { paths: ['d/new'] }],
    ['a folder that went, and a file below it', true, { emptied: ['d'] }, { paths: ['d/e/new'] }],
    [
      'a folder that went, and its namesake',
      false,
      { emptied: ['d'] },
      { paths: ['e/d/new', 'dd/new', 'd'] },
    ],
    ['more than can be listed', true, { isWide: true }, { paths: ['a'] }],
  ])('that change %s need a trial merge: %s', (_what, expected, one, other) => {
    expect(meet(one, other)).toBe(expected);
    expect(meet(other, one)).toBe(expected);
  });

  it('that land on different targets are not compared', () => {
    const release = { target: brand<BranchName>('release') };
    expect(
      decidePairs([branch('a', { paths: ['x'] }), branch('b', { paths: ['x'] }, release)], nothingKnown, now),
    ).toEqual([]);
  });

  it('are compared when the target of one changes, although it did not move', () => {
    const [a, b] = [branch('a', { paths: ['x'] }), branch('b', { paths: ['x'] })];
    const elsewhere = { ...b, target: brand<BranchName>('release') };
    expect(decidePairs([a, b], rememberLook([a, elsewhere], [], limits), now)).toHaveLength(1);
  });

  it('form a pair in the order of their ids', () => {
    const [a, b] = [branch('a', { paths: ['x'] }), branch('b', { paths: ['x'] })];
    const pair = { tasks: ['a', 'b'], tips: ['a@1', 'b@1'], verdict: { kind: 'pending', was: null } };
    expect(decidePairs([a, b], nothingKnown, now)).toMatchObject([pair]);
    expect(decidePairs([b, a], nothingKnown, now)).toMatchObject([pair]);
  });
});

const conflict: PairVerdict = { kind: 'conflict', files: ['x'], omitted: 0 };

describe('a result', () => {
  const [a, b] = [branch('a', { paths: ['x'] }), branch('b', { paths: ['x'] })];
  const [pair] = decidePairs([a, b], nothingKnown, now) as [Pair];
  const found = settlePair(pair, conflict, now);
  const before = rememberLook([a, b], [found], limits);
  const moved = { ...b, tip: brand<CommitId>('b@2') };
  const later = timestamp(now + 60_000);

  it('is valid while neither tip moves', () => {
    expect(decidePairs([a, b], before, later)).toEqual([found]);
  });

  it('is unknown once a tip moved, and is merged again', () => {
    const [again] = decidePairs([a, moved], before, later);
    expect(again).toEqual({
      tasks: ['a', 'b'],
      tips: ['a@1', 'b@2'],
      verdict: { kind: 'pending', was: { kind: 'conflict', since: now } },
      since: later,
    });
  });

  it('has the time when it was first found, and a new one when it changed', () => {
    const [again] = decidePairs([a, moved], before, later) as [Pair];
    expect(settlePair(again, conflict, later).since).toBe(now);
    expect(settlePair(again, { kind: 'apart' }, later).since).toBe(later);
    const movedTwice = { ...b, tip: brand<CommitId>('b@3') };
    const [third] = decidePairs([a, movedTwice], rememberLook([a, moved], [again], limits), later) as [Pair];
    expect(settlePair(third, conflict, later).since).toBe(now);
  });

  it('is dropped with its branches', () => {
    expect(decidePairs([a], before, later)).toEqual([]);
  });

  it('that did not fit is computed again, and does not count as apart', () => {
    const cut = rememberLook([a, b], [found], { ...limits, rememberedPairs: 0 });
    expect(decidePairs([a, b], cut, later)).toMatchObject([{ verdict: { kind: 'pending' } }]);
  });

  it('is shown with the worst first, without pairs that are apart, and with the number left out', () => {
    const pairOf = (one: string, other: string, verdict: PairVerdict): Pair => ({
      tasks: [brand(one), brand(other)],
      tips: [brand('1'), brand('2')],
      verdict,
      since: now,
    });
    const pairs = [
      pairOf('a', 'b', { kind: 'overlap', files: ['x'], omitted: 0 }),
      pairOf('a', 'c', { kind: 'apart' }),
      pairOf('b', 'c', { kind: 'pending', was: null }),
      pairOf('c', 'd', conflict),
    ];
    const sighting = sightingOf([a, b], pairs, now, { ...limits, listedPairs: 2 });
    expect(ids(sighting.pairs)).toEqual(['b+c', 'c+d']);
    expect(sighting.pairs[0]?.verdict).toEqual(conflict);
    expect(sighting.omitted).toBe(1);
  });

  it('is seen from either side', () => {
    expect(findingsOf([found], a.task)).toMatchObject([{ other: 'b', verdict: conflict }]);
    expect(findingsOf([found], b.task)).toMatchObject([{ other: 'a' }]);
    expect(findingsOf([found], brand('c'))).toEqual([]);
  });
});

describe('a sighting that is read later', () => {
  const [a, b] = [branch('a', { paths: ['x'] }), branch('b', { paths: ['x'] })];
  const [pair] = decidePairs([a, b], nothingKnown, now) as [Pair];
  const sighting = sightingOf([a, b], [settlePair(pair, conflict, now)], now, limits);
  const verdicts = (tips: Readonly<Record<string, string | null>>) =>
    asOf(sighting, (name) => {
      const tip = tips[name];
      return tip === undefined || tip === null ? tip : brand<CommitId>(tip);
    }).pairs.map(({ verdict }) => verdict);

  it('is valid while both branches have the same tips', () => {
    expect(verdicts({ 'a/work': 'a@1', 'b/work': 'b@1' })).toEqual([conflict]);
  });

  it.each([
    ['moved', { 'a/work': 'a@1', 'b/work': 'b@2' }],
    ['cannot be read', { 'a/work': null, 'b/work': 'b@1' }],
  ])('is unknown when a branch %s', (_what, tips) => {
    expect(verdicts(tips)).toEqual([{ kind: 'pending', was: { kind: 'conflict', since: now } }]);
  });

  it('has no deleted branches', () => {
    expect(verdicts({ 'a/work': 'a@1' })).toEqual([]);
  });
});

const path = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 });
const state = fc.record({
  paths: fc.array(path, { maxLength: 3 }),
  emptied: fc.array(path, { maxLength: 1 }),
  isWide: fc.constantFrom(false, false, false, false, true),
  target: fc.constantFrom('main', 'main', 'main', 'release'),
});
/** Each step: which branch, and what it has now; null when it goes. */
const step = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.option(state, { freq: 4 }));

/** By names, one by one: the definition, without any cleverness. */
function meetSlowly(one: LiveBranch, other: LiveBranch): boolean {
  const isIn = (name: string, folder: string) => name.startsWith(`${folder}/`);
  const [mine, theirs] = [one.touched, other.touched];
  if (mine.isWide || theirs.isWide) return true;
  return (
    mine.paths.some((left) =>
      theirs.paths.some((right) => left === right || isIn(left, right) || isIn(right, left)),
    ) ||
    mine.paths.some((name) => theirs.emptied.some((folder) => isIn(name, folder))) ||
    theirs.paths.some((name) => mine.emptied.some((folder) => isIn(name, folder)))
  );
}

it('comparing after every move finds the same as comparing everything at once, and merges no pair twice', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.integer({ min: 0, max: 4 }), (steps, room) => {
      const live = new Map<number, LiveBranch>();
      let [memory, moves]: [RadarMemory, number] = [nothingKnown, 0];
      const merged = new Set<string>();
      for (const [index, next] of steps) {
        moves += 1;
        if (next === null) live.delete(index);
        else
          live.set(
            index,
            branch(
              `cp-${index}`,
              {
                paths: next.paths.map((names) => names.join('/')),
                emptied: next.emptied.map((names) => names.join('/')),
                isWide: next.isWide,
              },
              { tip: brand(`tip ${moves}`), target: brand(next.target) },
            ),
          );
        const branches = [...live.values()];
        const pairs = decidePairs(branches, memory, now).map((pair) => {
          if (pair.verdict.kind !== 'pending') return pair;
          const key = pair.tips.join();
          // What did not fit into the memory may be merged again.
          if (memory.isWhole) expect(merged.has(key)).toBe(false);
          merged.add(key);
          return settlePair(pair, { kind: 'conflict', files: [], omitted: 0 }, now);
        });
        const expected = branches.flatMap((one) =>
          branches
            .filter((other) => one.task < other.task && one.target === other.target && meetSlowly(one, other))
            .map((other) => `${one.task}+${other.task}`),
        );
        expect(ids(pairs)).toEqual(expected.toSorted());
        for (const { tasks, tips } of pairs)
          expect(tips).toEqual(tasks.map((task) => branches.find((one) => one.task === task)?.tip));
        memory = rememberLook(branches, pairs, { ...limits, rememberedPairs: room + 3 });
      }
    }),
    { numRuns: 500 },
  );
});

it('shared files are those that both change', () => {
  const touched = (...paths: string[]): Touched => ({ paths, emptied: [], isWide: false });
  expect(sharedFiles(touched('a', 'b', 'c/d'), touched('c/d', 'b', 'c'))).toEqual(['c/d', 'b']);
});
