/** What a removal must leave alone, and what undoing it must bring back after everything that ran in between. */

import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { everyByte, makeAMess, newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

// promise: checkout-untouched
test('a branch that an agent switched to is neither deleted nor moved', async () => {
  const at = newProject(area);
  git(at.cwd, 'branch', 'release');
  const { task, worktree } = await taken('Wander off', at);
  git(worktree, 'switch', '--quiet', 'release');
  expect((await copse(['sync', task], at)).code).not.toBe(0);
  await printed(['cleanup', task, '--force'], at);
  expect(git(at.cwd, 'branch', '--list', '--format=%(refname:short)').split('\n').toSorted()).toEqual([
    'main',
    'release',
  ]);
});

// promise: checkout-untouched
test('the main branch survives a worktree whose HEAD names it', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('Pretend', at);
  const tip = git(at.cwd, 'rev-parse', 'main');
  git(worktree, 'symbolic-ref', 'HEAD', 'refs/heads/main');
  await printed(['cleanup', task, '--force'], at);
  expect(git(at.cwd, 'rev-parse', 'main')).toBe(tip);
});

test('a teardown that deletes too much loses nothing', async () => {
  const at = newProject(area);
  writeFileSync(
    path.join(at.cwd, 'copse.yml'),
    'workspace:\n  teardown: ["cd $COPSE_WORKTREE_PATH && git clean -fdq && git checkout -q ."]\n',
  );
  const { task, worktree } = await taken('Tidy', at);
  writeFileSync(path.join(worktree, 'untracked'), 'mine\n');
  writeFileSync(path.join(worktree, 'tracked ü.txt'), 'changed\n');
  await printed(['cleanup', task, '--force'], at);
  await printed(['undo', task], at);
  expect(readFileSync(path.join(worktree, 'untracked'), 'utf8')).toBe('mine\n');
  expect(readFileSync(path.join(worktree, 'tracked ü.txt'), 'utf8')).toBe('changed\n');
});

// promise: rescue-first
test('files that a teardown writes into a worktree without changes are rescued as well', async () => {
  const at = newProject(area);
  writeFileSync(
    path.join(at.cwd, 'copse.yml'),
    'workspace:\n  teardown: ["echo last words > $COPSE_WORKTREE_PATH/left"]\n',
  );
  const { task } = await taken('Say goodbye', at);
  await printed(['cleanup', task, '--force'], at);
  const rescues = git(at.cwd, 'for-each-ref', '--format=%(refname)', `refs/copse/rescue/${task}`);
  expect(git(at.cwd, 'show', `${rescues}:left`)).toBe('last words');
});

// promise: undo-complete
test('undo restores every byte after the trash was thinned and its files were recycled', async () => {
  const at = newProject(area);
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'workspace:\n  pool: 2\n');
  const { task, worktree } = await taken('Recycle', at);
  makeAMess(worktree);
  git(worktree, 'rm', '--quiet', '--cached', 'tool');
  writeFileSync(path.join(worktree, '.gitignore'), '*.log\ncache/\ntool\n');
  git(worktree, 'commit', '--quiet', '--all', '--message=ignore the tool');
  const before = everyByte(worktree);
  await printed(['cleanup', task, '--force'], at);
  await printed(['tend'], at);
  await printed(['undo', task], at);
  await printed(['tend'], at);
  expect(everyByte(worktree)).toEqual(before);
});

// promise: other-task-unreachable
test('a copy of the repository does not change the worktrees of the original', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('Stay here', at);
  makeAMess(worktree);
  const before = everyByte(worktree);
  const copy = `${at.cwd} copy`;
  cpSync(at.cwd, copy, { recursive: true, verbatimSymlinks: true });
  await copse(['cleanup', task, '--force'], { cwd: copy });
  await copse(['work', task, '--resume'], { cwd: copy });
  expect(everyByte(worktree)).toEqual(before);
  expect(git(worktree, 'rev-parse', '--show-toplevel')).toBe(worktree);
});

test('a removal from before the repository was moved is undone at the new path', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('Move', at);
  makeAMess(worktree);
  const before = everyByte(worktree);
  await printed(['cleanup', task, '--force'], at);
  const moved = `${at.cwd} moved`;
  renameSync(at.cwd, moved);
  await printed(['undo', task], { cwd: moved });
  expect(everyByte(path.join(moved, '.worktrees', task))).toEqual(before);
});

// promise: unknown-kept
test('files that are not Copse’s in the folder of the pool are kept', async () => {
  const at = newProject(area);
  await taken('First', at);
  const folder = path.join(at.cwd, '.worktrees', '.pool', '7');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'notes'), 'mine\n');
  await printed(['tend'], at);
  await printed(['tend'], at);
  const kept = everyByte(path.join(at.cwd, '.copse', 'trash'));
  const isStillThere = JSON.stringify(everyByte(at.cwd)).includes('notes');
  expect(isStillThere || JSON.stringify(kept).includes('notes')).toBe(true);
});

// promise: remote-address-pinned, passwords-hidden
test('a new address of a remote is used once it was accepted, and its password is not shown', async () => {
  const at = newProject(area);
  await taken('First', at);
  git(at.cwd, 'remote', 'add', 'origin', 'https://ada:secret@example.invalid/shop.git');
  expect(await answer(['config', 'accept-remotes'], at)).toEqual({
    remotes: [{ name: 'origin', url: 'https://example.invalid/shop.git' }],
  });
  const known = readFileSync(path.join(at.cwd, '.copse', 'git', 'plain', 'config'), 'utf8');
  expect(known).toContain('https://ada:secret@example.invalid/shop.git');
});
