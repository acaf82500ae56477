/** How long the loop of an orchestrator waits between two looks at the board, and when it ends. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { runLoop } from '../../../packages/copse/src/orchestrator/loop.ts';
import { Orchestrator } from '../../../packages/copse/src/orchestrator/orchestrate.ts';
import { newArea, newRepository, plainEnv } from '../../support/cli.ts';

// setting: policy.poll_interval
test('without a change it looks again after poll_interval', async () => {
  const cwd = newRepository(newArea());
  writeFileSync(
    path.join(cwd, 'copse.yml'),
    'policy: { poll_interval: 47s }\nagents: { a: { command: x } }\n',
  );
  const opened = await openRun({ cwd, env: plainEnv }, { asNode: true });
  const stop = new AbortController();
  const pauses: number[] = [];
  // The first pause ends the loop.
  const sleep = async (ms: number): Promise<void> => {
    pauses.push(ms);
    stop.abort();
  };
  const context = { ...opened.context, clock: { ...opened.context.clock, sleep } };
  const { pollIntervalMs } = context.policy.orchestration;
  const end = await runLoop(context, new Orchestrator(context, () => {}), {
    signal: stop.signal,
    isOnce: false,
    untilIdle: false,
    pollIntervalMs,
    onPass: () => {},
    onProblem: (error) => expect.fail(String(error)),
  });
  await opened.close();
  expect(end).toBe('stopped');
  expect(pauses).toContain(47_000);
});

test('until idle, it goes on while what a person does next is awaited', async () => {
  const opened = await openRun({ cwd: newRepository(newArea()), env: plainEnv }, { asNode: true });
  let passes = 0;
  const end = await runLoop(opened.context, new Orchestrator(opened.context, () => {}), {
    signal: new AbortController().signal,
    isOnce: false,
    untilIdle: true,
    isAwaited: async () => passes < 3,
    pollIntervalMs: 1,
    onPass: () => (passes += 1),
    onProblem: (error) => expect.fail(String(error)),
  });
  await opened.close();
  expect([end, passes]).toStrictEqual(['idle', 3]);
});
