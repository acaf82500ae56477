import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Session } from '../../../packages/copse/src/agents/rules/session/session.ts';
import { brand, fencingToken, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';
import type { Priority } from '../../../packages/copse/src/tasks/rules/priority.ts';
import type { Task, TaskState, TaskSummary } from '../../../packages/copse/src/tasks/rules/task.ts';
import { doneToast, taskOperations } from '../../../packages/web/src/parts/task-operations.ts';
import { type Placed, columns, placed } from '../../../packages/web/src/pages/board/columns.ts';
import { decideDrop } from '../../../packages/web/src/pages/board/drop.ts';
import { definition } from '../../support/records/world.ts';

const since = timestamp(1_000);
const states: readonly TaskState[] = [
  { status: 'pending', since },
  { status: 'ready', since, delay: null },
  { status: 'paused', since },
  {
    status: 'in_progress',
    since,
    claim: {
      session: brand('se-1'),
      attempt: brand('at-1'),
      node: brand('no-1'),
      agent: brand('claude'),
      token: fencingToken(1),
    },
  },
  { status: 'stuck', since, reason: 'Which?' },
  { status: 'in_review', since, head: brand('a'.repeat(40)), pullRequest: null },
  { status: 'needs_attention', since, because: 'conflict', reason: 'It conflicts' },
  { status: 'failed', since, reason: 'exit code 1' },
  { status: 'landing', since, landing: brand('la-1') },
  { status: 'done', since, how: 'landed', commit: brand('b'.repeat(40)) },
  { status: 'cancelled', since, reason: null },
];

function task(id: string, state: TaskState, priority: Priority = 3): Task {
  return {
    ...definition,
    id: brand(id),
    createdAt: since,
    updatedAt: since,
    state,
    priority,
    token: fencingToken(0),
    retries: 0,
    handbacks: {},
    session: null,
  };
}

function stateOf(status: TaskState['status']): TaskState {
  const found = states.find((state) => state.status === status);
  if (found === undefined) throw new Error(status);
  return found;
}

describe('columns', () => {
  test('placing only what changed gives the same columns as placing all', () => {
    const change = fc.record({
      id: fc.nat(30),
      state: fc.constantFrom(...states),
      priority: fc.constantFrom(1, 2, 3, 4, 5),
      isDeleted: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 8 }), (rounds) => {
        let tasks = new Map<string, TaskSummary>();
        let before: Placed | undefined;
        for (const round of rounds) {
          tasks = new Map(tasks);
          for (const { id, state, priority, isDeleted } of round)
            if (isDeleted) tasks.delete(`cp-${id}`);
            else tasks.set(`cp-${id}`, task(`cp-${id}`, state, priority));
          before = placed(tasks, before);
          expect(before.columns).toStrictEqual(placed(tasks).columns);
        }
      }),
    );
  });

  test('a column in which nothing changed is the same list as before', () => {
    const [a, b] = [task('cp-a', stateOf('ready')), task('cp-b', stateOf('done'))];
    const first = placed(
      new Map([
        ['cp-a', a],
        ['cp-b', b],
      ]),
    );
    const next = placed(
      new Map([
        ['cp-a', task('cp-a', stateOf('in_progress'))],
        ['cp-b', b],
      ]),
      first,
    );
    expect(next.columns.done).toBe(first.columns.done);
    expect(next.columns.working.map(({ id }) => id)).toStrictEqual(['cp-a']);
    expect(next.columns.ready).toStrictEqual([]);
  });
});

describe('dropping a card', () => {
  test.each([
    ['in_progress', 'ready', 'task.pause'],
    ['paused', 'working', 'task.resume'],
    ['stuck', 'working', 'task.restart'],
    ['in_review', 'landing', 'review.approve'],
    ['needs_attention', 'landing', 'queue.retry'],
    ['landing', 'needs', 'queue.cancel'],
  ] as const)('%s to %s is %s', (status, column, name) => {
    expect(decideDrop(task('cp-a', stateOf(status)), column, undefined)).toMatchObject({
      kind: 'operation',
      name,
    });
  });

  test('approval by dropping is bound to the commit of the card, and names it first', () => {
    const drop = decideDrop(task('cp-a', stateOf('in_review')), 'landing', undefined);
    expect(drop).toMatchObject({
      input: { task: 'cp-a', head: 'a'.repeat(40) },
      confirms: { title: 'Land aaaaaaaaaa of cp-a without a review?' },
    });
  });

  test('every other place is refused with a reason and a command', () => {
    for (const state of states)
      for (const column of columns) {
        const drop = decideDrop(task('cp-a', state), column, undefined);
        if (drop.kind !== 'refused') continue;
        expect(drop.reason).toContain('cp-a');
        expect(drop.next[0]).toMatch(/^copse /);
      }
    expect(decideDrop(task('cp-a', stateOf('ready')), 'done', undefined).kind).toBe('refused');
  });

  test('on a card of another priority it takes that priority', () => {
    const drop = decideDrop(task('cp-a', stateOf('ready')), 'ready', task('cp-b', stateOf('ready'), 5));
    expect(drop).toMatchObject({ name: 'task.edit', input: { task: 'cp-a', priority: 'p5' } });
  });
});

describe('the palette', () => {
  test('names each with the command of the registry', () => {
    const commands = new Map(operations.map(({ name, command }) => [name, command]));
    for (const one of taskOperations)
      for (const state of states) {
        const facts = { task: task('cp-a', state), session: undefined };
        if (!one.applies(facts)) continue;
        expect(one.command(facts, 'x')).toMatch(new RegExp(`^copse ${commands.get(one.name)} `));
      }
  });

  const offered = (label: string) => taskOperations.find((one) => one.label === label) ?? expect.fail(label);

  test('lands the commit that it named, and no other', () => {
    const facts = { task: task('cp-a', stateOf('in_review')), session: undefined };
    const land = offered('Land now');
    expect(land.input(facts, '')).toStrictEqual({
      tasks: ['cp-a'],
      waitSeconds: 0,
      head: 'a'.repeat(40),
    });
    expect(land.command(facts, '')).toBe('copse merge cp-a --head aaaaaaaaaa');
    expect(land.confirms?.(facts)?.title).toContain('aaaaaaaaaa');
  });

  test.each([
    [{ landing: 'waits', task: 'cp-a', reason: 'x' }, 'cp-a is queued to land.', undefined],
    [{ landing: 'refused', task: 'cp-a', cause: 'x' }, 'cp-a did not land.', true],
  ])('says what came of landing: %o', (first, text, isProblem) => {
    const toast = doneToast(offered('Land now'), task('cp-a', stateOf('landing')), { landings: [first] });
    expect([toast.text, toast.isProblem]).toStrictEqual([text, isProblem]);
  });

  test.each(['Allow what its agent asks for', 'Deny what its agent asks for'])('%s: shows what', (label) => {
    const question = { id: 'qu-1', tool: 'Bash', what: 'rm -rf /', answer: null };
    const facts = { task: task('cp-a', stateOf('in_progress')), session: { question } as Session };
    expect(offered(label).confirms?.(facts)).toStrictEqual({
      title: 'Its agent asks to use Bash',
      text: 'rm -rf /',
    });
  });

  test('refuses a text that is no priority', () => {
    const { asks } = offered('Change the priority');
    expect(asks?.refuses?.('urgent')).toContain('"urgent" is no priority');
    expect(asks?.refuses?.('P4')).toBeUndefined();
  });
});
