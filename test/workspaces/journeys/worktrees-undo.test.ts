/** Undoing after an agent did more than it should, and what a reset and an undo must not disturb. */

import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, test } from 'vitest';

import { copse, git, newArea, plainEnv, printed } from '../../support/cli.ts';
import { everyByte, makeAMess, newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

// promise: undo-complete
test.each([
  ['removal', (task: string) => ['cleanup', task, '--force']],
  ['reset', (task: string) => ['work', task, '--reset']],
] as const)('undoing a %s restores a branch that the agent had deleted', async (_, command) => {
  const at = newProject(area);
  const { task, worktree, branch } = await taken('Saw it off', at);
  makeAMess(worktree);
  const before = everyByte(worktree);
  const tip = git(worktree, 'rev-parse', 'HEAD');
  git(at.cwd, 'update-ref', '-d', `refs/heads/${branch}`);
  await printed(command(task), at);
  await printed(['undo', task], at);
  expect(git(at.cwd, 'rev-parse', branch)).toBe(tip);
  expect(everyByte(worktree)).toEqual(before);
});

test('undo restores a branch that the agent deleted from inside its worktree', async () => {
  const at = newProject(area);
  const { task, worktree, branch } = await taken('From inside', at);
  makeAMess(worktree);
  const before = everyByte(worktree);
  git(worktree, 'update-ref', '-d', 'HEAD');
  expect(await printed(['cleanup', task, '--force'], at)).toContain(`branch ${branch} was already deleted`);
  await printed(['undo', task], at);
  expect(everyByte(worktree)).toEqual(before);
});

test('a worktree whose branch was deleted is set aside with its files, and can be restored', async () => {
  const at = newProject(area);
  const { task, worktree, branch } = await taken('Go on', at);
  makeAMess(worktree);
  const before = everyByte(worktree);
  git(at.cwd, 'update-ref', '-d', `refs/heads/${branch}`);
  await printed(['work', task], at);
  await printed(['undo', task], at);
  expect(everyByte(worktree)).toEqual(before);
});

// promise: undo-complete
test('undo restores the permissions of uncommitted files', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('Keep it secret', at);
  const modes = {
    secret: 0o600,
    'deep/script ü': 0o700,
    staged: 0o640,
    'tracked ü.txt': 0o600,
    shared: 0o664,
  };
  mkdirSync(path.join(worktree, 'deep'));
  for (const [name, mode] of Object.entries(modes)) {
    writeFileSync(path.join(worktree, name), `${name}\n`);
    chmodSync(path.join(worktree, name), mode);
  }
  git(worktree, 'add', 'staged');
  chmodSync(path.join(worktree, 'shared'), 0o6664);
  await printed(['cleanup', task, '--force'], at);
  await printed(['tend'], at);
  await printed(['undo', task], at);
  const found = Object.keys(modes).map((name) => [name, lstatSync(path.join(worktree, name)).mode & 0o7777]);
  expect(Object.fromEntries(found)).toEqual(modes);
});

// promise: in-use-kept
test('neither a reset nor an undo removes a worktree in which git runs', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('Wait', at);
  await printed(['cleanup', task, '--force'], at);
  await printed(['work', task], at);
  makeAMess(worktree);
  const before = everyByte(worktree);
  const lock = path.join(git(worktree, 'rev-parse', '--absolute-git-dir'), 'index.lock');
  writeFileSync(lock, '');
  for (const argv of [
    ['work', task, '--reset'],
    ['undo', task],
  ]) {
    const { code, stderr } = await copse(argv, at);
    expect([argv, code, stderr]).toEqual([argv, 4, expect.stringContaining('index.lock')]);
  }
  rmSync(lock);
  expect(everyByte(worktree)).toEqual(before);
  await printed(['undo', task], at);
});

const hasTmux = (() => {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

// promise: in-use-kept
test.runIf(hasTmux)('neither a reset nor an undo removes a worktree with an open terminal', async () => {
  // A server of its own: its socket has to have a short path.
  const TMUX_TMPDIR = mkdtempSync(path.join(tmpdir(), 'copse-tmux-'));
  const env = { TMUX_TMPDIR };
  const tmux = (...argv: readonly string[]) =>
    execFileSync('tmux', argv, { stdio: 'ignore', env: { ...plainEnv, ...env } });
  const at = { ...newProject(area), env };
  const { task } = await taken('Look over there', at);
  await printed(['cleanup', task, '--force'], at);
  await printed(['work', task], at);
  const name = `copse-${task}`;
  tmux('new-session', '-d', '-s', name, '-c', area, 'sleep 600');
  try {
    for (const argv of [
      ['work', task, '--reset'],
      ['undo', task],
    ]) {
      const { code, stderr } = await copse(argv, at);
      const said = expect.stringContaining(`its terminal ${name} is open`);
      expect([argv, code, stderr]).toEqual([argv, 4, said]);
    }
  } finally {
    tmux('kill-server');
    rmSync(TMUX_TMPDIR, { recursive: true });
  }
});
