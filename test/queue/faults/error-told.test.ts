/** A queue whose leader fails says so, instead of promising that everything lands soon. */

import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { whyTask } from '../../../packages/copse/src/explain/why.ts';
import { answer, copse, newArea } from '../../support/cli.ts';
import { QueueScene } from '../../support/queue/queue-scene.ts';
import { must } from '../../support/records/tasks.ts';

const area = newArea();

// promise: queue-error-told
test('why, queue and doctor tell the last error of a queue, and no longer once it went on', async () => {
  await using scene = new QueueScene(area, 'error told', { landing: { checks: {} } });
  const id = await scene.queue('a');
  const context = await scene.open();
  // A folder where the lock of the candidate's ref belongs: git cannot write that ref.
  const lock = path.join(scene.folder, '.git', 'refs', 'copse', 'candidate', 'main.lock');
  mkdirSync(path.join(lock, 'in the way'), { recursive: true });
  await expect(scene.lead()).rejects.toThrow('candidate');
  const lines = async () => must(await whyTask(context, id, { isOrchestrated: false })).because.join('\n');
  expect(await lines()).toMatch(/It waits: the queue of main cannot go on: .*candidate/);
  expect(await lines()).not.toMatch(/lands within|about grafts|hint:/);
  const at = { cwd: scene.folder };
  const { queues } = await answer<{ queues: { stalled: { reason: string } | null }[] }>(['queue'], at);
  expect(queues[0]?.stalled?.reason).toMatch(/cannot go on/);
  const doctor = await copse(['doctor'], at);
  expect(doctor.stdout).toMatch(/queue +The queue of main cannot go on/);

  rmSync(lock, { recursive: true });
  await scene.lead();
  expect(await scene.status(id)).toBe('done');
  expect((await scene.merged()).stalled).toBeNull();
  expect((await copse(['doctor'], at)).stdout).not.toMatch(/cannot go on/);
});
