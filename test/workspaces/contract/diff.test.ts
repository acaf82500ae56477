import { chmodSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { openDiffs } from '../../../packages/copse/src/workspaces/git/diff.ts';
import { type DiffOptions, diffTask } from '../../../packages/copse/src/workspaces/act/diff.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';
import { BRANCH, commitAll, newTaskWorktree, write } from '../../support/workspaces/task-worktree.ts';

const area = newArea();
const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line}\n`).join('');

async function newScene() {
  const main = newRepository(area);
  write(main, {
    'a.txt': 'one\ntwo\n',
    'old name.txt': lines(20),
    'gone.txt': 'x\n',
    '.gitignore': 'secret\n',
  });
  commitAll(main, 'base');
  const worktree = path.join(main, '.worktrees', 'a "b" ü');
  git(main, 'worktree', 'add', '--quiet', '-b', BRANCH, worktree);
  const { context: known, dir, place, task, baseCommit } = await newTaskWorktree(main, worktree);
  const context = { ...known, diffs: openDiffs(dir) };
  const diff = async (options?: DiffOptions) => {
    const found = await diffTask(context, task.id, options);
    if (found.kind === 'refused') throw new Error(found.reason);
    return found;
  };
  return {
    main,
    worktree,
    commit: commitAll,
    diff,
    context,
    baseCommit,
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

describe('the diff of a task', () => {
  it('has the changes of the branch since it left the base, and none of the base since', async () => {
    await using scene = await newScene();
    const { worktree, main, commit } = scene;
    write(worktree, {
      'a.txt': 'one\n2\nthree\n',
      'nëw "q"\n.txt': 'new\n',
      'b.bin': Buffer.from([0, 1, 2]),
    });
    renameSync(path.join(worktree, 'old name.txt'), path.join(worktree, 'new name.txt'));
    rmSync(path.join(worktree, 'gone.txt'));
    symlinkSync('a.txt', path.join(worktree, 'link'));
    commit(worktree, 'work');
    write(main, { 'a.txt': 'ONE\ntwo\n', 'main.txt': 'm\n' });
    commit(main, 'main goes on');
    const found = await scene.diff();
    expect(found).toMatchObject({ from: scene.baseCommit, base: 'main', branch: 'cp-0001/work' });
    expect(found.diff.files.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
      { path: 'a.txt', from: null, change: 'modified', lines: { inserted: 2, deleted: 1 } },
      { path: 'b.bin', from: null, change: 'added', lines: null },
      { path: 'gone.txt', from: null, change: 'deleted', lines: { inserted: 0, deleted: 1 } },
      { path: 'link', from: null, change: 'added', lines: { inserted: 1, deleted: 0 } },
      { path: 'new name.txt', from: 'old name.txt', change: 'renamed', lines: { inserted: 0, deleted: 0 } },
      { path: 'nëw "q"\n.txt', from: null, change: 'added', lines: { inserted: 1, deleted: 0 } },
    ]);
    expect(found.diff).toMatchObject({ inserted: 4, deleted: 2 });
  });

  it('is a patch that gives exactly the branch when applied to the merge base', async () => {
    await using scene = await newScene();
    const { worktree, commit, main } = scene;
    write(worktree, { 'a.txt': Buffer.from('caf\xe9\n', 'latin1'), 'b.bin': Buffer.from([0, 255, 10]) });
    renameSync(path.join(worktree, 'old name.txt'), path.join(worktree, 'new name.txt'));
    commit(worktree, 'work');
    const { patch } = (await scene.diff()).diff;
    const file = path.join(area, 'the.patch');
    writeFileSync(file, patch);
    git(main, 'apply', '--index', file);
    expect(git(main, 'write-tree')).toBe(git(worktree, 'rev-parse', 'HEAD^{tree}'));
  });

  it('includes uncommitted changes, when asked, and writes nothing into the worktree', async () => {
    await using scene = await newScene();
    const { worktree, commit } = scene;
    write(worktree, { 'a.txt': 'committed\n' });
    commit(worktree, 'work');
    write(worktree, {
      'a.txt': 'edited\n',
      'untracked.txt': 'u\n',
      secret: 'ignored\n',
      'staged.txt': 's\n',
    });
    git(worktree, 'add', 'staged.txt');
    rmSync(path.join(worktree, 'gone.txt'));
    const index = path.join(git(worktree, 'rev-parse', '--git-dir'), 'index');
    const before = readFileSync(index);
    const names = async (options?: DiffOptions) =>
      (await scene.diff(options)).diff.files.map(({ path }) => path).toSorted();
    expect(await names()).toEqual(['a.txt']);
    expect(await names({ includeUncommitted: true })).toEqual([
      'a.txt',
      'gone.txt',
      'staged.txt',
      'untracked.txt',
    ]);
    const { patch } = (await scene.diff({ includeUncommitted: true })).diff;
    expect(patch.toString()).toContain('+edited');
    expect(readFileSync(index).equals(before)).toBe(true);
    expect(git(worktree, 'status', '--porcelain').split('\n').toSorted()).toEqual([
      ' D gone.txt',
      ' M a.txt',
      '?? untracked.txt',
      'A  staged.txt',
    ]);
  });

  it('is empty for a branch without commits', async () => {
    await using scene = await newScene();
    const { diff } = await scene.diff({ includeUncommitted: true });
    expect(diff).toEqual({ files: [], inserted: 0, deleted: 0, patch: Buffer.alloc(0) });
  });

  it('is refused for a task without a worktree, with the next command', async () => {
    await using scene = await newScene();
    expect(await diffTask(scene.context, brand<TaskId>('cp-zzzz'))).toEqual({
      kind: 'refused',
      because: 'no_workspace',
      reason: 'cp-zzzz has no worktree on this machine, so there is nothing to compare.',
      next: ['copse work cp-zzzz'],
    });
  });

  it('still shows the branch when the folder of the worktree is gone', async () => {
    await using scene = await newScene();
    write(scene.worktree, { 'a.txt': 'committed\n' });
    scene.commit(scene.worktree, 'work');
    rmSync(scene.worktree, { recursive: true });
    const { diff } = await scene.diff({ includeUncommitted: true });
    expect(diff.files.map(({ path }) => path)).toEqual(['a.txt']);
  });

  // promise: planted-config-inert
  it('runs no text conversion, external diff or filter that was planted, though plain git runs them', async () => {
    await using scene = await newScene();
    const { main, worktree, commit } = scene;
    write(worktree, { 'a.txt': 'changed\n', '.gitattributes': '* diff=evil filter=evil\n' });
    commit(worktree, 'work');
    write(worktree, { 'a.txt': 'changed again\n' });
    const fired = path.join(main, '.git', 'fired');
    const program = path.join(main, '.git', 'planted.sh');
    writeFileSync(program, `#!/bin/sh\necho "$*" >> '${fired}'\ncat\n`);
    chmodSync(program, 0o755);
    git(main, 'config', 'diff.evil.textconv', `'${program}' textconv`);
    git(main, 'config', 'filter.evil.clean', `'${program}' clean`);
    git(main, 'config', 'diff.external', `'${program}' external`);
    git(worktree, 'diff', 'main');
    git(worktree, 'diff', '--no-ext-diff', 'main');
    const vectors = readFileSync(fired, 'utf8');
    for (const vector of ['textconv', 'clean', 'external']) expect(vectors).toContain(vector);
    rmSync(fired);
    const { diff } = await scene.diff({ includeUncommitted: true });
    expect(diff.patch.toString()).toContain('+changed again');
    expect(existsSync(fired)).toBe(false);
  });
});
