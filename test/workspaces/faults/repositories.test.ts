/** Repositories of every kind: prepare, work, remove and undo give back every byte in each of them. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { Project, dirty, expectSound, newProject, stateOf } from '../../support/workspaces/workspaces.ts';

const area = newArea();

/** How the worktree was, and how it was after each time that it came back. */
async function wholeLife(folder: string) {
  await using project = await Project.open(folder);
  const task = await project.addTask();
  const { path: worktree } = await project.prepare(task);
  expect((await project.prepare(task)).reused).toBe(true);
  dirty(worktree, task);
  const before = stateOf(worktree);
  await project.remove(task, { deleteBranch: true });
  expectSound(folder);
  await project.undo(task);
  const afterRemoval = stateOf(worktree);
  await project.reset(task);
  await project.prepare(task);
  expect(project.run(task, 'status', '--porcelain')).toBe('');
  await project.undo(task);
  expectSound(folder);
  return { before, afterRemoval, afterReset: stateOf(worktree) };
}

describe('prepare, use, remove and undo work', () => {
  it.each([
    ['spaces', 'with  spaces '],
    ['quotes', `with "double" and 'single' quotes`],
    ['a line feed', 'with a line\nfeed'],
    ['a backslash and a dollar', 'with \\ and $HOME and `id`'],
    ['letters of many scripts', 'mit Ümläuten 林 😀 ﷽'],
    ['a dash in front', '-rf --help'],
  ])('in a path with %s', async (_, name) => {
    const { before, afterRemoval, afterReset } = await wholeLife(
      newProject(path.join(area, name, 'repository')),
    );
    expect([afterRemoval, afterReset]).toEqual([before, before]);
  });

  it('in a repository of SHA-256', async () => {
    const { before, afterRemoval, afterReset } = await wholeLife(
      newProject(path.join(area, 'sha256'), '--object-format=sha256'),
    );
    expect([afterRemoval, afterReset]).toEqual([before, before]);
  });

  it('in a bare repository', async () => {
    const origin = newProject(path.join(area, 'origin of bare'));
    const bare = path.join(area, 'bare.git');
    git(area, 'clone', '--quiet', '--bare', origin, bare);
    const { before, afterRemoval, afterReset } = await wholeLife(bare);
    expect([afterRemoval, afterReset]).toEqual([before, before]);
  });

  it('in a shallow clone', async () => {
    const origin = newProject(path.join(area, 'origin of shallow'));
    git(origin, 'commit', '--quiet', '--allow-empty', '--message=second');
    const shallow = path.join(area, 'shallow');
    git(area, 'clone', '--quiet', '--depth=1', `file://${encodeURI(origin)}`, shallow);
    const { before, afterRemoval, afterReset } = await wholeLife(shallow);
    expect([afterRemoval, afterReset]).toEqual([before, before]);
  });

  it('in a submodule', async () => {
    const { submodule } = newSubmodule('whole life');
    const { before, afterRemoval, afterReset } = await wholeLife(submodule);
    expect([afterRemoval, afterReset]).toEqual([before, before]);
  });
});

it('a branch that is checked out in a submodule itself is taken', async () => {
  const { submodule } = newSubmodule('taken');
  await using project = await Project.open(submodule);
  const task = await project.addTask();
  await began(project, task);
  git(submodule, 'switch', '--quiet', '--create', `${task}/do-it`);
  expect(await project.tryPrepare(task)).toMatchObject({ kind: 'refused', because: 'taken' });
});

it('a branch that is checked out in the main checkout is taken, and nothing is made', async () => {
  const folder = newProject(path.join(area, 'taken in main'));
  await using project = await Project.open(folder);
  const task = await project.addTask();
  await began(project, task);
  git(folder, 'switch', '--quiet', '--create', `${task}/do-it`);
  const prepared = await project.tryPrepare(task);
  expect(prepared).toMatchObject({
    kind: 'refused',
    because: 'taken',
    reason: expect.stringContaining(folder),
  });
  git(folder, 'switch', '--quiet', 'main');
  await project.prepare(task);
  expectSound(folder);
});

it('branches that differ from a task’s only in case are left alone', async () => {
  const folder = newProject(path.join(area, 'case'));
  await using project = await Project.open(folder);
  const task = await project.addTask();
  const shouting = `${task.toUpperCase()}/DO-IT`;
  git(folder, 'branch', shouting);
  const before = git(folder, 'rev-parse', shouting);
  const { path: worktree, branch } = await project.prepare(task);
  expect(branch).toBe(`${task}/do-it`);
  dirty(worktree, task);
  await project.remove(task, { deleteBranch: true });
  expect(git(folder, 'rev-parse', shouting)).toBe(before);
});

it('a branch whose name blocks the folder of a new one is left alone, and another name is used', async () => {
  const folder = newProject(path.join(area, 'in the way'));
  await using project = await Project.open(folder);
  const task = await project.addTask();
  git(folder, 'branch', task);
  const { path: worktree, branch } = await project.prepare(task);
  expect(branch).toBe(`${task}-do-it`);
  dirty(worktree, task);
  const before = stateOf(worktree);
  await project.remove(task, { deleteBranch: true });
  await project.undo(task);
  expect(stateOf(worktree)).toEqual(before);
  expect(git(folder, 'rev-parse', task)).toBe(git(folder, 'rev-parse', 'main'));
});

it('a task that another clone began is continued, and its branch there is never overwritten', async () => {
  const origin = newProject(path.join(area, 'origin of two clones'));
  git(origin, 'config', 'receive.denyCurrentBranch', 'ignore');
  const [mine, theirs] = ['mine', 'theirs'].map((name) => {
    git(area, 'clone', '--quiet', origin, path.join(area, name));
    return path.join(area, name);
  }) as [string, string];
  await using project = await Project.open(mine);
  const task = await project.addTask();
  await began(project, task);
  git(theirs, 'switch', '--quiet', '--create', `${task}/do-it`);
  writeFileSync(path.join(theirs, 'theirs.txt'), 'theirs\n');
  git(theirs, 'add', '--all');
  git(theirs, 'commit', '--quiet', '--message=theirs');
  git(theirs, 'push', '--quiet', 'origin', `${task}/do-it`);
  const { notes, path: worktree } = await project.prepare(task);
  expect(notes.join('\n')).toContain('another machine started');
  expect(git(worktree, 'log', '--format=%s')).toBe('theirs\nfirst');

  git(theirs, 'commit', '--quiet', '--allow-empty', '--message=theirs again');
  git(theirs, 'push', '--quiet', 'origin', `${task}/do-it`);
  const pushed = git(theirs, 'rev-parse', 'HEAD');
  dirty(worktree, task);
  await project.remove(task, { deleteBranch: true });
  expect(git(origin, 'rev-parse', `${task}/do-it`)).toBe(pushed);
});

/** The board knows the branch as the task's; there is none here. */
async function began(project: Project, task: TaskId): Promise<void> {
  await project.prepare(task);
  await project.remove(task, { deleteBranch: true });
}

function newSubmodule(name: string): { readonly submodule: string } {
  const inner = newProject(path.join(area, `inner of ${name}`));
  const outer = newProject(path.join(area, `outer of ${name}`));
  mkdirSync(path.join(outer, 'deps'), { recursive: true });
  git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'deps/inner');
  return { submodule: path.join(outer, 'deps', 'inner') };
}
