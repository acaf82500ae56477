/** The life of a worktree through the command line: taken, left, taken up again, removed, brought back. */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { answer, copse, git, newArea, newTasks, printed } from '../../support/cli.ts';
import {
  type WorkDocument,
  cancelTask,
  everyByte,
  makeAMess,
  newProject,
  taken,
} from '../../support/workspaces/worktrees.ts';

const area = newArea();

interface CleanUpDocument {
  readonly removed: readonly {
    readonly task: string;
    readonly rescue: string | null;
    readonly branchDeleted: boolean;
  }[];
  readonly kept: readonly { readonly task: string; readonly reason: string }[];
}

describe('copse work', () => {
  test('gives a task a worktree and a branch of its own', async () => {
    const at = newProject(area);
    const [{ id }] = await newTasks(['Sort the shelf'], at);
    const { ports, ...document } = await answer<WorkDocument>(['work', id], at);
    const worktree = path.join(at.cwd, '.worktrees', id);
    const branch = `${id}/sort-the-shelf`;
    expect(document).toEqual({ task: id, worktree, branch, base: 'main', reused: false, notes: [] });
    expect(ports.length).toBeGreaterThan(0);
    expect(git(worktree, 'branch', '--show-current')).toBe(branch);
    expect(readFileSync(path.join(worktree, 'tracked ü.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(git(worktree, 'status', '--porcelain')).toBe('');
    expect(git(at.cwd, 'status', '--porcelain')).toBe('');
  });

  test('prints the path of the worktree quoted for a shell', async () => {
    const at = newProject(area);
    const [{ id }] = await newTasks(["It's here"], at);
    const text = await printed(['work', id], at);
    expect(text).toContain(`cd '${path.join(at.cwd, '.worktrees', id)}'`);
    for (const [, command] of text.matchAll(/copse (\w+)/g)) {
      expect((await copse([command ?? '', '--help'], at)).code).toBe(0);
    }
  });

  test('without an id names the ready tasks, the most urgent first', async () => {
    const at = newProject(area);
    expect(await copse(['work'], at)).toMatchObject({ code: 3, stdout: '' });
    await newTasks(['Later'], at);
    await printed(['add', 'Now', '--priority', 'p5'], at);
    const { code, stderr, stdout } = await copse(['work'], at);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/p5 {2}Now\n.*p3 {2}Later\n {2}→ copse work cp-/);
  });

  test('asks whether to resume or reset an existing worktree, and changes nothing until then', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Twice', at);
    makeAMess(worktree);
    const before = everyByte(worktree);
    const { code, stderr } = await copse(['work', task], at);
    expect(code).toBe(4);
    expect(stderr).toContain(`copse work ${task} --resume`);
    expect(stderr).toContain(`copse work ${task} --reset`);
    expect(stderr).toMatch(/\([1-9]\d* uncommitted changes, 1 commit of its own\): \//);
    expect(everyByte(worktree)).toEqual(before);
    expect((await copse(['work', task, '--resume', '--reset'], at)).code).toBe(2);
  });

  test('resumes a worktree unchanged, any number of times', async () => {
    const at = newProject(area);
    const { task, worktree, branch, ports } = await taken('Again', at);
    makeAMess(worktree);
    const before = everyByte(worktree);
    for (let round = 0; round < 2; round += 1) {
      const resumed = await answer<WorkDocument>(['work', task, '--resume'], at);
      expect(resumed).toMatchObject({ task, worktree, branch, base: 'main', reused: true, ports });
    }
    expect(everyByte(worktree)).toEqual(before);
  });

  // promise: undo-complete
  test('resets a worktree to its base, and undo restores it', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Start over', at);
    makeAMess(worktree);
    const before = everyByte(worktree);
    const reset = await answer<WorkDocument>(['work', task, '--reset'], at);
    expect(reset).toMatchObject({ worktree, reused: false });
    expect(git(worktree, 'status', '--porcelain', '--ignored', '--untracked-files=all')).not.toContain(
      'staged',
    );
    expect(git(worktree, 'rev-parse', 'HEAD')).toBe(git(at.cwd, 'rev-parse', 'main'));
    await answer(['undo', task], at);
    expect(everyByte(worktree)).toEqual(before);
  });

  // promise: one-claim
  test.each([1, 2, 3])('gives a task to one of two terminals at once (%i)', async () => {
    const at = newProject(area);
    const [{ id }] = await newTasks(['Contested'], at);
    const both = await Promise.all([copse(['work', id, '--json'], at), copse(['work', id, '--json'], at)]);
    expect(both.map(({ code }) => code).toSorted()).toEqual([0, 4]);
    const loser = both.find(({ code }) => code === 4);
    expect(JSON.parse(loser?.stderr ?? '')).toMatchObject({ error: { code: 'wrong_status' } });
  });

  test('is refused for a task that another session holds', async () => {
    const at = newProject(area);
    const { task } = await taken('Mine', at);
    const { code, stderr } = await copse(['work', task, '--resume'], { ...at, env: { USER: 'grace' } });
    expect(code).toBe(4);
    expect(stderr).toMatch(/ada \(node .+\) works on .+ by hand\./);
  });

  test('explains that the folder was deleted by hand, and continues with the commits', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Deleted', at);
    makeAMess(worktree);
    const head = git(worktree, 'rev-parse', 'HEAD');
    rmSync(worktree, { recursive: true });
    expect(await printed(['worktrees'], at)).toMatch(/MISSING.*\n.*its folder is gone/);
    const again = await answer<WorkDocument>(['work', task], at);
    expect(again).toMatchObject({ worktree, reused: false });
    expect(again.notes.join('\n')).toContain('its folder was deleted');
    expect(git(worktree, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(worktree, 'status', '--porcelain')).toBe('');
  });
});

describe('copse cleanup', () => {
  // promise: undo-complete, ignored-files-kept
  test('and undo restore every byte, ignored files included, staged and not', async () => {
    const at = newProject(area);
    const { task, worktree, branch } = await taken('Everything', at);
    makeAMess(worktree);
    const before = everyByte(worktree);
    const { removed } = await answer<CleanUpDocument>(['cleanup', task, '--force'], at);
    expect(removed).toMatchObject([{ task, worktree, branch, branchDeleted: false }]);
    expect(removed[0]?.rescue).toMatch(new RegExp(`^refs/copse/rescue/${task}/`));
    expect(existsSync(worktree)).toBe(false);
    expect(await printed(['worktrees'], at)).toContain('No worktrees.');

    expect(await answer(['undo'], at)).toMatchObject({
      task,
      worktree,
      branch,
      undone: 'removal',
      inTheWay: [],
    });
    expect(everyByte(worktree)).toEqual(before);
    expect((await copse(['undo'], at)).code).toBe(3);
    expect(everyByte(worktree)).toEqual(before);
  });

  test('asks before work is removed, and refuses where it cannot ask', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Asked', at);
    makeAMess(worktree);
    // Undone, it is held by nobody, so that nothing but the question is in the way.
    await answer(['cleanup', task, '--force'], at);
    await answer(['undo', task], at);
    const before = everyByte(worktree);
    const { code, stderr } = await copse(['cleanup', task], at);
    expect(code).toBe(4);
    expect(stderr).toMatch(/uncommitted changes and 1 unmerged commit/);
    expect(stderr).toContain(`copse cleanup ${task} --yes`);
    expect(everyByte(worktree)).toEqual(before);
    expect(await answer(['cleanup', task, '--yes'], at)).toMatchObject({
      removed: [{ task, rescue: expect.any(String) as string }],
    });
  });

  // promise: in-use-kept
  test('is refused while a process works in the folder, forced or not, and names it', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Occupied', at);
    const sleeper = spawn('sleep', ['600'], { cwd: worktree, stdio: 'ignore' });
    try {
      for (const options of [[], ['--force']]) {
        const { code, stderr } = await copse(['cleanup', task, ...options], at);
        expect(code).toBe(4);
        expect(stderr).toContain(`sleep (pid ${sleeper.pid})`);
      }
      const reset = await copse(['work', task, '--reset'], at);
      expect(reset.code).toBe(4);
      expect(reset.stderr).toContain(`pid ${sleeper.pid}`);
      expect(existsSync(path.join(worktree, 'tool'))).toBe(true);
      expect(sleeper.exitCode).toBeNull();
    } finally {
      sleeper.kill('SIGKILL');
    }
  });

  test('without an id removes worktrees of finished tasks, and lists why the rest is kept', async () => {
    const at = newProject(area);
    const clean = await taken('Clean and over', at);
    const dirty = await taken('Over, with work in it', at);
    const running = await taken('Not over', at);
    makeAMess(dirty.worktree);
    await cancelTask(at, clean.task);
    await cancelTask(at, dirty.task);

    const first = await answer<CleanUpDocument>(['cleanup'], at);
    expect(first.removed.map(({ task }) => task)).toEqual([clean.task]);
    expect(first.kept).toMatchObject([{ task: dirty.task }, { task: running.task }]);
    expect(first.kept[0]?.reason).toContain('unmerged commit');
    expect(first.kept[1]?.reason).toContain('in progress');

    const forced = await answer<CleanUpDocument>(['cleanup', '--force'], at);
    expect(forced.removed).toMatchObject([{ task: dirty.task, branchDeleted: false }]);
    expect(forced.kept.map(({ task }) => task)).toEqual([running.task]);
    expect(readdirSync(path.join(at.cwd, '.worktrees')).filter((name) => name.startsWith('cp-'))).toEqual([
      running.task,
    ]);
    await answer(['undo', clean.task], at);
    expect(existsSync(path.join(clean.worktree, 'tool'))).toBe(true);
  });

  test('without an id and without a finished task says so in one line', async () => {
    const at = newProject(area);
    await taken('Not over', at);
    await taken('Not over either', at);
    expect(await printed(['cleanup'], at)).toBe(
      'Nothing to remove: no done or cancelled task has a worktree.\nKept 2 worktrees of tasks that are not over.\n  → copse worktrees\n',
    );
  });

  test('deletes an unmerged branch only when asked to, and undo restores it', async () => {
    const at = newProject(area);
    const { task, worktree, branch } = await taken('Branch', at);
    makeAMess(worktree);
    const head = git(worktree, 'rev-parse', 'HEAD');
    expect((await copse(['cleanup', '--delete-branch'], at)).code).toBe(2);
    const { removed } = await answer<CleanUpDocument>(['cleanup', task, '--force', '--delete-branch'], at);
    expect(removed).toMatchObject([{ branchDeleted: true }]);
    expect(git(at.cwd, 'branch', '--list', branch)).toBe('');
    await answer(['undo', task], at);
    expect(git(at.cwd, 'rev-parse', branch)).toBe(head);
  });

  test('of a deleted worktree changes nothing', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Twice', at);
    writeFileSync(path.join(worktree, 'mine'), 'x');
    await answer(['cleanup', task, '--force'], at);
    await copse(['cleanup', task, '--force'], at);
    await answer(['undo', task], at);
    expect(readFileSync(path.join(worktree, 'mine'), 'utf8')).toBe('x');
  });
});

describe('without an id', () => {
  test('show, why and the ledger are about the task of the current worktree', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Here', at);
    const inside = { ...at, cwd: worktree };
    expect(await printed(['show'], inside)).toContain(`${task} IN_PROGRESS`);
    expect(await answer(['why'], inside)).toMatchObject({ task: { id: task } });
    await printed(['ledger', 'add', 'learning', 'Read the label first'], inside);
    expect(await printed(['ledger', 'list'], inside)).toContain('Read the label first');
    const message = `copse: No task given, and ${at.cwd} is not a task's worktree.\n  → copse list\n`;
    for (const argv of [['show'], ['why'], ['ledger', 'list'], ['diff'], ['finish']])
      expect({ argv, stderr: (await copse(argv, at)).stderr }).toEqual({ argv, stderr: message });
  });

  test('worktrees names the command that removes the worktree of a cancelled task', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Over', at);
    writeFileSync(path.join(worktree, 'new.txt'), 'new\n');
    git(worktree, 'add', 'new.txt');
    git(worktree, 'commit', '--quiet', '--message=feat: new');
    await cancelTask(at, task);
    expect(await printed(['worktrees'], at)).toContain(`to remove: copse cleanup ${task}\n`);
  });
});
