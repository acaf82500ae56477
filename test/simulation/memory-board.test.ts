/** The board of the simulation does what the real one does: both get the same, and are asked the same. */

import fc from 'fast-check';
import { expect, it } from 'vitest';

import { claimNext } from '../../packages/copse/src/tasks/act/claims.ts';
import { type Context, change } from '../../packages/copse/src/board/context.ts';
import { addTask, deleteTasks, editTask } from '../../packages/copse/src/tasks/act/tasks.ts';
import { recordKinds } from '../../packages/copse/src/board/rules/event.ts';
import {
  type AgentName,
  type BranchName,
  type CommitId,
  type EventNumber,
  type LandingId,
  type TaskId,
  brand,
  fencingToken,
  timestamp,
} from '../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import { decideCrash, decideFinish, decideStuck } from '../../packages/copse/src/tasks/rules/outcomes.ts';
import type { Board, BoardReader } from '../../packages/copse/src/board/port.ts';
import { newPlace, person } from '../support/board/boards.ts';
import { claimant } from '../support/records/tasks.ts';
import { boardOn } from './memory-board.ts';
import { MemoryStore } from './memory-store.ts';

type Step =
  | {
      readonly do: 'add';
      readonly priority: 'p1' | 'p3' | 'p5';
      readonly depends: number | null;
      readonly requires: boolean;
    }
  | { readonly do: 'claim'; readonly isAble: boolean }
  | {
      readonly do: 'crash' | 'stick' | 'queue' | 'renew' | 'delete' | 'retitle';
      readonly task: number;
      readonly token: number;
    }
  | { readonly do: 'fail' };

const task = fc.nat(4);
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    priority: fc.constantFrom('p1' as const, 'p3' as const, 'p5' as const),
    depends: fc.option(task),
    requires: fc.boolean(),
  }),
  fc.record({ do: fc.constant('claim' as const), isAble: fc.boolean() }),
  fc.record({
    do: fc.constantFrom(
      'crash' as const,
      'stick' as const,
      'queue' as const,
      'renew' as const,
      'delete' as const,
      'retitle' as const,
    ),
    task,
    token: fc.integer({ min: 1, max: 3 }),
  }),
  fc.constant({ do: 'fail' as const }),
);

it('answers every query as a real board does, after any history', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (list) => {
      await using place = await newPlace('sqlite');
      const real = await place.open();
      const fake = boardOn(new MemoryStore());
      const [one, other] = [await play(real, list), await play(fake, list)];
      expect(other.outcomes).toEqual(one.outcomes);
      expect(await everything(fake, other.ids)).toEqual(await everything(real, one.ids));
    }),
    { numRuns: 30 },
  );
});

/** Ids and times come from a counter, so that both boards get the very same. */
async function play(board: Board, list: readonly Step[]) {
  const ids: TaskId[] = [];
  const outcomes: unknown[] = [];
  let count = 0;
  const context: Context = {
    board,
    clock: { now: () => timestamp(1_000_000 + (count += 1) * 7_000) },
    random: () => ((count += 1) * 0.137) % 1,
    policy: defaultPolicy,
    by: person,
  };
  for (const step of list) outcomes.push(await take(context, step, ids));
  return { ids, outcomes };
}

async function take(context: Context, step: Step, ids: TaskId[]): Promise<unknown> {
  switch (step.do) {
    case 'add': {
      const on = step.depends === null ? undefined : ids[step.depends];
      const { priority, requires } = step;
      const dependsOn = on === undefined ? [] : [on];
      const added = await addTask(context, {
        title: 'A task',
        priority,
        dependsOn,
        requires: requires ? ['gpu'] : [],
      });
      if (added.kind === 'done') ids.push(added.value.id);
      return added;
    }
    case 'claim':
      return claimNext(context, { claimant: claimant('se-1'), capabilities: step.isAble ? ['gpu:4'] : [] });
    case 'fail':
      return change(context, async (change) => {
        const [id] = ids;
        if (id !== undefined)
          await change.board.record(person, [{ type: 'task.deleted', id, at: change.at }]);
        throw new Error('not after all');
      }).catch(String);
    default:
      return takeWith(context, step, ids[step.task]);
  }
}

async function takeWith(
  context: Context,
  step: Extract<Step, { readonly task: number }>,
  id: TaskId | undefined,
): Promise<unknown> {
  if (id === undefined) return undefined;
  const token = fencingToken(step.token);
  switch (step.do) {
    case 'renew':
      return context.board.renewLease(id, token, context.clock.now());
    case 'delete':
      return deleteTasks(context, [id], { unlink: false });
    case 'retitle':
      return editTask(context, id, { title: `Title ${step.token}` });
    case 'crash':
    case 'stick':
    case 'queue':
      return change(context, async (change) => {
        const held = await change.require('task', id);
        const landing = {
          kind: 'landing',
          landing: brand<LandingId>(`la-${id}-${held.token}`),
          target: brand<BranchName>('main'),
          attempt: null,
          head: brand<CommitId>('f'.repeat(40)),
        } as const;
        if (step.do === 'crash')
          await change.apply(decideCrash(held, token, 'gone', change.at, defaultPolicy.retry));
        else if (step.do === 'stick') await change.apply(decideStuck(held, token, 'why?', change.at));
        else await change.apply(decideFinish(held, token, landing, change.at));
        return change.board.tasks({ order: 'urgent' });
      });
    default:
      throw new Error(`There is no such step: ${String(step.do satisfies never)}`);
  }
}

async function everything(board: BoardReader, ids: readonly TaskId[]) {
  const lists = recordKinds.filter((kind) => kind !== 'task');
  return {
    tasks: await Promise.all(ids.map((id) => board.get('task', id))),
    urgent: await board.tasks({ order: 'urgent' }),
    recent: await board.tasks({ order: 'recent', limit: 3, offset: 1 }),
    ready: await board.tasks({ order: 'urgent', statuses: ['ready'], due: timestamp(1_100_000) }),
    delayed: await board.tasks({ order: 'urgent', delayedAt: timestamp(1_100_000) }),
    finished: await board.tasks({ order: 'urgent', finished: false }),
    ofAgent: await board.tasks({ order: 'urgent', agent: brand<AgentName>('coder') }),
    lists: await Promise.all(lists.map((kind) => board.list(kind))),
    ofTask: await Promise.all(ids.map((id) => board.list('landing', { task: id }))),
    statuses: [...(await board.statuses(ids))].toSorted(),
    dependants: await Promise.all(ids.map((id) => board.dependants(id))),
    counts: [...(await board.countByStatus())].toSorted(),
    dependantGraph: [...(await board.dependantGraph(ids))].toSorted(),
    graph: [...(await board.dependencyGraph(ids))].toSorted(),
    held: await board.held(),
    leases: await Promise.all(ids.map((id) => board.lease(id))),
    landings: await board.openLandings(),
    events: await board.events({ after: brand<EventNumber>(2), limit: 50 }),
    ofTypes: await board.events({
      after: brand<EventNumber>(1),
      limit: 3,
      types: ['task.claimed', 'task.stuck', 'ledger.added'],
    }),
    ofOne: ids[0] && (await board.events({ after: brand<EventNumber>(0), limit: 50, task: ids[0] })),
    last: await board.lastEvent(),
    starting: await board.idsStartingWith('task', 'cp-', 3),
  };
}
