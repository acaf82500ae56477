/**
 * The leader of a queue is lost with its clone, or stopped for longer than its lead. The next leader, in another clone, finishes
 * what was pushed and takes back what was not; the remote's target has every task at most once.
 */

import { spawn } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';

import { describe, expect, it, vi } from 'vitest';

import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { pauseQueue, unqueueTasks } from '../../../packages/copse/src/queue/act/control.ts';
import { type LandingStep, landingSteps } from '../../../packages/copse/src/queue/lead/land.ts';
import { isCommitted } from '../../../packages/copse/src/queue/rules/landing.ts';
import { finished, newArea, plainEnv } from '../../support/cli.ts';
import { isKilled } from '../../support/long.ts';
import { must } from '../../support/records/tasks.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';
import { type Clone, Clones, MAIN } from '../support/clones.ts';

vi.setConfig({ testTimeout: 240_000 });
const area = newArea();
const worker = bundleWorker(new URL('../../support/queue/landing-worker.ts', import.meta.url));

function two(name: string): readonly [Clones, Clone, Clone] {
  const clones = new Clones(area, name);
  const [one, other] = clones.machines;
  if (one === undefined || other === undefined) throw new Error('There are not two clones');
  return [clones, one, other];
}

/** The whole machine is gone: its process, and its clone with every commit that only it had. */
async function lose(clones: Clones, machine: Clone, step: LandingStep, task: string): Promise<void> {
  if (isKilled(landingSteps.indexOf(step))) await kill(clones, machine, step, task);
  else await dieAt(machine, step);
  await machine.close();
  rmSync(machine.folder, { recursive: true });
}

async function kill(clones: Clones, { folder }: Clone, step: LandingStep, task: string): Promise<void> {
  const env = { ...plainEnv, ...worker.env, COPSE_BOARD: clones.board };
  const child = spawn(process.execPath, [worker.file, folder, task, step], { env });
  const { stderr } = await finished(child);
  expect({ step, signal: child.signalCode, stderr }).toEqual({ step, signal: 'SIGKILL', stderr: '' });
}

/** As a kill: after the step the board hears nothing more from it. */
async function dieAt(machine: Clone, step: LandingStep): Promise<void> {
  let isDead = false;
  const changed = (context: RunContext): RunContext => ({
    ...context,
    board: new Proxy(context.board, {
      get(board, key) {
        const value: unknown = Reflect.get(board, key, board);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          if (isDead && key !== 'onChange') throw new Error('dead');
          const result: unknown = Reflect.apply(value, board, given);
          return result;
        };
      },
    }),
  });
  const onStep = (reached: LandingStep) => {
    if (reached !== step) return;
    isDead = true;
    throw new Error('dead');
  };
  await expect(machine.lead({ changed, onStep })).rejects.toThrow('dead');
}

/** The machine sees that the leader is silent for a whole lead, and leads. */
async function takeOver(machine: Clone, options?: Parameters<Clone['lead']>[0]): ReturnType<Clone['lead']> {
  expect(await machine.lead()).toBeUndefined();
  await machine.watch(60_000);
  return machine.lead(options);
}

describe('a leader that is lost with its clone', () => {
  // promise: lands-once, lost-leader-finished
  it.each(landingSteps)('after “%s” leaves a queue that the next leader finishes', async (step) => {
    const [clones, lost, next] = two(`lost ${step}`);
    await using _ = clones;
    const task = await clones.queue('work');
    const { board } = await next.open();
    await lose(clones, lost, step, task);
    const hasPushed = ['pushed', 'moved', 'recorded'].includes(step);
    expect(clones.landed).toEqual(hasPushed ? [task] : []);
    await takeOver(next);
    expect(await board.get('task', task)).toMatchObject({ state: { status: 'done' } });
    expect(clones.landed).toEqual([task]);
    const events = await board.events({ after: 0 as never, types: ['landing.landed'], limit: 10 });
    expect(events).toHaveLength(1);
  });

  // promise: lost-leader-finished
  it('between journal and push leaves nothing that only it could finish: the task can be cancelled', async () => {
    const [clones, lost, next] = two('cancelled');
    await using _ = clones;
    const task = await clones.queue('work');
    const context = await next.open();
    await lose(clones, lost, 'journalled', task);
    const [landing] = await context.board.openLandings();
    expect(landing && isCommitted(landing)).toBe(true);
    must(await pauseQueue(context, MAIN, { what: ['land'], reason: null }));
    expect(await takeOver(next)).toMatchObject({ landed: [], notes: [] });
    expect((await context.board.openLandings()).map(isCommitted)).toEqual([false]);
    must(await unqueueTasks(context, [task], null));
    expect(await context.board.openLandings()).toEqual([]);
    expect(clones.landed).toEqual([]);
  });

  // promise: lost-leader-finished
  it('stays journalled while the remote cannot be asked whether it was pushed', async () => {
    const [clones, lost, next] = two('remote away');
    await using _ = clones;
    const task = await clones.queue('work');
    const { board } = await next.open();
    await lose(clones, lost, 'pushed', task);
    renameSync(clones.bare, `${clones.bare}.away`);
    await takeOver(next);
    expect((await board.openLandings()).map(isCommitted)).toEqual([true]);
    expect(await board.get('queue', MAIN)).toMatchObject({
      stalled: { reason: { kind: 'remote_unreachable' } },
    });
    renameSync(`${clones.bare}.away`, clones.bare);
    expect(await next.lead()).toMatchObject({ landed: [task] });
    expect(clones.landed).toEqual([task]);
  });
});

