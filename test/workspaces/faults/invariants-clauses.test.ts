/**
 * The invariants about work where nothing else would save it: worktrees without uncommitted changes, whose commits no
 * rescue holds; what a teardown wrote; what is in the way of an undo; the trash and its age.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { fetchBranches } from '../../../packages/copse/src/git/refs/remote.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { claimNext } from '../../../packages/copse/src/tasks/act/claims.ts';
import { tend } from '../../../packages/copse/src/workspaces/act/tend.ts';
import { type BranchName, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../support/cli.ts';
import { claimant } from '../../support/records/tasks.ts';
import {
  type Project,
  dirty,
  newDirty,
  newProject,
  openForTest,
  stateOf,
} from '../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;
const newPlace = () => path.join(area, `project ${(projects += 1)}`);

/** A worktree with one commit of its own and nothing besides: a rescue would have nothing to save. */
async function newCommitted(folder = newProject(newPlace())) {
  const project = await openForTest(folder);
  const task = await project.addTask();
  const { path: worktree, branch } = await project.prepare(task);
  const commit = commitIn(worktree, 'mine');
  return { project, task, worktree, branch: branch ?? '', commit };
}

function commitIn(worktree: string, text: string): string {
  writeFileSync(path.join(worktree, 'tracked.txt'), `${text}\n`);
  git(worktree, 'commit', '--quiet', '--all', `--message=${text}`);
  return git(worktree, 'rev-parse', 'HEAD');
}

/** Copse's own refs, because a branch is in the agents' hands. */
function isKept({ folder }: Project, commit: string): boolean {
  return git(folder, 'for-each-ref', `--contains=${commit}`, 'refs/copse') !== '';
}

// promise: commits-reachable
it('INVARIANT 1: commits of a clean worktree stay reachable when it is reset', async () => {
  const { project, task, commit } = await newCommitted();
  await project.reset(task);
  expect(isKept(project, commit)).toBe(true);
});

// promise: commits-reachable
it('INVARIANT 1: commits on a detached HEAD of a clean worktree stay reachable when it is removed', async () => {
  const { project, task, worktree } = await newCommitted();
  git(worktree, 'switch', '--quiet', '--detach');
  const detached = commitIn(worktree, 'on no branch');
  await project.remove(task, { deleteBranch: true });
  expect(isKept(project, detached)).toBe(true);
});

// promise: commits-reachable
it('INVARIANT 1: commits stay reachable when an agent replaced its worktree by a file', async () => {
  const { project, task, worktree, commit } = await newCommitted();
  rmSync(worktree, { recursive: true });
  writeFileSync(worktree, 'not a folder\n');
  await project.prepare(task);
  expect(isKept(project, commit)).toBe(true);
});

// promise: commits-reachable
it('INVARIANT 1: commits of the branch that an undo moves back stay reachable', async () => {
  const { project, task, worktree, branch, commit } = await newCommitted();
  await project.remove(task, { deleteBranch: true });
  await project.prepare(task);
  const second = commitIn(worktree, 'begun anew');
  await project.undo(task);
  expect(git(project.folder, 'rev-parse', branch)).toBe(commit);
  expect(isKept(project, second)).toBe(true);
});

// promise: rescue-first
it('INVARIANT 2: the files of a broken worktree are in a rescue ref before a retry sets it aside', async () => {
  const { project, task, worktree } = await newDirty(newPlace());
  rmSync(path.join(worktree, '.git'));
  await project.prepare(task);
  const [rescue] = await project.context.rescues.list(task);
  expect(git(project.folder, 'show', `${rescue?.ref}:tracked.txt`)).toBe(`${task} unstaged`);
  expect(git(project.folder, 'show', `${rescue?.ref}:new "ünï" file.txt`)).toBe(`${task} untracked`);
});

