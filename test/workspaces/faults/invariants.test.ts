/**
 * The invariants about work, each through the real door. Where one has more tests elsewhere, they are named.
 *
 *    1  commits stay reachable          here; workspaces-agents (a deleted branch), workspaces-random
 *    2  rescued before anything         here; workspaces-kill-steps, -operations
 *    3  a failed rescue blocks          here; workspaces-damage (a full disk, a disk that cannot be written)
 *    4  ignored files are moved aside   here; workspaces-kill-steps, -operations
 *    5  no fallback to force            here; guards/git-commands
 *    6  a rescue changes no byte        here
 *    7  the living are left alone       here; workspaces/rules/removal
 *    8  unknown means keep              here; workspaces/rules/removal
 *    9  locked, and nothing is pruned   here; guards/git-commands
 *   10  a person's checkout is theirs   here
 *   27  nothing reaches a shell         here; guards/git-commands
 */

import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { claimNext } from '../../../packages/copse/src/tasks/act/claims.ts';
import { removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea } from '../../support/cli.ts';
import { claimant } from '../../support/records/tasks.ts';
import {
  Project,
  dirty,
  expectSound,
  newDirty,
  newProject,
  placesIn,
  stateOf,
} from '../../support/workspaces/workspaces.ts';

const area = newArea();
const newPlace = placesIn(area);
const newScene = (title?: string) => newDirty(newPlace(), title);

const reachable = ({ folder }: Project) => git(folder, 'rev-list', '--all').split('\n');

// promise: commits-reachable
it('INVARIANT 1: commits stay reachable from a ref after any operation on worktree and branch', async () => {
  const { project, task, worktree } = await newScene();
  const commits = [git(worktree, 'rev-parse', 'HEAD')];
  git(worktree, 'commit', '--quiet', '--amend', '--message=amended');
  commits.push(git(worktree, 'rev-parse', 'HEAD'));
  await project.reset(task);
  expect(reachable(project)).toEqual(expect.arrayContaining(commits));
  await project.prepare(task);
  writeFileSync(path.join(worktree, 'tracked.txt'), 'after the reset\n');
  git(worktree, 'commit', '--quiet', '--all', '--message=after');
  commits.push(git(worktree, 'rev-parse', 'HEAD'));
  const { becameOfBranch } = await project.remove(task, { deleteBranch: true });
  expect(becameOfBranch).toBe('deleted');
  expect(reachable(project)).toEqual(expect.arrayContaining(commits));
  await project.undo(task);
  expect(reachable(project)).toEqual(expect.arrayContaining(commits));
});

// promise: rescue-first
it.each(['remove', 'reset'] as const)(
  'INVARIANT 2: uncommitted and untracked content is in a rescue ref after a %s',
  async (act) => {
    const { project, task } = await newScene();
    await project[act](task);
    const [rescue] = await project.context.rescues.list(task);
    const show = (file: string) => git(project.folder, 'show', `${rescue?.ref}:${file}`);
    expect(show('tracked.txt')).toBe(`${task} unstaged`);
    expect(show('staged.txt')).toBe(`${task} staged`);
    expect(show('new "ünï" file.txt')).toBe(`${task} untracked`);
    expect(git(project.folder, 'log', '--all', '-p', '--format=', '-m')).toContain(
      `${task} staged and then changed`,
    );
  },
);

// promise: rescue-failure-blocks
it('INVARIANT 3: a failed rescue blocks a removal, a reset and an undo', async () => {
  const { project, task, worktree, before } = await newScene();
  await project.remove(task);
  await project.prepare(task);
  dirty(worktree, 'second');
  const second = stateOf(worktree);
  const kept = git(project.folder, 'for-each-ref', 'refs/copse/keep');
  const tmp = path.join(project.folder, '.copse', 'tmp');
  rmSync(tmp, { recursive: true, force: true });
  writeFileSync(tmp, 'in the way');
  await expect(project.tryRemove(task)).rejects.toThrow(/tmp/);
  await expect(project.reset(task)).rejects.toThrow(/tmp/);
  await expect(project.undo(task)).rejects.toThrow(/tmp/);
  expect(stateOf(worktree)).toEqual(second);
  expect(git(project.folder, 'for-each-ref', 'refs/copse/keep')).toBe(kept);
  rmSync(tmp);
  await project.undo(task);
  expect(stateOf(worktree)).toEqual(before);
});

