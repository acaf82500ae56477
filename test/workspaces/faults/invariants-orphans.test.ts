/**
 * INVARIANT 8: an orphan has no record and no live process and nothing that no ref has; unknown means keep. Each of these
 * worktrees lacks one thing to be an orphan, and the first lacks none.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { cleanUp } from '../../../packages/copse/src/workspaces/discard/cleanup.ts';
import { removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import { deleteTasks } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../support/cli.ts';
import { must } from '../../support/records/tasks.ts';
import { type Project, newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;
const newPlace = () => path.join(area, `project ${(projects += 1)}`);

const sweep = { by: 'sweep', pruneUnmergedBranches: true } as const;

/** A worktree that git knows and the board does not, as it was checked out. */
async function newStray() {
  const project = await openForTest(newProject(newPlace()));
  const task = brand<TaskId>('cp-9zzz');
  const worktree = project.worktree(task);
  git(project.folder, 'worktree', 'add', '--quiet', '-b', 'stray', worktree);
  return { project, task, worktree };
}

it('an orphan is removed', async () => {
  const { project, task, worktree } = await newStray();
  expect(await removeWorkspace(project.context, task, sweep)).toMatchObject({ kind: 'removed' });
  expect(existsSync(worktree)).toBe(false);
});

const reasons: readonly [string, (worktree: string, project: Project) => void | Promise<void>][] = [
  ['a changed file', (worktree) => writeFileSync(path.join(worktree, 'tracked.txt'), 'mine\n')],
  ['an untracked file', (worktree) => writeFileSync(path.join(worktree, 'mine.txt'), 'mine\n')],
  [
    'a commit that is not merged',
    (worktree) => void git(worktree, 'commit', '--quiet', '--allow-empty', '--message=mine'),
  ],
  [
    'a commit that is on no branch',
    (worktree) => {
      const commit = git(worktree, 'commit-tree', '-p', 'HEAD', '-m', 'mine', 'HEAD^{tree}');
      git(worktree, 'checkout', '--quiet', '--detach', commit);
    },
  ],
  ['something in progress', (worktree) => void git(worktree, 'bisect', 'start')],
  [
    'a live process in it',
    async (worktree) => {
      const shell = spawn('sleep', ['600'], { cwd: worktree, stdio: 'ignore' });
      onTestFinished(() => void shell.kill('SIGKILL'));
      await new Promise((resolve) => shell.once('spawn', resolve));
    },
  ],
  [
    'files that cannot be counted',
    (_, { folder }) => {
      const tmp = path.join(folder, '.copse', 'tmp');
      rmSync(tmp, { recursive: true, force: true });
      writeFileSync(tmp, 'in the way');
    },
  ],
  [
    'no branch that its commits could be merged into',
    (_, { folder }) => {
      git(folder, 'switch', '--quiet', '--detach');
      git(folder, 'branch', '--quiet', '--delete', '--force', 'main');
    },
  ],
];

// promise: unknown-kept
it.each(reasons)('a worktree that the board does not know is kept for %s', async (_, make) => {
  const { project, task, worktree } = await newStray();
  await make(worktree, project);
  expect(await removeWorkspace(project.context, task, sweep)).toMatchObject({ kind: 'refused' });
  expect(git(worktree, 'rev-parse', '--show-toplevel')).toBe(worktree);
});

const strays: readonly [string, (place: string, project: Project) => string][] = [
  [
    'a file',
    (place) => {
      mkdirSync(path.dirname(place), { recursive: true });
      return place;
    },
  ],
  [
    'a folder that git does not know',
    (place) => {
      mkdirSync(place, { recursive: true });
      return path.join(place, 'mine.txt');
    },
  ],
  [
    'a worktree whose index is cut off',
    (place, { folder }) => {
      git(folder, 'worktree', 'add', '--quiet', '-b', 'stray', place);
      const index = path.join(git(place, 'rev-parse', '--absolute-git-dir'), 'index');
      writeFileSync(index, readFileSync(index).subarray(0, 40));
      return path.join(place, 'debug.log');
    },
  ],
  [
    'a worktree without its .git file',
    (place, { folder }) => {
      git(folder, 'worktree', 'add', '--quiet', '-b', 'stray', place);
      rmSync(path.join(place, '.git'));
      return path.join(place, 'debug.log');
    },
  ],
];

// promise: unknown-kept
it.each(strays)('%s at the path of a worktree is kept: its content is unknown', async (_, make) => {
  const project = await openForTest(newProject(newPlace()));
  const task = brand<TaskId>('cp-9zzz');
  const mine = make(project.worktree(task), project);
  writeFileSync(mine, 'mine\n');
  expect(await removeWorkspace(project.context, task, sweep)).toMatchObject({ kind: 'refused' });
  expect(readFileSync(mine, 'utf8')).toBe('mine\n');
});

it('staged changes of a worktree whose folder was deleted are kept with its registration', async () => {
  const { project, task, worktree } = await newStray();
  writeFileSync(path.join(worktree, 'staged.txt'), 'mine\n');
  git(worktree, 'add', '--all');
  const gitDir = git(worktree, 'rev-parse', '--absolute-git-dir');
  rmSync(worktree, { recursive: true });
  expect(await removeWorkspace(project.context, task, sweep)).toMatchObject({ kind: 'refused' });
  expect(existsSync(path.join(gitDir, 'index'))).toBe(true);
});

// promise: unknown-kept
it('a worktree whose task was deleted is kept for its record, also by a clean-up of everything', async () => {
  const project = await openForTest(newProject(newPlace()));
  const task = await project.addTask();
  const { path: worktree } = await project.prepare(task);
  must(await deleteTasks(project.context, [task], { unlink: false }));
  expect(await removeWorkspace(project.context, task, sweep)).toMatchObject({ kind: 'refused' });
  const everything = await cleanUp(project.context, {
    isForced: true,
    mayRemove: () => Promise.resolve(true),
  });
  expect(everything).toMatchObject({ removed: [], kept: [{ task }] });
  expect(existsSync(path.join(worktree, 'tracked.txt'))).toBe(true);
});
