/** `copse delete`: what becomes of worktree, branch, queue and agent. That of a running agent is in control.test.ts. */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { ENTER, hasScript, onTerminal } from '../../support/terminal.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

test('a worktree with uncommitted files is rescued and removed; undo brings it back', async () => {
  const at = newProject(area);
  const { task, worktree, branch } = await taken('Half done', at);
  writeFileSync(path.join(worktree, 'mine'), 'x');
  const text = await printed(['delete', task, '--yes'], at);
  expect(text).toContain(`Deleted ${task} Half done\n    worktree ${worktree} removed\n    rescued as `);
  expect(existsSync(worktree)).toBe(false);
  expect((await copse(['show', task], at)).code).toBe(3);
  await answer(['undo', task], at);
  expect(readFileSync(path.join(worktree, 'mine'), 'utf8')).toBe('x');
  expect(git(worktree, 'symbolic-ref', '--short', 'HEAD')).toBe(branch);
});

test('--keep-worktree leaves worktree and branch, and says how to remove them', async () => {
  const at = newProject(area);
  const { task, worktree, branch } = await taken('Kept', at);
  writeFileSync(path.join(worktree, 'mine'), 'x');
  const unasked = await copse(['delete', task, '--keep-worktree'], at);
  expect(unasked).toMatchObject({
    code: 4,
    stdout: '',
    stderr: [
      `copse: Not deleted: without a terminal, Copse cannot ask whether to delete ${task}.`,
      `    To delete it:\n  → copse delete ${task} --keep-worktree --yes\n`,
    ].join('\n'),
  });
  expect(await printed(['delete', task, '--keep-worktree', '--yes'], at)).toBe(
    `Deleted ${task} Kept\n    worktree ${worktree} and branch ${branch} kept: copse cleanup ${task}\n`,
  );
  expect(readFileSync(path.join(worktree, 'mine'), 'utf8')).toBe('x');
  expect(await answer(['worktrees'], at)).toMatchObject({
    worktrees: [{ task, status: 'left_over', taskStatus: null, title: null }],
  });
  // Its events stay, as the help says.
  expect(await printed(['events', '--task', task], at)).toContain(`${task} Kept: deleted`);
  expect((await copse(['events', '--task', 'cp-none'], at)).code).toBe(3);
});

test('a task in the queue leaves it; its branch with its commits stays', async () => {
  const at = newProject(area);
  const { task, worktree, branch } = await taken('Queued', at);
  writeFileSync(path.join(worktree, 'mine'), 'x');
  git(worktree, 'add', '.');
  git(worktree, 'commit', '--quiet', '--message=feat: mine');
  await answer(['finish', task], at);
  expect(await answer(['queue'], at)).toMatchObject({ queues: [{ entries: [{ task }] }] });
  const text = await printed(['delete', task, '--yes'], at);
  expect(text).toContain(`Deleted ${task} Queued\n    it left the queue\n    worktree ${worktree} removed\n`);
  expect(text).toContain(`    branch ${branch} kept\n`);
  expect(await answer(['queue'], at)).not.toMatchObject({ queues: [{ entries: [{ task }] }] });
  expect(git(at.cwd, 'log', '-1', '--format=%s', branch)).toBe('feat: mine');
});

test('a foreign process in the worktree keeps the task, and nothing is changed', async () => {
  const at = newProject(area);
  const { task, worktree } = await taken('In use', at);
  const other = spawn('sleep', ['600'], { cwd: worktree });
  onTestFinished(() => void other.kill('SIGKILL'));
  const { code, stderr } = await copse(['delete', task, '--yes'], at);
  expect(code).toBe(4);
  expect(stderr).toContain('Nothing was deleted.');
  expect(stderr).toContain(`→ copse delete ${task} --keep-worktree\n`);
  expect(await answer(['show', task], at)).toMatchObject({ status: 'in_progress' });
  expect(existsSync(worktree)).toBe(true);
});

test.skipIf(!hasScript)('asks on a terminal, with what becomes of everything; --yes does not', async () => {
  const at = newProject(area);
  const { task, worktree, branch } = await taken('Asked', at);
  writeFileSync(path.join(worktree, 'mine'), 'x');
  const screen = await onTerminal(['delete', task], at.cwd, [['Delete this task?', ENTER]]);
  expect(screen).toContain(`its worktree ${worktree} goes to the trash (1 uncommitted file, rescued first)`);
  expect(screen).toContain(`its branch ${branch} stays if it has commits that are not merged`);
  expect(screen).toContain('Nothing was changed.');
  expect(existsSync(worktree)).toBe(true);
  await onTerminal(['delete', task, '--yes'], at.cwd, []);
  expect(existsSync(worktree)).toBe(false);
});
