/** Tasks that stop because of failures are restarted; and what `copse stats` counts of it. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { restartDue } from '../../../packages/copse/src/agents/act/auto-restart.ts';
import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { policyFrom } from '../../../packages/copse/src/config/effective.ts';
import { configFrom } from '../../../packages/copse/src/config/load.ts';
import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

describe('with max_stuck_restarts', () => {
  let scene: Scene;
  const ids: Record<string, string> = {};
  const id = (title: string): string => ids[title] ?? expect.fail(`There is no task ${title}`);
  const LEAVE_FILE = 'echo half >> half.txt';

  beforeAll(async () => {
    scene = newScene(area, { policy: { max_stuck_restarts: 2, handbacks: { dirty: 0 }, max_retries: 1 } });
    const add = async (title: string, script: string) => {
      ids[title] = await scene.add(title, script);
    };
    await add('fails always', LEAVE_FILE);
    await add('fails once', `test -f half.txt && commit whole whole.txt && exit; ${LEAVE_FILE}`);
    await add('asks', 'copse stuck --reason "Which one?"');
    await add('crashes', 'exit 3');
    await scene.up();
  });

  // promise: restarts-failures-only
  // setting: policy.max_stuck_restarts
  test('a task that fails is restarted as often as allowed, and one with a question never', async () => {
    expect(await scene.statuses()).toEqual({
      'fails always': 'needs_attention',
      'fails once': 'done',
      asks: 'stuck',
      crashes: 'failed',
    });
    const restarted = (await scene.events()).filter(({ type }) => type === 'task.restarted');
    const of = (title: string) => restarted.filter((event) => event.id === id(title)).length;
    expect([of('fails always'), of('fails once'), of('asks'), of('crashes')]).toEqual([2, 1, 0, 0]);
    expect(await printed(['events', '--task', id('fails once')], scene.at)).toContain(
      'restarted automatically, 1 of 2',
    );
  });

  test('why, status and the next agent are told', async () => {
    const used = 'estarted automatically 2 of 2 times, and failed again';
    expect(await scene.why(id('fails always'))).toContain(`R${used}.`);
    expect(await printed(['status'], scene.at)).toContain(`R${used}`);
    expect(await scene.why(id('asks'))).not.toContain('utomatic');
    expect(await printed(['ledger', 'list', '--task', id('fails once')], scene.at)).toContain(
      'the task was restarted automatically. It stopped because: 1 uncommitted file: half.txt',
    );
  });

  test('stats count by week and agent, from the events', async () => {
    const stats = await answer<Record<string, unknown>>(['stats', '--weeks', '2'], scene.at);
    const numbers = { attempts: 7, crashes: 1, stuck: 1, attention: 4, handbacks: 0, restarts: 3 };
    expect(stats).toMatchObject({
      weeks: 2,
      rows: [{ week: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), agent: 'plain', ...numbers }],
      total: numbers,
    });
    const text = await printed(['stats'], scene.at);
    expect(text).toMatch(/^week of +agent +attempts +crashes +stuck +attention +handbacks +restarts\n/);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  // promise: restarts-failures-only
  test('two machines restart a task once', async () => {
    const policy = policyFrom(await configFrom({ policy: { max_stuck_restarts: 5, first_backoff: 0 } }));
    const open = () => openContext({ cwd: scene.folder, env: {} });
    const machines = await Promise.all([open(), open()]);
    await Promise.all(machines.map((context) => restartDue({ ...context, policy })));
    await Promise.all(machines.map(({ board }) => board.close()));
    const restarted = (await scene.events()).filter(
      (event) => event.type === 'task.restarted' && event.id === id('fails always'),
    );
    expect(restarted).toHaveLength(3);
    expect(restarted.at(-1)).toMatchObject({ data: { automatic: { number: 3, of: 5 } } });
  });
});

// setting: policy.first_backoff
test('a planned restart is told with its time', async () => {
  const scene = newScene(area, {
    policy: { max_stuck_restarts: 1, handbacks: { dirty: 0 }, first_backoff: '5m' },
  });
  const task = await scene.add('waits', 'echo half > half.txt');
  await copse(['orchestrate', '--once'], scene.at);
  await expect
    .poll(async () => (await scene.tasks()).get(task)?.status, { timeout: 60_000, interval: 100 })
    .toBe('needs_attention');
  expect(await scene.why(task)).toMatch(/Restarts automatically in [45] min \(1 of 1\)\./);
  expect(await printed(['status'], scene.at)).toMatch(/Restarts automatically in [45] min \(1 of 1\)/);
});
