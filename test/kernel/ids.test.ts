import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  brand,
  drawId,
  fencingToken,
  isTaskIdPrefix,
  planIdDraws,
  parseTaskId,
  resolvePrefix,
  taskIdDraws,
  timestamp,
  type TaskId,
} from '../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';

const id = (text: string): TaskId => brand<TaskId>(text);
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function firstFree(random: () => number, isTaken: (id: TaskId) => boolean): TaskId {
  for (const drawn of taskIdDraws(random)) if (!isTaken(drawn)) return drawn;
  throw new Error('everything is taken');
}

describe('reading a task id', () => {
  test.each([
    ['cp-a1b2', 'cp-a1b2'],
    ['CP-A1B2', 'cp-a1b2'],
    ['cp-0000', 'cp-0000'],
    ['cp-zzzzz9', 'cp-zzzzz9'],
  ])('%j is the task %s', (text, expected) => {
    expect(parseTaskId(text)).toBe(expected);
  });

  test.each([
    '',
    'cp-',
    'cp-abc',
    'a1b2',
    'xx-a1b2',
    'cp_a1b2',
    'cp-a1b2 ',
    'cp-a1bi',
    'cp-a1bl',
    'cp-a1bo',
    'cp-a1bu',
    'cp-a1b2\n',
    'cp-../x',
    'cp-abc\u212a',
  ])('%j is not a task id', (text) => {
    expect(parseTaskId(text)).toBeUndefined();
  });
});

describe('drawing a task id', () => {
  const free = (): boolean => false;

  test('a drawn id has four characters and is read back as itself', () => {
    fc.assert(
      fc.property(fc.array(share, { minLength: 4, maxLength: 4 }), (shares) => {
        const drawn = firstFree(() => shares.pop() ?? Number.NaN, free);
        expect(drawn).toHaveLength('cp-'.length + 4);
        expect(parseTaskId(drawn)).toBe(drawn);
      }),
    );
  });

  test('after the allowed collisions at a length the id grows by one character', () => {
    const asked: string[] = [];
    const drawn = firstFree(
      () => 0.5,
      (candidate) => {
        asked.push(candidate);
        return candidate.length < 'cp-'.length + 6;
      },
    );
    const { taskIdDrawsPerLength } = defaultPolicy.naming;
    expect(drawn).toBe('cp-gggggg');
    expect(asked.filter((candidate) => candidate.length === 'cp-'.length + 4)).toHaveLength(
      taskIdDrawsPerLength,
    );
    expect(asked.filter((candidate) => candidate.length === 'cp-'.length + 5)).toHaveLength(
      taskIdDrawsPerLength,
    );
  });

  test('a drawn id is never one that is taken, even when randomness is constant', () => {
    fc.assert(
      fc.property(share, (value) => {
        const taken = new Set<string>();
        for (let count = 0; count < 20; count += 1) {
          const drawn = firstFree(
            () => value,
            (candidate) => taken.has(candidate),
          );
          expect(taken.has(drawn)).toBe(false);
          taken.add(drawn);
        }
      }),
    );
  });

  test.each([1, -0.1, 2, Number.NaN, Number.POSITIVE_INFINITY])(
    'a broken random source that gives %d still gives a valid id',
    (value) => {
      expect(parseTaskId(firstFree(() => value, free))).toBeDefined();
    },
  );

  test('drawing fails only when every id is taken', () => {
    expect(() => firstFree(Math.random, () => true)).toThrow(/taken/);
  });

  test('every character of the alphabet is drawn', () => {
    const letters = Array.from({ length: 32 }, (_, at) => firstFree(() => at / 32, free).at(-1));
    expect(letters.join('')).toBe('0123456789abcdefghjkmnpqrstvwxyz');
  });
});

test('plan ids are drawn like task ids, under their own prefix', () => {
  const draws = [...planIdDraws(() => 0)];
  expect([draws.at(0), draws.at(defaultPolicy.naming.taskIdDrawsPerLength)]).toEqual(['pl-0000', 'pl-00000']);
});

test('other records get a prefix and twelve characters', () => {
  expect(drawId('se-', () => 0)).toBe('se-000000000000');
  expect(drawId('at-', () => 0.999)).toBe('at-zzzzzzzzzzzz');
});

describe('the beginning of a task id', () => {
  test.each(['a', 'a1', 'cp-a', 'CP-A1B2', 'cp-a1b2c3', 'cp'])('%j can be one', (text) => {
    expect(isTaskIdPrefix(text)).toBe(true);
  });

  test.each(['', 'cp-', 'cp-i', 'a b', '-', 'cp-cp-a', 'a\n'])('%j cannot be one', (text) => {
    expect(isTaskIdPrefix(text)).toBe(false);
  });

  const ids = ['cp-a1b2', 'cp-a1b2c', 'cp-a1zz', 'cp-zzzz'].map(id);

  test.each([
    ['cp-z', { kind: 'found', id: 'cp-zzzz' }],
    ['Z', { kind: 'found', id: 'cp-zzzz' }],
    ['a1b2c', { kind: 'found', id: 'cp-a1b2c' }],
    ['a1', { kind: 'ambiguous', ids: ['cp-a1b2', 'cp-a1b2c', 'cp-a1zz'] }],
    ['b', { kind: 'unknown' }],
    ['', { kind: 'unknown' }],
    ['cp-', { kind: 'unknown' }],
    ['not an id', { kind: 'unknown' }],
  ])('%j resolves to %j', (prefix, expected) => {
    expect(resolvePrefix(prefix, ids)).toEqual(expected);
  });

  test('a whole id wins over longer ids that begin with it', () => {
    for (const order of [ids, ids.toReversed()]) {
      expect(resolvePrefix('cp-a1b2', order)).toEqual({ kind: 'found', id: 'cp-a1b2' });
      expect(resolvePrefix('A1B2', order)).toEqual({ kind: 'found', id: 'cp-a1b2' });
    }
  });

  test('an id listed twice is not ambiguous', () => {
    expect(resolvePrefix('z', [id('cp-zzzz'), id('cp-zzzz')])).toEqual({ kind: 'found', id: 'cp-zzzz' });
  });
});

describe('numbers with a meaning', () => {
  test('a timestamp is a whole number of milliseconds', () => {
    expect(timestamp(0)).toBe(0);
    expect(timestamp(1_700_000_000_000)).toBe(1_700_000_000_000);
    for (const wrong of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect(() => timestamp(wrong)).toThrow(RangeError);
  });

  test('a fencing token is a whole number that is not negative', () => {
    expect(fencingToken(0)).toBe(0);
    expect(fencingToken(7)).toBe(7);
    for (const wrong of [-1, 1.5, Number.NaN, 2 ** 53]) expect(() => fencingToken(wrong)).toThrow(RangeError);
  });
});
