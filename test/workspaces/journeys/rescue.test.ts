/** What was rescued can be looked at and put back, never over anything newer. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { answer, copse, git, newArea, newTasks, printed } from '../../support/cli.ts';
import { everyByte, makeAMess, newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

interface RescueDocument {
  readonly ref: string;
  readonly task: string;
  readonly why: string;
  readonly changed: number;
}

const list = async (at: { readonly cwd: string }, ...words: readonly string[]) =>
  (await answer<{ rescues: readonly RescueDocument[] }>(['rescue', 'list', ...words], at)).rescues;

describe('copse rescue', () => {
  test('lists rescues, the latest first, for one task or for all', async () => {
    const at = newProject(area);
    expect(await list(at)).toEqual([]);
    const one = await taken('One', at);
    const two = await taken('Two', at);
    for (const { task, worktree } of [one, two]) {
      writeFileSync(path.join(worktree, `only in ${task}`), task);
      await answer(['cleanup', task, '--force'], at);
    }
    expect((await list(at)).map(({ task }) => task)).toEqual([two.task, one.task]);
    const [rescue] = await list(at, one.task);
    expect(rescue).toMatchObject({ task: one.task, why: 'removal', changed: 1 });
    expect(await printed(['rescue', 'show', one.task], at)).toContain(`only in ${one.task}`);
    expect(await answer(['rescue', 'show', rescue?.ref ?? ''], at)).toMatchObject({
      ref: rescue?.ref,
      changes: [{ path: `only in ${one.task}` }],
    });
  });

  test('lists commits that no branch or tag reaches, and how to restore them', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Throw away', at);
    git(worktree, 'commit', '--quiet', '--allow-empty', '--message=a "good" idea');
    const commit = git(worktree, 'rev-parse', 'HEAD');
    const other = await taken('Keep', at);
    git(other.worktree, 'commit', '--quiet', '--allow-empty', '--message=kept');
    await answer(['cleanup', task, '--force', '--delete-branch'], at);
    await answer(['cleanup', other.task, '--force'], at);
    git(at.cwd, 'update-ref', 'refs/copse/keep/made-up/by-somebody', 'main');
    const kept = { kept: [{ task, commit, subject: 'a "good" idea' }], rescues: [] };
    expect(await answer(['rescue', 'list'], at)).toMatchObject(kept);
    expect(await answer(['rescue', 'list', other.task], at)).toEqual({ kept: [], rescues: [] });
    expect(await printed(['rescue', 'list'], at)).toContain(`git branch <name> ${commit}`);
    git(at.cwd, 'branch', 'again', commit);
    expect(await answer(['rescue', 'list'], at)).toEqual({ kept: [], rescues: [] });
  });

  test('refuses a prefix of a ref that fits several or none', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Often', at);
    for (const text of ['one', 'two']) {
      writeFileSync(path.join(worktree, 'file'), text);
      await answer(['cleanup', task, '--force'], at);
      await answer(['work', task], at);
    }
    for (const command of ['show', 'restore']) {
      const several = await copse(['rescue', command, task], at);
      expect(several.code).toBe(2);
      expect(several.stderr).toContain('more than one rescue');
      for (const { ref } of await list(at)) expect(several.stderr).toContain(ref);
      for (const word of ['nonsense', '', '../../heads/main', 'HEAD']) {
        expect((await copse(['rescue', command, word], at)).code).toBe(3);
      }
    }
  });

  test('restores files, staged or not, into a worktree that is made again for them', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Back', at);
    makeAMess(worktree);
    const before = everyByte(worktree);
    await answer(['cleanup', task, '--force'], at);
    const [rescue] = await list(at, task);
    expect(await answer(['rescue', 'restore', rescue?.ref ?? ''], at)).toMatchObject({ task, worktree });
    const after = everyByte(worktree);
    // What git ignores is in the trash, for undo, and not in the rescue.
    const ignored = new Set(['build.log', 'cache', 'cache/deep', 'cache/deep/object', '(status)']);
    for (const [name, content] of Object.entries(before)) {
      if (!ignored.has(name)) expect({ name, content: after[name] }).toEqual({ name, content });
    }
    expect(existsSync(path.join(worktree, 'build.log'))).toBe(false);
    expect(await answer(['rescue', 'restore', rescue?.ref ?? ''], at)).toMatchObject({ files: 0 });
  });

  // promise: restore-overwrites-nothing
  test('restores nothing over a newer file, and names the files that block it', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Newer', at);
    makeAMess(worktree);
    await answer(['cleanup', task, '--force'], at);
    await answer(['work', task], at);
    writeFileSync(path.join(worktree, 'bytes'), 'newer');
    const { code, stderr } = await copse(['rescue', 'restore', task], at);
    expect(code).toBe(4);
    expect(stderr).toContain('  bytes\n');
    expect(readFileSync(path.join(worktree, 'bytes'), 'utf8')).toBe('newer');
    expect(git(worktree, 'status', '--porcelain')).toBe('?? bytes');
  });

  test('restores into another checkout of the repository when asked, and into no other folder', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Elsewhere', at);
    writeFileSync(path.join(worktree, 'tracked ü.txt'), 'changed\n');
    await answer(['cleanup', task, '--force'], at);
    const other = path.join(area, 'my own worktree');
    git(at.cwd, 'worktree', 'add', '--quiet', '--detach', other, 'main');
    mkdirSync(path.join(area, 'no checkout'));
    for (const folder of [path.join(area, 'no checkout'), newProject(area).cwd, path.join(area, 'absent')]) {
      expect((await copse(['rescue', 'restore', task, '--into', folder], at)).code).toBe(3);
    }
    expect(await answer(['rescue', 'restore', task, '--into', other], at)).toMatchObject({ worktree: other });
    expect(readFileSync(path.join(other, 'tracked ü.txt'), 'utf8')).toBe('changed\n');
    expect(git(at.cwd, 'status', '--porcelain')).toBe('');
  });

  // promise: escape-reported
  test('moves changes of the main checkout into the worktree', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Escaped', at);
    mkdirSync(path.join(at.cwd, 'sub'));
    writeFileSync(path.join(at.cwd, 'sub', 'new'), 'in the wrong place\n');
    writeFileSync(path.join(at.cwd, 'tracked ü.txt'), 'changed\n');
    writeFileSync(path.join(at.cwd, 'not asked for'), 'stays\n');
    const from = { cwd: path.join(at.cwd, 'sub') };
    const moved = await answer<{ moved: readonly string[] }>(
      ['rescue', 'move', task, 'new', '../tracked ü.txt'],
      from,
    );
    expect(moved.moved.toSorted()).toEqual(['sub/new', 'tracked ü.txt']);
    expect(readFileSync(path.join(worktree, 'sub', 'new'), 'utf8')).toBe('in the wrong place\n');
    expect(git(at.cwd, 'status', '--porcelain', '--untracked-files=all')).toBe('?? "not asked for"');
    expect((await copse(['rescue', 'move', task, '../../outside'], from)).code).toBe(2);
  });
});

describe('copse undo', () => {
  // promise: restore-overwrites-nothing
  test('sets the newer worktree at its path aside, and can be undone itself', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Replaced', at);
    makeAMess(worktree);
    await answer(['cleanup', task, '--force'], at);
    await answer(['work', task], at);
    writeFileSync(path.join(worktree, 'since then'), 'x');
    await answer(['undo', task], at);
    expect(existsSync(path.join(worktree, 'since then'))).toBe(false);
    // An undo can be undone as well.
    await answer(['undo', task], at);
    expect(readFileSync(path.join(worktree, 'since then'), 'utf8')).toBe('x');
  });

  test('says that there is nothing to undo', async () => {
    const at = newProject(area);
    const [{ id }] = await newTasks(['Never touched'], at);
    for (const words of [[], [id]]) {
      const { code, stderr } = await copse(['undo', ...words], at);
      expect(code).toBe(3);
      expect(stderr).toContain('copse rescue list');
    }
  });
});
