/** The patch of a review in pages that belong to one commit. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { git, newArea } from '../../support/cli.ts';
import { call, called, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface Page {
  readonly patch: string;
  readonly cursor: string | null;
  readonly lastReviewed: string | null;
  readonly change: { readonly head: string; readonly files: readonly { readonly path: string }[] };
}

test('pages together are the patch, also of a line longer than a page; a moved branch ends them', async () => {
  const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
  const long = 'ü'.repeat(700);
  const id = await scene.add('Work', `commit one one.txt ${long}; commit two two.txt`);
  await scene.up();
  await using served = await serveRepository(scene.folder);
  const ask = (query: string) => called<Page>(served, `GET /tasks/${id}/review${query}`);
  const whole = await ask('');
  expect(whole).toMatchObject({ cursor: null, lastReviewed: null });
  let page = await ask('?maxPatchBytes=501');
  const first = page.cursor;
  let text = page.patch;
  while (page.cursor !== null) {
    page = await ask(`?maxPatchBytes=501&after=${page.cursor}`);
    text += page.patch;
  }
  expect(text).toBe(whole.patch);

  const worktree = path.join(scene.folder, '.worktrees', id);
  writeFileSync(path.join(worktree, 'more.txt'), 'more\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: more');
  const { status, body } = await call(served, `GET /tasks/${id}/review?after=${first}`);
  expect({ status, body }).toMatchObject({
    status: 409,
    body: expect.stringContaining('moved since') as string,
  });
  const now = await ask('');
  expect(now.lastReviewed).toBe(whole.change.head);
  const since = await ask(`?since=${whole.change.head}`);
  expect(since.change.files.map((file) => file.path)).toStrictEqual(['more.txt']);
});
