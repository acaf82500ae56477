import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { replay } from '../../../packages/copse/src/board/rules/event.ts';
import { landingTransitions } from '../../../packages/copse/src/queue/rules/landing.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  type TaskAction,
  type TaskStatus,
  isAllowed,
  suggestCommands,
  taskActions,
  taskStatuses,
  taskTransitions,
} from '../../../packages/copse/src/tasks/rules/task.ts';
import { decideCancel, decideDelete } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { backoffMs } from '../../../packages/copse/src/kernel/backoff.ts';
import { afterLostMachine, decideLand } from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import { Model, type Step, anyStep, commit } from '../../support/records/world.ts';

const quiet: Step = {
  action: 'edit',
  which: 0,
  staleBy: 0,
  because: 'dirty',
  variant: 1,
  pick: 0,
  waitMs: 0,
};

/** The table of the specification, as it stands there: which action is possible in which status. */
const actionTable = `
             pending ready in_progress stuck failed paused in_review needs_attention landing done cancelled
    pause    no      no    yes         no    no     no     no        no              no      no   no
    cancel   yes     yes   yes         yes   yes    yes    yes       yes             yes     no   no
    restart  no      no    no          yes   yes    no     no        no              no      no   no
    resume   no      no    no          no    no     yes    yes       yes             no      yes  no
    delete   yes     yes   yes         yes   yes    yes    yes       yes             yes     yes  yes
`;

const [columns = [], ...rows] = actionTable
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));
const cells = rows.flatMap(([action, ...answers]) =>
  columns.map((status, index) => ({
    action: action as TaskAction,
    status: status as TaskStatus,
    answer: answers[index] ?? 'missing',
  })),
);

/** The shortest way into each status, by decisions alone. */
const wayTo: Readonly<Record<TaskStatus, readonly Partial<Step>[]>> = {
  pending: [],
  ready: [],
  in_progress: [{ action: 'claim' }],
  paused: [{ action: 'claim' }, { action: 'pause' }],
  stuck: [{ action: 'claim' }, { action: 'stuck', variant: 1 }],
  in_review: [{ action: 'claim' }, { action: 'finish', variant: 3 }],
  landing: [{ action: 'claim' }, { action: 'finish', variant: 0 }],
  needs_attention: [{ action: 'claim' }, { action: 'give_up' }],
  done: [{ action: 'claim' }, { action: 'finish', variant: 5 }],
  failed: [1, 2, 3].flatMap((): Partial<Step>[] => [
    { action: 'claim', waitMs: 400_000 },
    { action: 'crash' },
  ]),
  cancelled: [{ action: 'cancel' }],
};

function modelIn(status: TaskStatus): Model {
  const model = new Model();
  model.create(1);
  const first = model.task(1);
  if (status === 'pending' && first) model.create(0, [first.id]);
  else model.create(0);
  for (const step of wayTo[status]) take(model, step);
  expect(model.task(0)?.state.status).toBe(status);
  return model;
}

function take(model: Model, step: Partial<Step>) {
  const result = model.decide({ ...quiet, ...step });
  if (result) model.record(result.decision);
  return result?.decision;
}

