/** An attempt that another machine goes on with: no clock delays it, and an interrupted recovery does not make it a crash. */

import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { expect, it, vi } from 'vitest';

import { attemptFiles, writeStopped } from '../../../packages/copse/src/agents/files/attempt-files.ts';
import { handOver, recover } from '../../../packages/copse/src/agents/act/recover.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { BoardAway } from '../../../packages/copse/src/board/port.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import {
  type AgentName,
  type AttemptId,
  type SessionId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { newArea, printed } from '../../support/cli.ts';
import { must, newTask } from '../../support/records/tasks.ts';
import { Clones } from '../support/clones.ts';

vi.setConfig({ testTimeout: 120_000 });
const area = newArea();
const HOUR_MS = 3_600_000;

function claimantOn({ node }: RunContext, name: string) {
  const [session, attempt] = [brand<SessionId>(`se-${name}`), brand<AttemptId>(`at-${name}`)];
  return { session, attempt, node, agent: brand<AgentName>('coder') };
}

async function attemptOn(context: RunContext, title: string) {
  const task = await newTask(context.board, { title });
  const by = claimantOn(context, title);
  const { token } = must(await claimTask(context, task.id, by));
  const { attempt: id, session, node } = by;
  await change(context, (change) =>
    change.apply(
      decided({ type: 'attempt.started', id, at: change.at, task: task.id, session, node, token }),
    ),
  );
  return { task: task.id, token, attempt: id };
}

it('a task that a machine with a clock an hour ahead hands over is taken at once', async () => {
  await using clones = new Clones(area, 'clock ahead');
  const [ahead, right] = clones.machines;
  ahead!.aheadMs = HOUR_MS;
  const context = await ahead!.open();
  const other = await right!.open();
  const held = await attemptOn(context, 'drained');
  must(await handOver(context, held, { because: 'drained', reason: 'the node drains' }));
  expect(await other.board.get('task', held.task)).toMatchObject({
    retries: 0,
    state: { status: 'ready', delay: { because: 'drained' } },
  });
  const at = { cwd: right!.folder, env: { COPSE_BOARD: clones.board } };
  expect(await printed(['events'], at)).toMatch(/postponed.*drain/);
  expect(must(await claimTask(other, held.task, claimantOn(other, 'next'))).token).toBeGreaterThan(
    held.token,
  );
});

it('a recovery that is interrupted before it is recorded costs no retry the next time either', async () => {
  await using clones = new Clones(area, 'interrupted', { count: 1 });
  const [machine] = clones.machines;
  const context = await machine!.open();
  const held = await attemptOn(context, 'cut-off');
  const { orders } = attemptFiles(machine!.folder, held.attempt);
  mkdirSync(path.dirname(orders), { recursive: true });
  writeStopped(orders, { because: 'cut_off', reason: 'the board was away' });
  const found = { ...held, where: 'here', reason: 'its runner is gone' } as const;
  const away = new Proxy(context.board, {
    get(board, name) {
      const value: unknown = Reflect.get(board, name, board);
      if (typeof value !== 'function') return value;
      if (name !== 'transact') return value.bind(board) as unknown;
      return () => Promise.reject(new BoardAway('The board is away.', 'copse doctor'));
    },
  });
  await expect(recover({ ...context, board: away }, found)).rejects.toThrow('The board is away.');
  must(await recover(context, found));
  expect(await context.board.get('task', held.task)).toMatchObject({
    retries: 0,
    state: { status: 'ready', delay: { because: 'cut_off' } },
  });
  expect(await context.runners.stoppedOf(held.attempt)).toBeUndefined();
});
