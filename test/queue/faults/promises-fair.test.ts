/** What the merge queue promises about blame and about standing still: 12 to 14 of its promises, with real git and real checks. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it, vi } from 'vitest';

import { openMemory } from '../../../packages/copse/src/kernel/system/json-file.ts';
import { announce } from '../../../packages/copse/src/explain/notices/announce.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { QueueScene, until } from '../../support/queue/queue-scene.ts';

vi.setConfig({ testTimeout: 240_000 });
const area = newArea();

describe('promise 12: flakes, infrastructure errors, timeouts and wrong guesses use up no retry', () => {
  it('a flaky check is run again, and the change lands', async () => {
    await using scene = new QueueScene(area, 'flaky');
    scene.knob('flaky');
    const task = await scene.queue('innocent');
    expect(await scene.lead()).toMatchObject({ landed: [{ task }], blamed: [] });
    expect(scene.seen[0]?.verdict).toBe('flaked');
    await expectUnblamed(scene, task);
  });

  it('a check that the system kills is no verdict on the change', async () => {
    await using scene = new QueueScene(area, 'killed');
    scene.knob('signal');
    const task = await scene.queue('innocent');
    const { blamed } = await scene.whileLed(async () => {
      await until('it was killed again and again', () => scene.started.length > 3);
      scene.release('signal');
      await untilDone(scene, task);
    });
    expect(blamed).toEqual([]);
    await expectUnblamed(scene, task);
  });

  it('a check that times out once is run again, and the change lands', async () => {
    await using scene = new QueueScene(area, 'slow once', { check: { timeout: '3s' } });
    scene.knob('slow');
    const task = await scene.queue('innocent');
    expect(await scene.lead()).toMatchObject({ landed: [{ task }], blamed: [] });
    await expectUnblamed(scene, task);
  });

  it('a change whose check always times out goes to a person, and not to its agent', async () => {
    await using scene = new QueueScene(area, 'slow for ever', { check: { timeout: '2s' } });
    const task = await scene.queue('endless');
    const other = await scene.queue('other');
    const { landed, blamed } = await scene.lead();
    expect(landed).toMatchObject([{ task: other }]);
    expect(blamed.at(-1)).toMatchObject({
      task,
      cause: {
        because: 'checks',
        isTimeout: true,
        reason: expect.stringMatching(/timed out .*\(retried once\)/),
      },
    });
    await expectUnblamed(scene, task);
  });

  it('a missing program keeps changes waiting, and once it is installed they land', async () => {
    const bin = path.join(area, 'missing program beside', 'bin');
    const env = {
      PATH: `${bin}:${plainEnv['PATH']}`,
      COPSE_TEST_BESIDE: path.join(area, 'missing program beside'),
    };
    const check = { command: 'a-rare-program && sh check.sh', env };
    await using scene = new QueueScene(area, 'missing program', { check });
    const tasks = [await scene.queue('one'), await scene.queue('two')];
    const { blamed } = await scene.whileLed(async () => {
      const text = 'needs a-rare-program, which is not on this machine';
      await until('it is said', async () => {
        const { stalled } = await scene.merged();
        return stalled?.reason.kind === 'checks_unavailable' && stalled.reason.detail.includes(text);
      });
      mkdirSync(bin);
      writeFileSync(path.join(bin, 'a-rare-program'), '#!/bin/sh\n');
      chmodSync(path.join(bin, 'a-rare-program'), 0o755);
      for (const task of tasks) await untilDone(scene, task);
    });
    expect(blamed).toEqual([]);
    for (const task of tasks) await expectUnblamed(scene, task);
    expect((await scene.merged()).stalled).toBe(null);
  });

  it('a red check on top of a change that did not land hands nothing back', async () => {
    await using scene = new QueueScene(area, 'wrong guess', { landing: { slots: 2 } });
    const bad = await scene.queue('bad one');
    scene.knob('hold');
    let good: TaskId | undefined;
    const { blamed } = await scene.whileLed(async () => {
      await until('the first is checked', () => scene.started.length === 1);
      good = await scene.queue('good one');
      await until('the second is checked on top of it', () => scene.started.length === 2);
      scene.release();
      await untilDone(scene, good);
      await until('the other one is handed back', async () => (await scene.status(bad)) !== 'landing');
    });
    const both = ['bad one.txt', 'good one.txt'];
    const guess = scene.seen.slice(0, 2).find(({ files }) => both.every((name) => files.includes(name)));
    expect(guess?.verdict).toBe('red');
    expect(new Set(blamed.map(({ task }) => task))).toEqual(new Set([bad]));
    await expectUnblamed(scene, good ?? bad);
  });
});

describe('promise 13: a target that is red before anything is merged', () => {
  it('is checked once, nothing is handed back, and the change that fixes it lands first', async () => {
    await using scene = new QueueScene(area, 'red target', { files: { broken: 'yes\n' } });
    const others = [await scene.queue('one'), await scene.queue('two')];
    expect(await scene.lead()).toMatchObject({ landed: [], blamed: [] });
    expect((await scene.merged()).stalled?.reason).toMatchObject({ kind: 'target_red' });
    // However often it is looked at.
    expect(await scene.lead()).toMatchObject({ landed: [], blamed: [] });
    const red = scene.treeOf('main');
    expect(scene.seen.filter(({ tree }) => tree === red)).toHaveLength(1);
    const mending = await scene.queue('mending', { commit: { files: { broken: null } } });
    const { landed, blamed } = await scene.lead();
    expect(blamed).toEqual([]);
    expect(landed[0]).toMatchObject({ task: mending });
    expect(new Set(landed.map(({ task }) => task))).toEqual(new Set([mending, ...others]));
    expect((await scene.merged()).stalled).toBe(null);
    for (const task of others) await expectUnblamed(scene, task);
    expect(scene.tips.slice(1).every((tip) => scene.green.has(scene.treeOf(tip)))).toBe(true);
  });
});

describe('promise 14: something waits and nothing moves', () => {
  it('a blocking checkout is recorded with its reason, announced, and cleared when the queue moves', async () => {
    const files = { 'shared.txt': 'as it was\n' };
    await using scene = new QueueScene(area, 'stalled', { files, policy: { stallMs: 300 } });
    git(scene.folder, 'switch', '--quiet', 'main');
    writeFileSync(path.join(scene.folder, 'shared.txt'), 'somebody is at it\n');
    const task = await scene.queue('work', { commit: { files: { 'shared.txt': 'changed\n' } } });
    const told = await telling(scene);
    await scene.whileLed(async () => {
      await until('it is recorded', async () => (await scene.merged()).stalled !== null);
      const reason = { kind: 'checkout_changed', checkout: scene.folder, files: ['shared.txt'] };
      expect((await scene.merged()).stalled?.reason).toEqual(reason);
      expect((await scene.landing(task))?.waiting).toEqual(reason);
      await until('people are told', () => told.notices.length > 0);
      expect(told.notices.join('\n')).toContain('has uncommitted changes in shared.txt');
      git(scene.folder, 'checkout', '--quiet', '--', 'shared.txt');
      await untilDone(scene, task);
    });
    expect((await scene.merged()).stalled).toBe(null);
    await told.stop();
    expect(told.notices).toHaveLength(1);
    expect(await scene.events('queue.stalled', 'queue.moving')).toMatchObject([
      { type: 'queue.stalled' },
      { type: 'queue.moving' },
    ]);
    expect(git(scene.folder, 'status', '--porcelain')).toBe('');
  });

  it('the queue is not stalled while a check runs', async () => {
    await using scene = new QueueScene(area, 'not stalled');
    const task = await scene.queue('work');
    scene.knob('hold');
    await scene.whileLed(async () => {
      await until('it is checked', () => scene.started.length === 1);
      await new Promise((resolve) => setTimeout(resolve, 300));
      scene.release();
      await untilDone(scene, task);
    });
    expect(await scene.events('queue.stalled')).toEqual([]);
  });
});

async function untilDone(scene: QueueScene, task: TaskId): Promise<void> {
  await until(`${task} lands`, async () => (await scene.status(task)) === 'done');
}

async function expectUnblamed(scene: QueueScene, id: TaskId): Promise<void> {
  const { retries, handbacks } = await scene.task(id);
  expect({ retries, handbacks }).toEqual({ retries: 0, handbacks: {} });
  const told = await scene.events('task.handed_back');
  expect(told.filter((event) => event.id === id)).toEqual([]);
}

/** What an orchestrator tells people beside its loop. */
async function telling(scene: QueueScene): Promise<{ readonly notices: string[]; stop(): Promise<void> }> {
  const context = await scene.open();
  const stopping = new AbortController();
  const notices: string[] = [];
  const { board, notifications } = context.policy;
  const policy = { ...context.policy, board: { ...board, followPollMs: 50 } };
  const done = announce(
    { ...context, policy },
    {
      after: await context.board.lastEvent(),
      memory: openMemory(context.home, 'notices'),
      signal: stopping.signal,
      kinds: notifications.events.filter((kind) => kind === 'stalled'),
      channels: [
        {
          name: 'desktop',
          send: async ({ headline, text }) => {
            notices.push(`${headline}\n${text}`);
            return { kind: 'sent' as const };
          },
        },
      ],
      onProblem: (reason) => expect.fail(reason),
    },
  );
  const stop = async () => {
    stopping.abort();
    await done;
  };
  return { notices, stop };
}