describe('the action table', () => {
  it('has a cell for every status', () => {
    expect(columns.toSorted()).toEqual([...taskStatuses].toSorted());
    expect(cells.filter(({ answer }) => answer !== 'yes' && answer !== 'no')).toEqual([]);
  });

  it.each(cells)('$action in $status: $answer', ({ action, status, answer }) => {
    const model = modelIn(status);
    const decision = take(model, { action, variant: 1 });
    expect(decision?.kind).toBe(answer === 'yes' ? 'decided' : 'refused');
    const after = model.task(0)?.state.status ?? 'deleted';
    expect(answer === 'yes' ? taskTransitions[action][status] : [status]).toContain(after);
  });

  it('leads from stuck to in_progress and from failed to ready when restarted', () => {
    for (const [from, to] of [
      ['stuck', 'in_progress'],
      ['failed', 'ready'],
    ] as const) {
      const model = modelIn(from);
      take(model, { action: 'restart', variant: 1 });
      expect(model.task(0)?.state.status).toBe(to);
    }
  });

  it('cancels and deletes a landing task only until its intent is journalled', () => {
    for (const decide of [decideCancel, 'delete'] as const) {
      const model = modelIn('landing');
      take(model, { action: 'queue', variant: 0 });
      take(model, { action: 'queue', variant: 2 });
      const task = model.task(0);
      const landing = task && model.landingOf(task);
      if (!task || !landing) throw new Error('it is landing');
      const decision =
        decide === 'delete'
          ? decideDelete(task, { landing, dependants: [] }, model.now)
          : decide(task, landing, null, model.now);
      expect(decision).toMatchObject({ kind: 'refused', refusal: { code: 'already_landing' } });
    }
  });

  it('withdraws the landing of a task that is cancelled or deleted', () => {
    for (const action of ['cancel', 'delete'] as const) {
      const model = modelIn('landing');
      const before = model.task(0);
      const decision = take(model, { action });
      if (decision?.kind !== 'decided' || before?.state.status !== 'landing')
        throw new Error('it was possible');
      expect(decision.events.map((event) => event.type)).toEqual([
        'landing.withdrawn',
        action === 'cancel' ? 'task.cancelled' : 'task.deleted',
      ]);
      expect(model.currentWorld.landing.get(before.state.landing)?.state.status).toBe('withdrawn');
    }
  });
});

describe('a conflict that another task resolved', () => {
  const resolved = { kind: 'resolved', commit, head: commit } as const;

  it.each(taskStatuses)(
    'lands the task that waits for it, and none that is %s for another reason',
    (status) => {
      const task = modelIn(status).task(0);
      if (!task) throw new Error('it is there');
      // It needs attention because something is uncommitted.
      expect(decideLand(task, resolved, task.updatedAt).kind).toBe('refused');
    },
  );

  it('has the submitted commit, so that its branch may be deleted', () => {
    const model = modelIn('in_progress');
    take(model, { action: 'give_up', because: 'conflict' });
    const task = model.task(0);
    if (task?.state.status !== 'needs_attention') throw new Error('it needs attention');
    expect(decideLand(task, resolved, task.updatedAt)).toMatchObject({
      kind: 'decided',
      events: [{ type: 'task.done', id: task.id, how: 'landed', commit, head: commit }],
    });
  });
});

