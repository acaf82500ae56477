/** What a server that stops does with the work of its requests. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { answer, copse, git, newArea, newRepository } from '../../support/cli.ts';
import { call, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();

test('it ends the checks of a landing that a request waits for, and gives the lead back', async () => {
  const cwd = newRepository(area);
  writeFileSync(path.join(cwd, 'copse.yml'), 'landing: { checks: { long: sleep 600 } }\n');
  await copse(['config', 'accept'], { cwd });
  const { id } = await answer<{ id: string }>(['add', 'One'], { cwd });
  const { worktree } = await answer<{ worktree: string }>(['work', id], { cwd });
  git(worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: one');
  await answer(['finish', id], { cwd });
  const served = await serveRepository(cwd);
  const merging = call(served, 'POST /tasks/merge', { body: { tasks: [id], waitSeconds: 3_600 } });
  merging.catch(() => {});
  const landings = () => served.board.openLandings();
  await expect.poll(async () => (await landings())[0]?.state.status, { timeout: 20_000 }).toBe('checking');
  await served[Symbol.asyncDispose]();
  expect(served.problems).toEqual([]);
  const { queues } = await answer<{ queues: readonly object[] }>(['queue'], { cwd });
  expect(queues).toEqual([expect.objectContaining({ isLed: false, checks: [] })]);
});
