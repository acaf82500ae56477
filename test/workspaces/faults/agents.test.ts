/**
 * What agents do to their own worktree, its branch and its place. All of it is reported or set aside, their commits stay
 * reachable, and the worktree of another task is never touched.
 */

import { appendFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import {
  addDirty,
  expectAllFound,
  expectBackAfterUndo,
  newDirty,
  newProject,
  openForTest,
  placesIn,
  stateOf,
  textsOf,
} from '../../support/workspaces/workspaces.ts';

const area = newArea();
const newPlace = placesIn(area);
const newScene = () => newDirty(newPlace());

interface Place {
  readonly worktree: string;
  readonly gitDir: string;
}

describe('an agent’s changes to its own worktree', () => {
  // promise: commits-reachable
  it('commits on a detached HEAD survive a removal', async () => {
    const { project, task, worktree } = await newScene();
    git(worktree, 'switch', '--quiet', '--detach');
    appendFileSync(path.join(worktree, 'tracked.txt'), 'detached work\n');
    git(worktree, 'commit', '--quiet', '--all', '--message=detached');
    const before = stateOf(worktree);
    const commit = git(worktree, 'rev-parse', 'HEAD');
    expect((await project.prepare(task)).notes).toContain('Its HEAD is on no branch.');
    await project.remove(task);
    expect(git(project.folder, 'rev-list', '--all').split('\n')).toContain(commit);
    await project.undo(task);
    expect(stateOf(worktree)).toEqual(before);
  });

  // promise: rescue-exact
  it('a rebase in progress is reported, survives a removal and can be continued', async () => {
    const project = await openForTest(newProject(newPlace()));
    const task = await project.addTask();
    const { path: worktree } = await project.prepare(task);
    writeFileSync(path.join(worktree, 'tracked.txt'), 'mine\n');
    git(worktree, 'commit', '--quiet', '--all', '--message=mine');
    writeFileSync(path.join(project.folder, 'tracked.txt'), 'theirs\n');
    git(project.folder, 'commit', '--quiet', '--all', '--message=theirs');
    expect(() => git(worktree, 'rebase', 'main')).toThrow('could not apply');
    const before = stateOf(worktree);
    expect((await project.prepare(task)).notes).toContain('A rebase is in progress there.');
    await project.remove(task);
    await project.undo(task);
    expect(stateOf(worktree)).toEqual(before);
    writeFileSync(path.join(worktree, 'tracked.txt'), 'both\n');
    git(worktree, 'add', 'tracked.txt');
    git(worktree, '-c', 'core.editor=true', 'rebase', '--continue');
    expect(git(worktree, 'log', '--format=%s')).toBe('mine\ntheirs\nfirst');
  });

  it('a branch that the agent renamed is used under its new name', async () => {
    const { project, task, worktree } = await newScene();
    git(worktree, 'branch', '--move', 'another-name');
    const before = stateOf(worktree);
    const again = await project.prepare(task);
    expect([again.reused, again.branch]).toEqual([true, 'another-name']);
    await expectBackAfterUndo(project, task, before);
  });

  it('commits of a branch that the agent deleted stay reachable', async () => {
    const { project, task, worktree, branch } = await newScene();
    const commit = git(worktree, 'rev-parse', 'HEAD');
    git(worktree, 'update-ref', '-d', `refs/heads/${branch}`);
    await project.prepare(task);
    expect(git(project.folder, 'rev-list', '--all').split('\n')).toContain(commit);
    expectAllFound(project.folder, textsOf(task));
  });

  // promise: commits-reachable
  it('commits of a branch that the agent deleted stay reachable when its worktree is removed', async () => {
    const { project, task, worktree, branch } = await newScene();
    const commit = git(worktree, 'rev-parse', 'HEAD');
    git(worktree, 'update-ref', '-d', `refs/heads/${branch}`);
    await project.remove(task);
    expect(git(project.folder, 'rev-list', '--all').split('\n')).toContain(commit);
    expectAllFound(project.folder, textsOf(task));
  });
});

describe('an agent’s changes to the path of its worktree', () => {
  const attacks: readonly [string, (mine: Place, other: Place) => void][] = [
    [
      'a link to the worktree of another task',
      (mine, other) => {
        rmSync(mine.worktree, { recursive: true });
        symlinkSync(other.worktree, mine.worktree);
      },
    ],
    [
      'a .git file that leads to the git directory of another task',
      (mine, other) => writeFileSync(path.join(mine.worktree, '.git'), `gitdir: ${other.gitDir}\n`),
    ],
    [
      'a .git that is a link to that of another task',
      (mine, other) => {
        rmSync(path.join(mine.worktree, '.git'));
        symlinkSync(path.join(other.worktree, '.git'), path.join(mine.worktree, '.git'));
      },
    ],
    [
      'a repository of its own',
      (mine) => {
        rmSync(path.join(mine.worktree, '.git'));
        git(mine.worktree, 'init', '--quiet');
      },
    ],
    [
      'a file',
      (mine) => {
        rmSync(mine.worktree, { recursive: true });
        writeFileSync(mine.worktree, 'a file\n');
      },
    ],
    [
      'a registration that names the folder of another task',
      (mine, other) =>
        writeFileSync(path.join(mine.gitDir, 'gitdir'), `${path.join(other.worktree, '.git')}\n`),
    ],
  ];

  // promise: other-task-unreachable
  it.each(attacks.filter(([name]) => !name.startsWith('a registration')))(
    '%s is set aside when the task is prepared, and the other task is untouched',
    async (_, attack) => {
      const { project, task, worktree, gitDir } = await newScene();
      const other = await addDirty(project, 'Another');
      attack({ worktree, gitDir }, other);
      await project.prepare(task);
      expect((await project.prepare(task)).reused).toBe(true);
      expect(git(worktree, 'rev-parse', '--show-toplevel')).toBe(worktree);
      expect(stateOf(other.worktree)).toEqual(other.before);
      expect((await project.prepare(other.task)).reused).toBe(true);
    },
  );

  // promise: other-task-unreachable
  it.each(attacks)('%s does not make a removal or a reset change the other task', async (_, attack) => {
    const { project, task, worktree, gitDir } = await newScene();
    const other = await addDirty(project, 'Another');
    attack({ worktree, gitDir }, other);
    await project.reset(task).catch(() => {});
    expect(stateOf(other.worktree)).toEqual(other.before);
    await project.tryRemove(task).catch(() => {});
    expect(stateOf(other.worktree)).toEqual(other.before);
    expect((await project.prepare(other.task)).reused).toBe(true);
  });

  // promise: other-task-unreachable
  it('a .git file that names a task whose folder was deleted does not take over its registration', async () => {
    const { project, task, worktree } = await newScene();
    const other = await addDirty(project, 'Another');
    rmSync(other.worktree, { recursive: true });
    writeFileSync(path.join(worktree, '.git'), `gitdir: ${other.gitDir}\n`);
    const { branch } = await project.prepare(task);
    expect(branch).toContain(task);
    const again = await project.prepare(other.task);
    expect([again.path, again.branch]).toEqual([other.worktree, expect.stringContaining(other.task)]);
  });
});
