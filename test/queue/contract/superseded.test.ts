/** What the leader of a queue forgets when the target has moved. */

import { spawnSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { newQueueMemory } from '../../../packages/copse/src/queue/lead/memory.ts';
import { type CommitId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { QueueScene } from '../../support/queue/queue-scene.ts';

const area = newArea();

test('a candidate on an earlier tip of the target takes no memory, and is built again when it is asked for', async () => {
  await using scene = new QueueScene(area, 'superseded', { landing: { checks: {} } });
  const context = await scene.open();
  const memory = newQueueMemory(context);
  const onto = brand<CommitId>(git(scene.folder, 'rev-parse', 'main'));
  await scene.queue('first');
  const task = await scene.queue('second');
  const change = (await context.board.openLandings()).find((landing) => landing.task === task);
  const stack = { onto, changes: [{ landing: change!.id, task, head: change!.head }] };
  await memory.candidates.find(stack);
  const [alone] = await memory.candidates.steps(stack);
  memory.conflicts.set(`${onto} ${change!.head}`, []);
  memory.failures.set(1, { name: 'unit', fault: { kind: 'exit', code: 1 }, log: null, tail: '' });

  expect((await scene.lead({ memory })).landed).toHaveLength(2);
  await scene.queue('third');
  expect((await scene.lead({ memory })).landed).toHaveLength(1);

  expect(memory.candidates.look(stack)).toBeUndefined();
  expect([memory.conflicts.size, memory.failures.size]).toEqual([0, 0]);
  // A dropped candidate cannot be brought.
  const isThere = () =>
    spawnSync('git', ['cat-file', '-e', alone!.commit], { cwd: scene.folder, env: plainEnv });
  await context.merging.bring(alone!.commit);
  expect(isThere().status).not.toBe(0);

  await memory.candidates.find(stack);
  expect(await memory.candidates.steps(stack)).toEqual([alone]);
  await context.merging.bring(alone!.commit);
  expect(isThere().status).toBe(0);
});