// promise: ignored-files-kept
it('INVARIANT 4: ignored files are moved to the trash, byte for byte', async () => {
  const { project, task, worktree } = await newScene();
  mkdirSync(path.join(worktree, 'ignored', 'empty'));
  writeFileSync(path.join(worktree, 'ignored', 'bytes'), Buffer.from([0, 255, 10, 13, 0]), { mode: 0o640 });
  await project.remove(task);
  const [entry] = await project.context.trash.list();
  const aside = path.join(entry?.files ?? '', 'ignored');
  expect(readFileSync(path.join(aside, 'bytes'))).toEqual(Buffer.from([0, 255, 10, 13, 0]));
  expect(lstatSync(path.join(aside, 'bytes')).mode & 0o777).toBe(0o640);
  expect(readFileSync(path.join(aside, 'deep', 'cache.bin'), 'utf8')).toBe(`${task} ignored\n`);
  expect(existsSync(path.join(aside, 'empty'))).toBe(true);
});

// promise: no-force
it('INVARIANT 5: a removal that cannot continue leaves everything in place', async () => {
  const { project, task, worktree, branch, before } = await newScene();
  writeFileSync(path.join(project.folder, '.copse', 'trash'), 'in the way');
  await expect(project.tryRemove(task, { deleteBranch: true })).rejects.toThrow(/trash/);
  expect(stateOf(worktree)).toEqual(before);
  expect(git(project.folder, 'rev-parse', branch)).toBe(git(worktree, 'rev-parse', 'HEAD'));
  expectSound(project.folder);
});

// promise: rescue-writes-nothing
it('INVARIANT 6: a rescue changes no byte of index, HEAD, branch or files', async () => {
  const { project, task, worktree } = await newScene();
  const gitDir = path.join(project.folder, '.git', 'worktrees', task);
  const refs = () => git(project.folder, 'for-each-ref', 'refs/heads', 'refs/stash');
  const before = [bytesIn(worktree), bytesIn(gitDir), refs()];
  const request = { task, worktree, why: 'asked', at: project.context.clock.now() } as const;
  expect(await project.context.rescues.snapshot(request)).toMatchObject({ kind: 'saved' });
  expect([bytesIn(worktree), bytesIn(gitDir), refs()]).toEqual(before);
});

// promise: in-use-kept
it('INVARIANT 7: a worktree with a live process in it is not removed, reset or replaced, by force either', async () => {
  const { project, task, worktree, before } = await newScene();
  const shell = spawn('sleep', ['600'], { cwd: path.join(worktree, 'ignored'), stdio: 'ignore' });
  onTestFinished(() => void shell.kill('SIGKILL'));
  await new Promise((resolve) => shell.once('spawn', resolve));
  const removed = await project.tryRemove(task);
  expect(removed).toMatchObject({ kind: 'refused', reason: expect.stringContaining(`pid ${shell.pid}`) });
  await expect(project.reset(task)).rejects.toThrow(`pid ${shell.pid}`);
  expect(stateOf(worktree)).toEqual(before);
});

// promise: in-use-kept
it('INVARIANT 7: a worktree whose task is leased by another machine is not removed, by force either', async () => {
  const { project, task, worktree, before } = await newScene();
  const claimed = await claimNext(project.context, { claimant: claimant('se-elsewhere'), capabilities: [] });
  expect(claimed?.id).toBe(task);
  expect(await project.tryRemove(task)).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('on another machine'),
  });
  expect(stateOf(worktree)).toEqual(before);
});

// promise: unknown-kept
it('INVARIANT 8: a sweep keeps a worktree without a record if anything in it could be missed', async () => {
  const { project } = await newScene();
  const stray = brand<TaskId>('cp-9zzz');
  const worktree = project.worktree(stray);
  git(project.folder, 'worktree', 'add', '--quiet', '-b', 'stray', worktree);
  writeFileSync(path.join(worktree, 'mine.txt'), 'nobody else has this\n');
  const sweep = { by: 'sweep', pruneUnmergedBranches: true } as const;
  expect(await removeWorkspace(project.context, stray, sweep)).toMatchObject({ kind: 'refused' });
  expect(readFileSync(path.join(worktree, 'mine.txt'), 'utf8')).toBe('nobody else has this\n');
});

