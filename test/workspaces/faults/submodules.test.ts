/** What was done in a repository inside a worktree is in no rescue, so the trash has to keep it. */

import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { tend } from '../../../packages/copse/src/workspaces/act/tend.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../support/cli.ts';
import { type Project, newProject, openForTest, placesIn } from '../../support/workspaces/workspaces.ts';

const newPlace = placesIn(path.join(newArea(), `it's "ä" 林`));
const SUB = 'vendor/lib ü';

/** A removed worktree with a submodule in which somebody did this, and trash that is older than trash may be. */
async function removedAfter(work: (submodule: string, worktree: string) => void) {
  const library = newProject(newPlace());
  const folder = newProject(newPlace());
  const allowed = ['-c', 'protocol.file.allow=always'];
  git(folder, ...allowed, 'submodule', '--quiet', 'add', '--name', 'my lib', library, SUB);
  git(folder, 'commit', '--quiet', '--message=with a submodule');
  const project = await openForTest(folder);
  const task = await project.addTask();
  const { path: worktree } = await project.prepare(task);
  const submodule = path.join(worktree, SUB);
  expect(readFileSync(path.join(submodule, 'tracked.txt'), 'utf8')).toBe('first\n');
  // The clock of a file system ticks every few milliseconds, in which no agent has started yet.
  await setTimeout(50);
  work(submodule, worktree);
  await project.remove(task);
  return { project, task, submodule };
}

function emptyTrash({ context }: Project) {
  const age = context.policy.maintenance.trashAgeMs + 60_000;
  const clock = { now: () => timestamp(context.clock.now() + age) };
  return tend({ ...context, clock });
}

it('the trash deletes a worktree whose submodule is untouched', async () => {
  const { project } = await removedAfter((submodule) => git(submodule, 'log', '-1'));
  expect(await emptyTrash(project)).toMatchObject({ deleted: 1, kept: [] });
  expect(await project.context.trash.all()).toEqual([]);
});

// promise: trash-keeps-work
it.each([
  ['a commit', SUB, (submodule: string) => commitIn(submodule)],
  ['an edit', SUB, (submodule: string) => appendFileSync(path.join(submodule, 'tracked.txt'), 'mine\n')],
  ['a new file', SUB, (submodule: string) => writeFileSync(path.join(submodule, 'src ü', 'new'), 'mine\n')],
  ['a deletion', SUB, (submodule: string) => rmSync(path.join(submodule, 'src ü', 'one.txt'))],
  [
    'a commit, and the folder was deleted',
    'modules/my lib',
    (submodule: string) => {
      commitIn(submodule);
      rmSync(submodule, { recursive: true });
    },
  ],
  [
    'a repository of its own beside it',
    'ignored/clone',
    (_: string, worktree: string) => {
      mkdirSync(path.join(worktree, 'ignored', 'clone'), { recursive: true });
      git(path.join(worktree, 'ignored', 'clone'), 'init', '--quiet');
    },
  ],
])('the trash keeps a worktree with work in a submodule: %s', async (_, named, work) => {
  const { project } = await removedAfter(work);
  const tended = await emptyTrash(project);
  expect(tended).toMatchObject({ deleted: 0, failed: [], kept: [expect.stringContaining(named)] });
  const [entry] = await project.context.trash.all();
  expect(existsSync(entry?.folder ?? '')).toBe(true);
  // It is said once, and not gone through again and again.
  expect(await emptyTrash(project)).toMatchObject({ deleted: 0, kept: [] });
});

it('a commit in a submodule is restored with the worktree after the trash was emptied', async () => {
  let commit = '';
  const { project, task, submodule } = await removedAfter((folder) => {
    commitIn(folder);
    commit = git(folder, 'rev-parse', 'HEAD');
  });
  await emptyTrash(project);
  await project.undo(task);
  expect(git(submodule, 'rev-parse', 'HEAD')).toBe(commit);
  expect(git(submodule, 'status', '--porcelain')).toBe('');
});

function commitIn(submodule: string): void {
  appendFileSync(path.join(submodule, 'tracked.txt'), 'mine\n');
  git(submodule, 'commit', '--quiet', '--all', '--message=mine');
}
