/** Questions on a terminal: which task, what to do with a worktree that is there, whether to remove it. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { answer, git, newArea, newTasks } from '../../support/cli.ts';
import { CONTROL_C, DOWN, ENTER, hasScript, onTerminal } from '../../support/terminal.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

describe.skipIf(!hasScript)('on a terminal (needs script of util-linux)', () => {
  test('work offers the ready tasks, the most urgent first', async () => {
    const at = newProject(area);
    const [{ id }] = await newTasks(['Not so urgent \u{1f33f}'], at);
    await answer(['add', 'Urgent', '--priority', 'p5'], at);
    const screen = await onTerminal(['work'], at.cwd, [['Which task', DOWN + ENTER]]);
    expect(screen.indexOf('Urgent')).toBeLessThan(screen.indexOf('Not so urgent'));
    expect(screen).toContain(`Created worktree for ${id} Not so urgent`);
    expect(existsSync(path.join(at.cwd, '.worktrees', id, 'tool'))).toBe(true);
  });

  test('a question that is aborted changes nothing', async () => {
    const at = newProject(area);
    const [{ id }] = await newTasks(['Left alone'], at);
    const screen = await onTerminal(['work'], at.cwd, [['Which task', CONTROL_C]]);
    expect(screen).toContain('Nothing was changed.');
    expect(await answer(['show', id], at)).toMatchObject({ status: 'ready' });
  });

  test('work offers to resume, to reset or to leave an existing worktree', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Choices', at);
    const file = path.join(worktree, 'tracked ü.txt');
    writeFileSync(file, 'mine\n');
    const question = '1 uncommitted change';
    await onTerminal(['work', task], at.cwd, [[question, DOWN + DOWN + ENTER]]);
    expect(readFileSync(file, 'utf8')).toBe('mine\n');
    expect(await onTerminal(['work', task], at.cwd, [[question, ENTER]])).toContain(
      `Resumed the worktree of ${task}`,
    );
    expect(readFileSync(file, 'utf8')).toBe('mine\n');
    expect(await onTerminal(['work', task], at.cwd, [[question, DOWN + ENTER]])).toContain(
      `Created worktree for ${task}`,
    );
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
    await answer(['undo', task], at);
    expect(readFileSync(file, 'utf8')).toBe('mine\n');
  });

  test('cleanup removes work only after a yes; Enter alone means no', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Sure?', at);
    writeFileSync(path.join(worktree, 'mine'), 'x');
    await answer(['cleanup', task, '--force'], at);
    await answer(['undo', task], at);
    const question = 'Remove the worktree';
    expect(await onTerminal(['cleanup', task], at.cwd, [[question, ENTER]])).toContain(
      'Nothing was changed.',
    );
    expect(existsSync(path.join(worktree, 'mine'))).toBe(true);
    expect(await onTerminal(['cleanup', task], at.cwd, [[question, 'y']])).toContain(`copse undo ${task}`);
    expect(existsSync(worktree)).toBe(false);
  });

  // promise: terminal-safe
  test('a patch cannot send control sequences to the terminal', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Patch', at);
    writeFileSync(path.join(worktree, 'evil'), '\u001b]0;owned\u0007\u001b[2Jx\n');
    git(worktree, 'add', '.');
    git(worktree, 'commit', '--quiet', '--message=evil');
    const screen = await onTerminal(['diff', task], at.cwd, [], { GIT_PAGER: 'cat' });
    expect(screen).toContain('x1b]0;owned');
    expect(screen).not.toContain('\u001b');
  });
});