describe('a leader that was stopped for longer than its lead', () => {
  // promise: lead-fenced, compare-and-swap
  it.each(['after its journal', 'right before its push'] as const)('%s, pushes nothing', async (when) => {
    const [clones, stopped, next] = two(`stopped ${when}`);
    await using _ = clones;
    const task = await clones.queue('work');
    let isOver: Promise<unknown> | undefined;
    let other: string | undefined;
    const takeLead = () =>
      (isOver ??= (async () => {
        other = await clones.queue('other');
        await takeOver(next);
      })());
    const pushes: unknown[] = [];
    const changed = (context: RunContext): RunContext => ({
      ...context,
      merging: {
        ...context.merging,
        async push(...given) {
          if (when === 'right before its push') await takeLead();
          const pushed = await context.merging.push(...given);
          pushes.push(pushed);
          return pushed;
        },
      },
      board: new Proxy(context.board, {
        get(board, key) {
          const value: unknown = Reflect.get(board, key, board);
          if (typeof value !== 'function') return value;
          if (key !== 'transact') return value.bind(board) as unknown;
          return async (...given: unknown[]) => {
            const result: unknown = await Reflect.apply(value, board, given);
            const isJournalled = (await board.openLandings()).some(isCommitted);
            if (when === 'after its journal' && isJournalled) await takeLead();
            return result;
          };
        },
      }),
    });
    expect(await stopped.lead({ changed })).toMatchObject({ landed: [] });
    expect(isOver).toBeDefined();
    expect(pushes.filter((one) => (one as { kind: string }).kind === 'pushed')).toEqual([]);
    expect(pushes).toHaveLength(when === 'after its journal' ? 0 : 1);
    expect(clones.landed).toEqual([task, other]);
  });
});

describe('a push that ends without an answer', () => {
  const unanswered = { kind: 'failed', because: 'unreachable', reason: 'the connection hung' } as const;

  function pushing(push: (real: RunContext['merging']['push']) => RunContext['merging']['push']) {
    return (context: RunContext): RunContext => ({
      ...context,
      merging: { ...context.merging, push: push((...given) => context.merging.push(...given)) },
    });
  }

  // promise: lead-fenced
  it('leaves the landing that the next leader journalled meanwhile', async () => {
    const [clones, slow, next] = two('hung push');
    await using _ = clones;
    const task = await clones.queue('work');
    const { board } = await next.open();
    const journalled = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const own = pushing((real) => async (...given) => {
      journalled.resolve();
      await ended.promise;
      return real(...given);
    });
    let taken: ReturnType<Clone['lead']> | undefined;
    const hung = pushing(() => async () => {
      taken = takeOver(next, { changed: own });
      await Promise.race([journalled.promise, taken]);
      return unanswered;
    });
    expect(await slow.lead({ changed: hung })).toMatchObject({ landed: [] });
    expect((await board.openLandings()).map(isCommitted)).toEqual([true]);
    ended.resolve();
    expect(await taken).toMatchObject({ landed: [task] });
    expect(clones.landed).toEqual([task]);
    const waits = await board.events({ after: 0 as never, types: ['landing.waiting'], limit: 10 });
    expect(waits).toEqual([]);
  });

  // promise: lost-leader-finished
  it.each([true, false])('and arrived, counts; remote away then: %s', async (isAway) => {
    const [clones, leader] = two(`arrived ${isAway}`);
    await using _ = clones;
    const task = await clones.queue('work');
    const { board } = await leader.open();
    const changed = pushing((real) => async (...given) => {
      await real(...given);
      if (isAway) renameSync(clones.bare, `${clones.bare}.away`);
      return unanswered;
    });
    expect(await leader.lead({ changed })).toMatchObject({ landed: isAway ? [] : [task] });
    if (isAway) {
      // It may be on the remote, so it cannot be cancelled.
      expect((await board.openLandings()).map(isCommitted)).toEqual([true]);
      renameSync(`${clones.bare}.away`, clones.bare);
      expect(await leader.lead()).toMatchObject({ landed: [task] });
    }
    expect(clones.landed).toEqual([task]);
  });
});
