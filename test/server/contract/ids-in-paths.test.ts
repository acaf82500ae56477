/** Ids with a slash in the path of a request, on a real repository. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { answer, copse, newArea, newRepository } from '../../support/cli.ts';
import { call, called, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();

test('a schedule and a rescue are named in one part of the path, with %2F for their slashes', async () => {
  const cwd = newRepository(area);
  writeFileSync(
    path.join(cwd, 'copse.yml'),
    'agents: { tidy: { command: "true", schedules: { nightly: { type: cron, cron: "0 6 1 1 *", prompt: Tidy } } } }\n',
  );
  const { id } = await answer<{ id: string }>(['add', 'Lose a file'], { cwd });
  const worktree = path.join(cwd, '.worktrees', id);
  expect((await copse(['work', id], { cwd })).code).toBe(0);
  writeFileSync(path.join(worktree, 'unsaved.txt'), 'text\n');
  expect((await copse(['cleanup', id, '--yes'], { cwd })).code).toBe(0);
  await using served = await serveRepository(cwd);
  const { rescues } = await called<{ rescues: readonly { ref: string }[] }>(served, 'GET /rescues');
  const ref = rescues[0]?.ref ?? '';
  expect(ref).toContain('/');
  const shown = await called(served, `GET /rescues/${encodeURIComponent(ref)}`);
  expect(shown).toMatchObject({ ref, changes: [{ path: 'unsaved.txt' }] });
  expect(await called(served, 'POST /schedules/tidy%2Fnightly/pause')).toMatchObject({ id: 'tidy/nightly' });
  // The slash does not divide the path, and leads out of no folder.
  expect((await call(served, 'POST /schedules%2Ftidy/pause')).status).toBe(404);
  for (const bad of ['..%2F..%2Fetc%2Fpasswd', '%2Fetc', 'refs%2F..%2Fheads', ref.replace('/', '%2F%2F')])
    expect((await call(served, `GET /rescues/${bad}`)).status).not.toBe(200);
});
