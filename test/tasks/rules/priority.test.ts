import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brand, timestamp, type TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import {
  compareUrgency,
  formatPriority,
  parsePriority,
  type Priority,
  type Urgency,
} from '../../../packages/copse/src/tasks/rules/priority.ts';

const priorities = [1, 2, 3, 4, 5] as const;

describe('writing a priority', () => {
  test.each(priorities)('%i is read from a digit, from p and from P', (priority) => {
    expect(parsePriority(`${priority}`)).toBe(priority);
    expect(parsePriority(`p${priority}`)).toBe(priority);
    expect(parsePriority(`P${priority}`)).toBe(priority);
  });

  test.each(['', 'p', '0', '6', 'p0', 'p6', '3.0', '-1', '55', 'pp5', 'high', '٥', '5\n5'])(
    '%j is not a priority',
    (text) => {
      expect(parsePriority(text)).toBeUndefined();
    },
  );

  test('a formatted priority is read back as itself', () => {
    for (const priority of priorities) expect(parsePriority(formatPriority(priority))).toBe(priority);
    expect(formatPriority(5)).toBe('p5');
  });
});

describe('urgency', () => {
  const task = (priority: Priority, createdAt: number, id: string): Urgency => ({
    priority,
    createdAt: timestamp(createdAt),
    id: brand<TaskId>(id),
  });
  const anyTask = fc
    .tuple(
      fc.constantFrom(...priorities),
      fc.integer({ min: 0, max: 2 }),
      fc.constantFrom('cp-0001', 'cp-0002', 'cp-0003'),
    )
    .map(([priority, createdAt, id]) => task(priority, createdAt, id));

  test('p5 comes before p1 at any age', () => {
    expect(
      [task(1, 0, 'cp-0001'), task(5, 9, 'cp-0002')].toSorted(compareUrgency).map(({ priority }) => priority),
    ).toEqual([5, 1]);
  });

  test('among equals the oldest comes first, and then the id decides', () => {
    const sorted = [task(3, 2, 'cp-0001'), task(3, 1, 'cp-000b'), task(3, 1, 'cp-000a')].toSorted(
      compareUrgency,
    );
    expect(sorted.map(({ id }) => id)).toEqual(['cp-000a', 'cp-000b', 'cp-0001']);
  });

  test('the order does not depend on the order of the input', () => {
    fc.assert(
      fc.property(fc.array(anyTask), (tasks) => {
        expect(tasks.toReversed().toSorted(compareUrgency)).toEqual(tasks.toSorted(compareUrgency));
      }),
    );
  });

  test('only a task compared with itself is equally urgent', () => {
    fc.assert(
      fc.property(anyTask, anyTask, (a, b) => {
        expect(Math.sign(compareUrgency(a, b)) + Math.sign(compareUrgency(b, a))).toBe(0);
        expect(compareUrgency(a, b) === 0).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });
});
