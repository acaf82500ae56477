/** A worktree whose agent left an object store beyond the limits can be removed and reset by a person, and the store is kept. */

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { layStore, openStores } from '../../../packages/copse/src/git/objects.ts';
import { type AttemptId, type FencingToken, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import { resetWorkspace } from '../../../packages/copse/src/workspaces/discard/reset.ts';
import { newArea } from '../../support/cli.ts';
import { runGit } from '../../support/git/git-shell.ts';
import { newDirty, placesIn } from '../../support/workspaces/workspaces.ts';

const newPlace = placesIn(path.join(newArea(), `it's "a" räpo`));

/** Its branch names a commit that only the store has. */
async function newScene() {
  const { project, task, branch } = await newDirty(newPlace());
  const common = path.join(project.folder, '.git');
  const store = { task, attempt: brand<AttemptId>(`at-${process.pid}`) };
  layStore(common, store);
  const env = {
    GIT_OBJECT_DIRECTORY: path.join(common, 'copse', 'objects', `${task}.at-${process.pid}`, 'new'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(common, 'objects'),
  };
  const argv = ['commit-tree', '-p', 'main', '-m', 'inside', 'main^{tree}'];
  const commit = runGit({ cwd: project.folder, argv, env }).stdout.toString();
  mkdirSync(path.join(common, 'refs/heads', path.dirname(branch)), { recursive: true });
  writeFileSync(path.join(common, 'refs/heads', branch), commit);
  const found = findRepository(project.folder);
  if (!found) throw new Error('no repository');
  const stores = openStores(openTrustedDir(found), { mostObjects: 1 });
  const context = { ...project.context, git: { ...project.context.git, stores } };
  const record = await context.board.get('task', task);
  if (record === undefined) throw new Error('The task is gone');
  return { context, record, task, aside: () => readdirSync(path.join(common, 'copse', 'set-aside')) };
}

const byForce = { by: 'person', isNamed: true, isForced: true, deleteBranch: true } as const;

// promise: sandbox-objects
it('a forced removal sets the store aside and says where it is', async () => {
  const { context, task, aside } = await newScene();
  const removed = await removeWorkspace(context, task, byForce);
  expect(removed).toMatchObject({ kind: 'removed' });
  expect(JSON.stringify(removed)).toContain(`set-aside/${task}.at-${process.pid}`);
  expect(aside()).toEqual([`${task}.at-${process.pid}`]);
});

it('a reset by a person sets it aside; one that an attempt makes is refused', async () => {
  const { context, record, task, aside } = await newScene();
  await expect(resetWorkspace(context, record, brand<FencingToken>(1))).rejects.toThrow('more than 1 files');
  expect(await resetWorkspace(context, record)).toMatchObject({ kind: 'done' });
  expect(aside()).toEqual([`${task}.at-${process.pid}`]);
});
