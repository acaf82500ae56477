/** Limits hold for all who begin work together, also when they do so in the same moment. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, inject, it } from 'vitest';

import { beginAttempt } from '../../../packages/copse/src/agents/act/begin-attempt.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type AgentName, type NodeId, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { Board, BoardTransaction } from '../../../packages/copse/src/board/port.ts';
import { newArea } from '../../support/cli.ts';
import { Run } from '../../support/agents/runs.ts';
import { must } from '../../support/records/tasks.ts';

const area = newArea();
const ONE = { held: 1, answers: ['begun', 'too_early'] };
const BOTH = { held: 2, answers: ['begun', 'begun'] };
const agent = brand<AgentName>('scripted');

describe.each(['sqlite', 'postgres'] as const)('two claims at the same moment, on %s', (engine) => {
  it('on one machine do not both take the last slot', async () => {
    await using two = await Two.open(engine, { max_agents: 1 });
    const [first, second] = [await two.add('one', []), await two.add('two', [])];
    expect(await two.begin([two.contexts[0], first], [two.contexts[1], second])).toEqual(ONE);
  });

  it('on two machines do not both start in the same area', async () => {
    await using two = await Two.open(engine, { max_agents: 4 });
    const [first, second] = [await two.add('one', ['src/**']), await two.add('two', ['src/a.ts'])];
    const elsewhere = { ...two.contexts[1], node: brand<NodeId>('another') };
    expect(await two.begin([two.contexts[0], first], [elsewhere, second])).toEqual(ONE);
  });

  // promise: one-claim
  it('on the same task do not both get it', async () => {
    await using two = await Two.open(engine, { max_agents: 2 });
    const task = await two.add('one', []);
    expect(await two.begin([two.contexts[0], task], [two.contexts[1], task])).toEqual({
      held: 1,
      answers: ['begun', 'wrong_status'],
    });
  });

  it('within the limits both start', async () => {
    await using two = await Two.open(engine, { max_agents: 2 });
    const [first, second] = [await two.add('one', ['src/**']), await two.add('two', ['docs/**'])];
    expect(await two.begin([two.contexts[0], first], [two.contexts[1], second])).toEqual(BOTH);
  });
});

/** Two orchestrators' contexts on one board. Nothing is started; who may begin is all that is asked. */
class Two implements AsyncDisposable {
  readonly contexts: readonly [RunContext, RunContext];
  readonly #closing: readonly (() => Promise<unknown>)[];

  private constructor(contexts: Two['contexts'], closing: readonly (() => Promise<unknown>)[]) {
    this.contexts = contexts;
    this.#closing = closing;
  }

  static async open(engine: 'sqlite' | 'postgres', policy: Readonly<Record<string, number>>): Promise<Two> {
    const schema = `t_${randomBytes(6).toString('hex')}`;
    const url = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=${schema}`;
    const run = await Run.open(area, { policy, env: engine === 'postgres' ? { COPSE_BOARD: url } : {} });
    const open = () => openRun({ cwd: run.folder, env: run.env }, { asNode: true });
    const [one, other] = [await open(), await open()];
    const meet = meeting();
    const of = ({ context }: typeof one): RunContext => ({
      ...context,
      board: meetingAfterLook(context.board, meet),
      runners: { ...context.runners, start: async () => {} },
    });
    const closing = [() => one.close(), () => other.close(), () => run[Symbol.asyncDispose]()];
    return new Two([of(one), of(other)], closing);
  }

  async add(title: string, areas: readonly string[]): Promise<TaskId> {
    return must(await addTask(this.contexts[0], { title, areas })).id;
  }

  async begin(...claims: readonly (readonly [RunContext, TaskId])[]): Promise<unknown> {
    const outcomes = await Promise.all(
      claims.map(([context, task]) => beginAttempt(context, task, agent, { kind: 'claim' })),
    );
    const held = await this.contexts[0].board.held();
    return {
      held: held.length,
      answers: outcomes.map((one) => (one.kind === 'done' ? 'begun' : one.refusal.code)).toSorted(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing) await close();
  }
}

const LONG_ENOUGH_MS = 1_000;

/** Whoever comes waits for the other; not for ever, because the other may have to wait for what only the first can give back. */
function meeting(): () => Promise<void> {
  let come: () => void = () => {};
  let isFirst = true;
  const both = new Promise<void>((resolve) => (come = resolve));
  return async () => {
    if (!isFirst) come();
    isFirst = false;
    await Promise.race([both, sleep(LONG_ENOUGH_MS)]);
  };
}

function meetingAfterLook(board: Board, meet: () => Promise<void>): Board {
  return instead(board, {
    transact: (work) =>
      board.transact((transaction) =>
        work(
          instead<BoardTransaction>(transaction, {
            held: async () => {
              const held = await transaction.held();
              await meet();
              return held;
            },
          }),
        ),
      ),
  });
}

/** The same with some of it done differently. */
function instead<T extends object>(whole: T, parts: Partial<T>): T {
  return new Proxy(whole, {
    get(target, name) {
      if (name in parts) return parts[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