describe('whatever happens to tasks', () => {
  const histories = fc.array(anyStep, { minLength: 1, maxLength: 80, size: 'max' });

  function walk(steps: readonly Step[], look: (model: Model, step: Step) => void): Model {
    const model = new Model();
    model.create(0);
    model.create(1);
    const first = model.task(0);
    model.create(2, first ? [first.id] : []);
    for (const step of steps) look(model, step);
    return model;
  }

  /** Every arrow taken, as "action from to"; throws at the first one that the table does not have. */
  function arrowsTaken(parameters: fc.Parameters<[Step[]]>): ReadonlySet<string> {
    const taken = new Set<string>();
    fc.assert(
      fc.property(histories, (steps) => {
        walk(steps, (model, step) => {
          const before = model.task(step.which)?.state.status;
          const result = model.decide(step);
          if (before === undefined || result?.decision.kind !== 'decided') return;
          model.record(result.decision);
          if (result.action === 'queue' && before === 'landing') return;
          const action = result.action === 'queue' ? 'claim' : result.action;
          const after = model.task(step.which)?.state.status ?? 'deleted';
          expect(taskTransitions[action][before]).toContain(after);
          taken.add(`${action} ${before} ${after}`);
        });
      }),
      parameters,
    );
    return taken;
  }

  it('never leads to a state that the table does not have', () => {
    arrowsTaken({ numRuns: 1_000 });
  });

  it('can take every arrow that the table has', () => {
    // A fixed seed: whether every rare arrow comes up must not be a matter of luck.
    const taken = arrowsTaken({ numRuns: 3_000, seed: 7 });
    const arrows = taskActions.flatMap((action) =>
      Object.entries(taskTransitions[action]).flatMap(([from, to]) =>
        to.map((end) => `${action} ${from} ${end}`),
      ),
    );
    expect(arrows.filter((arrow) => !taken.has(arrow))).toEqual([]);
  });

  it('is refused with a reason that names the task, and with commands that work', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        walk(steps, (model, step) => {
          const task = model.task(step.which);
          const decision = take(model, step);
          if (!task || !decision || decision.kind === 'decided') return;
          const { reason, next } = decision.refusal;
          expect(reason).toContain(task.id);
          expect(reason).toMatch(/\.$/);
          if (decision.refusal.code === 'wrong_status')
            expect(reason).toMatch(/ (is|needs|has) (\w+)|waits for|no journalled|no agent runs/);
          for (const command of next) {
            expect(command).not.toBe('');
            const verb = /^copse (\w+)/.exec(command)?.[1] as TaskAction | undefined;
            if (verb && taskActions.includes(verb)) {
              const id = /cp-\w+/.exec(command)?.[0];
              const about = [0, 1, 2].map((which) => model.task(which)).find((one) => one?.id === id) ?? task;
              if (decision.refusal.code !== 'not_this_session') {
                expect([verb, about.state.status, isAllowed(verb, about.state.status)]).toEqual([
                  verb,
                  about.state.status,
                  true,
                ]);
              }
            }
          }
        });
      }),
      { numRuns: 1_000 },
    );
  });

  // promise: stale-token-fenced
  it('is not changed by an older fencing token', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        walk(steps, (model, step) => {
          const task = model.task(step.which);
          const { action = '', decision } = model.decide(step) ?? {};
          const fenced = ['finish', 'stuck', 'crash', 'fail', 'park'].includes(action);
          const byTheGate = ['handback', 'give_up'].includes(action) && task?.state.status === 'in_progress';
          if (decision) model.record(decision);
          const isStale = task !== undefined && Math.max(0, task.token - step.staleBy) < task.token;
          if (isStale && (fenced || byTheGate)) expect(decision?.kind).toBe('refused');
        });
      }),
      { numRuns: 1_000 },
    );
  });

  // promise: tokens-grow
  it('makes tokens grow only, by one with each claim', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        walk(steps, (model, step) => {
          const before = model.task(step.which);
          const decision = take(model, step);
          const after = model.task(step.which);
          if (!before || !after || decision?.kind !== 'decided') return;
          const [event] = decision.events;
          const granted =
            ['task.claimed', 'task.resumed'].includes(event.type) ||
            ('grant' in event && event.grant !== null);
          expect(after.token - before.token).toBe(granted ? 1 : 0);
          if (after.state.status === 'in_progress') expect(after.state.claim.token).toBe(after.token);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('is the same when replayed from its events', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const model = walk(steps, take);
        const stored = JSON.parse(JSON.stringify(model.events)) as typeof model.events;
        const told = replay(stored);
        const records = new Map<string, unknown>([
          ...[...told.task].map(([id, record]) => [`task ${id}`, record] as const),
          ...[...told.landing].map(([id, record]) => [`landing ${id}`, record] as const),
        ]);
        expect(records).toEqual(model.records);
      }),
      { numRuns: 500 },
    );
  });

  it('never leaves a landing open for a task that is not landing, nor the other way round', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const { task, landing } = walk(steps, take).currentWorld;
        const open = [...landing.values()].filter(({ state }) =>
          Object.values<object>(landingTransitions).some((from) => state.status in from),
        );
        const landingTasks = [...task.values()].filter(({ state }) => state.status === 'landing');
        expect(open.map((one) => one.task).toSorted()).toEqual(landingTasks.map((one) => one.id).toSorted());
      }),
      { numRuns: 500 },
    );
  });

  // promise: retries-bounded
  it('retries a bounded number of times and hands back a bounded number of times', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const { task } = walk(steps, take).currentWorld;
        for (const one of task.values()) {
          expect(one.retries).toBeLessThanOrEqual(defaultPolicy.retry.maxRetries);
          for (const [because, times] of Object.entries(one.handbacks)) {
            expect(times).toBeLessThanOrEqual(
              defaultPolicy.handback[because as keyof typeof defaultPolicy.handback],
            );
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a crash', () => {
  it('is retried after 10 s, then 20 s, and the third time the task has failed', () => {
    const model = new Model();
    model.create(0);
    const seen = [];
    for (let crash = 1; crash <= 3; crash += 1) {
      take(model, { action: 'claim', waitMs: 400_000 });
      take(model, { action: 'crash' });
      const { state, retries } = model.task(0) ?? {};
      seen.push([state?.status, retries, state?.status === 'ready' ? state.delay?.until : null]);
    }
    const [first, second] = [1_000_000 + 400_000 + 10_000, 1_000_000 + 800_000 + 20_000];
    expect(seen).toEqual([
      ['ready', 1, first],
      ['ready', 2, second],
      ['failed', 3, null],
    ]);
  });

  it('waits at most five minutes, after any number of crashes', () => {
    const { firstBackoffMs: firstMs, maxBackoffMs: mostMs } = defaultPolicy.retry;
    expect([1, 2, 3, 6, 7, 50].map((retries) => backoffMs(retries, { firstMs, mostMs }))).toEqual([
      10_000, 20_000, 40_000, 300_000, 300_000, 300_000,
    ]);
  });

  it('waits a second at first when its machine was lost, unless the settings say less', () => {
    const { retry } = defaultPolicy;
    expect(afterLostMachine(retry)).toEqual({ ...retry, firstBackoffMs: 1_000 });
    expect(afterLostMachine({ ...retry, firstBackoffMs: 100 }).firstBackoffMs).toBe(100);
  });

  it('keeps the task from being claimed before its delay is over', () => {
    const model = new Model();
    model.create(0);
    take(model, { action: 'claim' });
    take(model, { action: 'crash' });
    expect(take(model, { action: 'claim', waitMs: 1_000 })).toMatchObject({
      kind: 'refused',
      refusal: { code: 'too_early', reason: 'cp-0000 waits 9 s more because its last attempt crashed.' },
    });
    expect(take(model, { action: 'claim', waitMs: 11_000 })?.kind).toBe('decided');
  });

  it('by a rate limit uses up no retry', () => {
    const model = modelIn('in_progress');
    take(model, { action: 'park' });
    expect(model.task(0)).toMatchObject({
      retries: 0,
      state: { status: 'ready', delay: { because: 'rate_limit' } },
    });
  });
});

describe('dependencies', () => {
  it('that would close a cycle are refused with the cycle named', () => {
    const model = modelIn('pending');
    const decision = take(model, { action: 'change_dependencies', which: 1, variant: 1 });
    expect(decision).toMatchObject({
      kind: 'refused',
      refusal: { code: 'cycle', reason: 'cp-0001 would wait for itself: cp-0001 → cp-0000 → cp-0001.' },
    });
  });

  it('on something unfinished make a ready task pending again', () => {
    const model = modelIn('ready');
    take(model, { action: 'change_dependencies', variant: 2 });
    expect(model.task(0)?.state.status).toBe('pending');
    take(model, { action: 'change_dependencies', variant: 0 });
    expect(model.task(0)?.state.status).toBe('ready');
  });

  it('stop the deletion of a task that has dependants', () => {
    const model = modelIn('pending');
    expect(take(model, { action: 'delete', which: 1 })).toMatchObject({
      kind: 'refused',
      refusal: {
        code: 'has_dependants',
        reason: 'Cannot delete cp-0001: cp-0000 waits for it.',
        next: [
          'copse edit cp-0000 --not-depends cp-0001 # to start cp-0000 without it',
          'copse delete cp-0001 --unlink # to delete it all the same',
        ],
      },
    });
  });
});

describe('a suggested command', () => {
  it.each(taskStatuses)('to a person with a %s task is possible there', (status) => {
    const task = modelIn(status).task(0);
    if (!task) throw new Error('it exists');
    const verbs = suggestCommands(task).map((command) => command.split(' ')[1] as TaskAction);
    const impossible = verbs.filter((verb) => taskActions.includes(verb) && !isAllowed(verb, status));
    expect(impossible).toEqual([]);
  });
});

it('a landing that is recorded as landed had its intent journalled', () => {
  const model = modelIn('landing');
  expect(take(model, { action: 'land' })?.kind).toBe('refused');
  take(model, { action: 'queue', variant: 0 });
  expect(take(model, { action: 'land' })?.kind).toBe('refused');
  take(model, { action: 'queue', variant: 2 });
  expect(take(model, { action: 'land' })?.kind).toBe('decided');
  expect(model.task(0)?.state).toMatchObject({ status: 'done', how: 'landed', commit });
});