// promise: rescue-failure-blocks
it('INVARIANT 3: a failed rescue stops a retry from setting a broken worktree aside', async () => {
  const { project, task, worktree } = await newDirty(newPlace());
  const link = readFileSync(path.join(worktree, '.git'), 'utf8');
  const before = stateOf(worktree);
  rmSync(path.join(worktree, '.git'));
  const tmp = path.join(project.folder, '.copse', 'tmp');
  rmSync(tmp, { recursive: true, force: true });
  writeFileSync(tmp, 'in the way');
  await expect(project.prepare(task)).rejects.toThrow(/tmp/);
  writeFileSync(path.join(worktree, '.git'), link);
  expect(stateOf(worktree)).toEqual(before);
});

// promise: rescue-first
it('INVARIANT 2: files that a teardown wrote into a clean worktree are rescued', async () => {
  const folder = newProject(newPlace());
  const teardown = 'echo kept > $COPSE_WORKTREE_PATH/report.txt';
  writeFileSync(path.join(folder, 'copse.yml'), `workspace:\n  teardown: ["${teardown}"]\n`);
  const { project, task } = await newCommitted(folder);
  const { rescue } = await project.remove(task);
  expect(git(folder, 'show', `${rescue}:report.txt`)).toBe('kept');
});

// promise: rescue-failure-blocks
it('INVARIANT 3: commits that cannot be kept under a ref block a removal and a reset', async () => {
  const { project, task, worktree, branch, commit } = await newCommitted();
  const before = stateOf(worktree);
  // Git cannot have a ref below another one.
  git(project.folder, 'update-ref', `refs/copse/keep/${task}`, 'main');
  await expect(project.tryRemove(task, { deleteBranch: true })).rejects.toThrow('refs/copse/keep');
  await expect(project.reset(task)).rejects.toThrow('refs/copse/keep');
  expect(git(project.folder, 'rev-parse', branch)).toBe(commit);
  expect(stateOf(worktree)).toEqual(before);
});

// promise: ignored-files-kept
it('INVARIANT 4: ignored files of a broken worktree that was set aside stay in the trash', async () => {
  const { project, task, worktree } = await newDirty(newPlace());
  rmSync(path.join(worktree, '.git'));
  await project.prepare(task);
  expect(await tend(project.context)).toMatchObject({ deleted: 0, failed: [] });
  const [entry] = await project.context.trash.list();
  const ignored = path.join(entry?.files ?? '', 'ignored', 'deep', 'cache.bin');
  expect(readFileSync(ignored, 'utf8')).toBe(`${task} ignored\n`);
});

// promise: trash-keeps-work, in-use-kept
it('INVARIANTS 4 and 7: old trash is deleted, but not while a process is in it', async () => {
  const { project, task } = await newDirty(newPlace());
  await project.remove(task);
  const [entry] = await project.context.trash.list();
  const ignored = path.join(entry?.files ?? '', 'ignored');
  expect(await tend(project.context)).toMatchObject({ deleted: 0, failed: [] });
  expect(readFileSync(path.join(ignored, 'deep', 'cache.bin'), 'utf8')).toBe(`${task} ignored\n`);

  const later = project.context.clock.now() + 2 * project.context.policy.maintenance.trashAgeMs;
  // The memory of the clock would take these weeks for a mistake.
  const old = { ...project.context, clock: { now: () => timestamp(later) }, trashClock: undefined };
  const shell = spawn('sleep', ['600'], { cwd: ignored, stdio: 'ignore' });
  onTestFinished(() => void shell.kill('SIGKILL'));
  await new Promise((resolve) => shell.once('spawn', resolve));
  expect(await tend(old)).toMatchObject({ deleted: 0, failed: [] });
  expect(existsSync(path.join(ignored, 'deep', 'cache.bin'))).toBe(true);

  shell.kill('SIGKILL');
  await new Promise((resolve) => shell.once('close', resolve));
  expect(await tend(old)).toMatchObject({ deleted: 1, failed: [] });
  expect(existsSync(ignored)).toBe(false);
});