// promise: no-gc
it('INVARIANT 9: managed worktrees are locked, so that pruning by others does not take them', async () => {
  const { project, task, worktree, before } = await newScene();
  rmSync(path.join(worktree, '.git'));
  git(project.folder, 'worktree', 'prune', '--expire=now');
  const gitDir = path.join(project.folder, '.git', 'worktrees', task);
  expect(existsSync(path.join(gitDir, 'index'))).toBe(true);
  writeFileSync(path.join(worktree, '.git'), `gitdir: ${gitDir}\n`);
  expect(stateOf(worktree)).toEqual(before);
  await project.remove(task);
  git(project.folder, 'gc', '--quiet', '--prune=now');
  await project.undo(task);
  expect(stateOf(worktree)).toEqual(before);
});

// promise: checkout-untouched
it('INVARIANT 10: a person’s checkout, stash, index and branches stay as they are', async () => {
  const folder = newProject(newPlace());
  writeFileSync(path.join(folder, 'tracked.txt'), 'stashed\n');
  git(folder, 'stash', '--quiet');
  git(folder, 'branch', 'personal');
  writeFileSync(path.join(folder, 'staged.txt'), 'staged\n');
  git(folder, 'add', '--all');
  writeFileSync(path.join(folder, 'tracked.txt'), 'unstaged\n');
  writeFileSync(path.join(folder, 'untracked.txt'), 'untracked\n');
  const theirs = () => ({
    files: bytesIn(folder, ['.git', '.copse', '.worktrees']),
    git: ['HEAD', 'index', 'config', 'ORIG_HEAD', 'logs/HEAD', 'logs/refs/stash'].map((name) => {
      const file = path.join(folder, '.git', name);
      return existsSync(file) ? readFileSync(file, 'latin1') : null;
    }),
    refs: git(folder, 'for-each-ref', 'refs/heads/main', 'refs/heads/personal', 'refs/stash', 'refs/tags'),
  });
  const before = theirs();
  await using project = await Project.open(folder);
  const task = await project.addTask();
  const { path: worktree } = await project.prepare(task);
  dirty(worktree, task);
  await project.remove(task, { deleteBranch: true });
  await project.undo(task);
  await project.reset(task);
  await project.prepare(task);
  rmSync(path.join(worktree, '.git'));
  await project.prepare(task);
  expect(theirs()).toEqual(before);
});

// promise: no-shell
it('INVARIANT 27: text of agents and titles is never run, and refs come from ids', async () => {
  const marker = path.join(area, 'run');
  const hostile = `x;touch\${IFS}run|\`touch\${IFS}run\`&$(touch\${IFS}run)`;
  const { project, task, worktree } = await newScene(`"; touch '${marker}'; $(touch run) \` --upload-pack=x`);
  git(worktree, 'branch', '--move', hostile);
  writeFileSync(path.join(worktree, '$(touch run)'), '`touch run`\n');
  const before = stateOf(worktree);
  await project.prepare(task);
  await project.remove(task, { deleteBranch: true });
  await project.undo(task);
  expect(stateOf(worktree)).toEqual(before);
  await project.reset(task);
  const refs = git(project.folder, 'for-each-ref', '--format=%(refname)', 'refs/copse').split('\n');
  for (const ref of refs) expect(ref).toMatch(new RegExp(`^refs/copse/(rescue|keep)/${task}/[\\w-]+$`));
  for (const folder of [area, project.folder, worktree])
    expect(existsSync(path.join(folder, 'run'))).toBe(false);
  expect(existsSync(marker)).toBe(false);
});

/** Names, modes, times and contents. */
function bytesIn(folder: string, except: readonly string[] = []): Readonly<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (except.includes(name.split(path.sep)[0] ?? '')) continue;
    const file = path.join(folder, name);
    const { mode, mtimeMs, ctimeMs } = lstatSync(file);
    const content = lstatSync(file).isFile() ? readFileSync(file, 'latin1') : '';
    all[name] = `${mode} ${mtimeMs} ${ctimeMs} ${content}`;
  }
  return all;
}
