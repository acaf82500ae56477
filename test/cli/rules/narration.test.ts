/** The remarks of `copse demo` come after the lines that they are about. */

import { expect, test } from 'vitest';

import { Narrator } from '../../../packages/copse/src/demo/narration.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';

type Context = ConstructorParameters<typeof Narrator>[0];
type Pass = Parameters<Narrator['aboutPass']>[0];

const id = brand<TaskId>('cp-0002');
const running = brand<TaskId>('cp-0003');

test('that a task is ready and waits is said after its promotion was told', async () => {
  const task = { id, state: { status: 'ready' }, dependsOn: [brand<TaskId>('cp-0001')] };
  const board = { get: () => Promise.resolve(task) };
  const narrator = new Narrator({ board } as unknown as Context, 'demo');
  const waiting = { kind: 'area', task: running, areas: ['src/**', 'src/a.js'] };
  const pass = { waiting: [{ task: id, waiting }] } as unknown as Pass;
  expect(await narrator.aboutPass(pass)).toBeUndefined();
  await narrator.about({ type: 'task.promoted', id, at: timestamp(1) });
  expect(await narrator.aboutPass(pass)).toContain(`${id} is ready and waits for ${running}`);
});