// promise: in-use-kept
it('INVARIANT 7: an undo does not replace a worktree with a live process in it', async () => {
  const { project, task, worktree, before } = await newUndoable();
  const shell = spawn('sleep', ['600'], { cwd: worktree, stdio: 'ignore' });
  onTestFinished(() => void shell.kill('SIGKILL'));
  await new Promise((resolve) => shell.once('spawn', resolve));
  await expect(project.undo(task)).rejects.toThrow(`pid ${shell.pid}`);
  expect(stateOf(worktree)).toEqual(before);
});

// promise: in-use-kept
it('INVARIANT 7: an undo does not replace a worktree whose task is leased', async () => {
  const { project, task, worktree, before } = await newUndoable();
  const claimed = await claimNext(project.context, { claimant: claimant('se-elsewhere'), capabilities: [] });
  expect(claimed?.id).toBe(task);
  await expect(project.undo(task)).rejects.toThrow(/session/);
  expect(stateOf(worktree)).toEqual(before);
});

/** Removed once, and by now there is another worktree in its place. */
async function newUndoable() {
  const { project, task, worktree } = await newDirty(newPlace());
  await project.remove(task);
  await project.prepare(task);
  dirty(worktree, 'second');
  return { project, task, worktree, before: stateOf(worktree) };
}

// promise: no-gc
it('INVARIANT 9: a fetch collects no garbage and packs no refs, with any number of loose objects', async () => {
  const origin = newProject(newPlace());
  const folder = newPlace();
  git(area, 'clone', '--quiet', origin, folder);
  rmSync(path.join(folder, '.git', 'packed-refs'));
  git(folder, 'branch', 'loose');
  // Git counts the files in this one folder, and packs refs before it goes on in the background.
  const objects = path.join(folder, '.git', 'objects', '17');
  mkdirSync(objects, { recursive: true });
  for (let number = 0; number < 100; number += 1)
    writeFileSync(path.join(objects, `${number}`.padStart(38, '0')), '');
  commitIn(origin, 'newer');
  const dir = openTrustedDir({ commonDir: path.join(folder, '.git'), home: folder });
  expect(await fetchBranches(dir, 'origin', [brand<BranchName>('main')])).toEqual({ kind: 'fetched' });
  expect(git(folder, 'rev-parse', 'origin/main')).toBe(git(origin, 'rev-parse', 'main'));
  expect(existsSync(path.join(folder, '.git', 'packed-refs'))).toBe(false);
});

// promise: checkout-untouched
it('INVARIANT 10: a reset leaves a person’s branch that the agent switched to', async () => {
  const { project, task, worktree } = await newCommitted();
  git(project.folder, 'branch', 'personal', 'main');
  git(worktree, 'switch', '--quiet', 'personal');
  await project.reset(task);
  expect(git(project.folder, 'rev-parse', 'personal')).toBe(git(project.folder, 'rev-parse', 'main'));
});

// promise: checkout-untouched
it('INVARIANT 10: a task starts from a newer base on the remote, and the person’s branches and checkout stay', async () => {
  const origin = newProject(newPlace());
  const folder = newPlace();
  git(area, 'clone', '--quiet', origin, folder);
  const newest = commitIn(origin, 'newer');
  const theirs = () => [
    git(folder, 'for-each-ref', 'refs/heads/main'),
    git(folder, 'status', '--porcelain=v2', '--branch'),
    readFileSync(path.join(folder, '.git', 'index'), 'latin1'),
    existsSync(path.join(folder, '.git', 'FETCH_HEAD')),
  ];
  const project = await openForTest(folder);
  const task = await project.addTask();
  const before = theirs();
  const { path: worktree } = await project.prepare(task);
  expect(git(worktree, 'rev-parse', 'HEAD')).toBe(newest);
  // How far it is behind is the only news.
  expect(theirs().map((one) => `${one}`.replace('# branch.ab +0 -1', '# branch.ab +0 -0'))).toEqual(
    before.map(String),
  );
});
