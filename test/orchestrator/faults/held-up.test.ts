/** Locks of git that an agent leaves behind keep neither the queue nor the start of other tasks waiting. */

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { newArea } from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { QueueScene } from '../../support/queue/queue-scene.ts';

const area = newArea();
afterAll(() => endAgents(area));

// promise: failed-landing-stops-no-other
test('a landing does not wait for the lock of all packed refs', async () => {
  await using scene = new QueueScene(area, 'packed', { landing: { checks: {} } });
  const lock = path.join(scene.folder, '.git', 'packed-refs.lock');
  const good = await scene.queue('good');
  writeFileSync(lock, '');
  await scene.lead();
  expect(scene.trailers).toEqual([good]);
  // It was young enough to belong to a running git, so only a landing that waited would find it stale.
  expect(existsSync(lock)).toBe(true);
});

// promise: unreadable-work-stops-no-other
test('a task starts while the landing of another waits for the lock of the target', async () => {
  const scene = newScene(area, { policy: { max_agents: 1 } });
  const first = await scene.add(
    'first',
    'commit one one.txt; : > "$(git rev-parse --git-common-dir)/refs/heads/main.lock"',
  );
  const second = await scene.add('second', 'commit two two.txt', '--priority', 'p1');
  await scene.up();
  expect(await scene.statuses()).toEqual({ first: 'done', second: 'done' });
  const told = (await scene.events()).map(({ type, id }) => `${type} ${id}`);
  expect(told.indexOf(`task.claimed ${second}`)).toBeLessThan(told.indexOf(`task.done ${first}`));
});
