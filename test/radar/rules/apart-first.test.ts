import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Collisions, apartFirst } from '../../../packages/copse/src/radar/rules/apart-first.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { Priority } from '../../../packages/copse/src/tasks/rules/priority.ts';
import type { Pair, PairVerdict } from '../../../packages/copse/src/radar/rules/radar.ts';

const now = timestamp(10_000_000);
const limits = { ...defaultPolicy.radar, preferMs: 1_000 };

function ready(id: string, of: { priority?: Priority; ageMs?: number; areas?: readonly string[] } = {}) {
  const { priority = 3, ageMs = 0, areas = [] } = of;
  return {
    id: brand<TaskId>(id),
    priority,
    areas,
    state: { status: 'ready', since: timestamp(now - ageMs), delay: null } as const,
  };
}

type Ready = ReturnType<typeof ready>;

const order = (tasks: readonly Ready[], colliding: readonly string[]) =>
  Array.from(
    apartFirst(tasks, ({ id }) => colliding.includes(id), now, limits),
    ({ id }) => id,
  );

describe('of ready tasks', () => {
  it('those without a collision go first, and the others keep their order', () => {
    const tasks = ['a', 'b', 'c', 'd'].map((id) => ready(id));
    expect(order(tasks, ['a', 'c'])).toEqual(['b', 'd', 'a', 'c']);
    expect(order(tasks, [])).toEqual(['a', 'b', 'c', 'd']);
  });

  it('none passes a more urgent one', () => {
    const tasks = [ready('a', { priority: 5 }), ready('b', { priority: 3 }), ready('c', { priority: 3 })];
    expect(order(tasks, ['a', 'b'])).toEqual(['a', 'c', 'b']);
  });

  it('one that was ready for long enough is no longer passed over', () => {
    const tasks = [ready('a', { ageMs: 1_000 }), ready('b', { ageMs: 999 }), ready('c')];
    expect(order(tasks, ['a', 'b'])).toEqual(['a', 'c', 'b']);
  });

  it('collisions are computed only for tasks that are needed', () => {
    const asked: string[] = [];
    const tasks = ['a', 'b', 'c'].map((id) => ready(id));
    const collides = ({ id }: Ready) => asked.push(id) === 1;
    expect(apartFirst(tasks, collides, now, limits).next().value?.id).toBe('b');
    expect(asked).toEqual(['a', 'b']);
  });

  it('with any collisions, each comes once, by urgency, and old ones keep their place', () => {
    const task = fc.record({
      priority: fc.constantFrom<Priority[]>(1, 3, 5),
      isOld: fc.boolean(),
      collides: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(task, { maxLength: 20 }), (wanted) => {
        const sorted = wanted.toSorted((a, b) => b.priority - a.priority);
        const tasks = sorted.map(({ priority, isOld }, at) =>
          ready(`t${at}`, { priority, ageMs: isOld ? 1_000 : 0 }),
        );
        const colliding = tasks.filter((_, at) => sorted[at]?.collides).map(({ id }) => id);
        const result = order(tasks, colliding);
        expect(result.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
        const find = (id: string) => tasks.findIndex((one) => one.id === id);
        const urgencies = result.map((id) => tasks[find(id)]?.priority ?? 0);
        expect(urgencies).toEqual(urgencies.toSorted((a, b) => b - a));
        for (const [at, old] of tasks.entries()) {
          if (sorted[at]?.isOld === false) continue;
          const before = result.slice(0, result.indexOf(old.id));
          expect(before.every((id) => find(id) < at)).toBe(true);
        }
      }),
    );
  });
});

describe('a ready task collides', () => {
  const live = (task: string, ...paths: readonly string[]) => ({
    task: brand<TaskId>(task),
    touched: { paths, emptied: [], isWide: false },
  });
  const pair = (one: string, other: string, verdict: PairVerdict): Pair => ({
    tasks: [brand(one), brand(other)],
    tips: [brand('1'), brand('2')],
    verdict,
    since: now,
  });

  it.each([
    ['src/**', 'cp-live'],
    ['src/auth', 'cp-live'],
    ['src/auth/log?n.ts', 'cp-live'],
    ['**/*.ts', 'cp-live'],
    ['{docs,src}/**', 'cp-live'],
    ['src/auth/login.ts', 'cp-live'],
    ['café/**', 'cp-coffee'],
    ['docs/**', undefined],
    ['src/aut', undefined],
    ['src/auth/*.js', undefined],
  ])('by its area %s with %s', (area, other) => {
    const known = new Collisions(
      [live('cp-live', 'src/auth/login.ts'), live('cp-coffee', 'cafe\u0301/x')],
      [],
    );
    expect(known.with(ready('cp-1', { areas: [area] }))).toBe(other);
  });

  it('not with its own branch', () => {
    const known = new Collisions([live('cp-1', 'src/a.ts')], []);
    expect(known.with(ready('cp-1', { areas: ['src/**'] }))).toBeUndefined();
    expect(known.with(ready('cp-2', { areas: ['src/**'] }))).toBe('cp-1');
  });

  it('by a conflict or an overlap of its own branch, and not if that is apart or unknown', () => {
    const files = { files: ['x'], omitted: 0 };
    for (const [verdict, expected] of [
      [{ kind: 'conflict', ...files }, 'cp-2'],
      [{ kind: 'overlap', ...files }, 'cp-2'],
      [{ kind: 'apart' }, undefined],
      [{ kind: 'pending', was: null }, undefined],
    ] as const)
      expect(new Collisions([], [pair('cp-1', 'cp-2', verdict)]).with(ready('cp-1'))).toBe(expected);
  });

  it('not without areas, and not by an area that cannot be read', () => {
    const known = new Collisions([live('cp-live', 'a')], []);
    expect(known.with(ready('cp-1'))).toBeUndefined();
    expect(known.with(ready('cp-1', { areas: ['../a'] }))).toBeUndefined();
  });
});
