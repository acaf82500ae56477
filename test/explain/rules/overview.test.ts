/** What comes first among the tasks that need a person. */

import { describe, expect, test } from 'vitest';

import {
  type NeedsYou,
  countUnblocked,
  rankNeeds,
  waitsForPerson,
} from '../../../packages/copse/src/explain/rules/overview.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';

const id = (name: string) => brand<TaskId>(`cp-${name}`);

function need(name: string, unblocks: number, since: number): NeedsYou {
  return {
    task: id(name),
    title: name,
    status: 'stuck',
    since: timestamp(since),
    kind: 'question',
    reason: 'its agent asks for a decision: which?',
    details: 'which?',
    command: `copse restart cp-${name}`,
    unblocks,
    agent: null,
  };
}

describe('tasks that need a person', () => {
  test('come in the order of the tasks that they unblock, then of their age', () => {
    const given = [need('new0', 0, 300), need('old0', 0, 100), need('few0', 1, 400), need('many', 7, 500)];
    const order = ['cp-many', 'cp-few0', 'cp-old0', 'cp-new0'];
    expect(rankNeeds(given).map(({ task }) => task)).toEqual(order);
    expect(rankNeeds(given.toReversed()).map(({ task }) => task)).toEqual(order);
  });

  test('of the same age come in the order of their ids, so that lines keep their place', () => {
    const given = [need('bbbb', 0, 100), need('aaaa', 0, 100)];
    expect(rankNeeds(given).map(({ task }) => task)).toEqual(['cp-aaaa', 'cp-bbbb']);
  });
});

describe('the tasks that an answer unblocks', () => {
  const graph = (edges: Readonly<Record<string, readonly string[]>>) =>
    new Map(Object.entries(edges).map(([on, waiting]) => [id(on), waiting.map(id)]));

  test('are counted through others, and each once', () => {
    const diamond = graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: ['e'] });
    expect(countUnblocked(id('a'), diamond)).toBe(4);
    expect(countUnblocked(id('b'), diamond)).toBe(2);
    expect(countUnblocked(id('e'), diamond)).toBe(0);
    expect(countUnblocked(id('x'), diamond)).toBe(0);
    // In front of a queue that stalled: those behind it, and the tasks that wait for them.
    expect(countUnblocked(id('x'), diamond, [id('x'), id('b')])).toBe(3);
  });

  test('are counted in a chain of ten thousand, and in a circle that should not be there', () => {
    const long = Array.from({ length: 10_000 }, (_, index) => [String(index), [String(index + 1)]] as const);
    expect(countUnblocked(id('0'), graph(Object.fromEntries(long)))).toBe(10_000);
    expect(countUnblocked(id('a'), graph({ a: ['b'], b: ['a'] }))).toBe(1);
  });
});

test('a queue waits for a person where only a person ends the wait', () => {
  expect(waitsForPerson({ kind: 'checkout_changed', checkout: '/x', files: ['a'] })).toBe(true);
  expect(waitsForPerson({ kind: 'target_red' })).toBe(true);
  expect(waitsForPerson({ kind: 'remote_unreachable', detail: 'timeout' })).toBe(false);
  expect(waitsForPerson({ kind: 'paused', comment: 'release' })).toBe(false);
});
