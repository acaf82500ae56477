import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeCycle, findCycle } from '../../../packages/copse/src/tasks/rules/dependencies.ts';
import { brand, type TaskId } from '../../../packages/copse/src/kernel/ids.ts';

const id = (name: string | number): TaskId => brand<TaskId>(`cp-${name}`);

function graph(edges: Record<string, readonly string[]>): Map<TaskId, readonly TaskId[]> {
  return new Map(Object.entries(edges).map(([from, to]) => [id(from), to.map(id)]));
}

describe('a dependency that would close a circle', () => {
  test('is found and the circle is named in order, from the task back to itself', () => {
    const edges = graph({ b: ['c'], c: ['a'] });
    const cycle = findCycle(edges, id('a'), [id('b')]);
    expect(cycle).toEqual(['cp-a', 'cp-b', 'cp-c', 'cp-a']);
    expect(describeCycle(cycle ?? [])).toBe('cp-a → cp-b → cp-c → cp-a');
  });

  test('may be the task itself', () => {
    expect(findCycle(new Map(), id('a'), [id('b'), id('a')])).toEqual(['cp-a', 'cp-a']);
  });

  test('is named by a shortest circle when there are several', () => {
    const edges = graph({ b: ['c'], c: ['a'], d: ['a'] });
    expect(findCycle(edges, id('a'), [id('b'), id('d')])).toEqual(['cp-a', 'cp-d', 'cp-a']);
  });

  test('is found at the end of a chain of 100,000 tasks', () => {
    const length = 100_000;
    const edges = new Map(Array.from({ length }, (_, at) => [id(at), at === 0 ? [] : [id(at - 1)]] as const));
    const cycle = findCycle(edges, id(0), [id(length - 1)]);
    expect(cycle).toHaveLength(length + 1);
    expect(findCycle(edges, id('new'), [id(length - 1)])).toBeUndefined();
  });
});

describe('dependencies without a circle', () => {
  test.each([
    ['no dependency at all', {}, []],
    ['a diamond', { b: ['d'], c: ['d'] }, ['b', 'c']],
    ['a circle elsewhere that does not pass through the task', { b: ['c'], c: ['b'] }, ['b']],
    ['a dependency nobody knows', {}, ['gone']],
    ['tasks that depend on this one', { x: ['a'] }, ['b']],
  ])('are accepted: %s', (_, edges, dependencies) => {
    expect(findCycle(graph(edges), id('a'), dependencies.map(id))).toBeUndefined();
  });
});

test('a named circle follows real dependencies, and none is named exactly when the task cannot be reached', () => {
  const node = fc.integer({ min: 0, max: 6 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(node, node), { maxLength: 14 }),
      node,
      fc.array(node, { maxLength: 3 }),
      (pairs, from, added) => {
        const edges = new Map<TaskId, TaskId[]>();
        for (const [a, b] of pairs) edges.set(id(a), [...(edges.get(id(a)) ?? []), id(b)]);
        const cycle = findCycle(edges, id(from), added.map(id));

        const reached = new Set(added);
        for (let grown = true; grown;) {
          grown = false;
          for (const [a, b] of pairs) {
            if (!reached.has(a) || reached.has(b)) continue;
            reached.add(b);
            grown = true;
          }
        }
        expect(cycle !== undefined).toBe(reached.has(from));
        if (cycle === undefined) return;
        expect([cycle.at(0), cycle.at(-1)]).toEqual([id(from), id(from)]);
        expect(added.map(id)).toContain(cycle[1]);
        const steps = cycle.slice(2).map((task, at) => [cycle[at + 1] ?? id('none'), task] as const);
        for (const [task, dependency] of steps) expect(edges.get(task)).toContain(dependency);
      },
    ),
  );
});
