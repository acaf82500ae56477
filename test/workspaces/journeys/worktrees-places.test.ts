/** Worktrees in repositories of every shape, and everything that can be in their way. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  type TaskDocument,
  answer,
  copse,
  git,
  newArea,
  newTasks,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { type WorkDocument, newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

describe('a worktree is made', () => {
  test('beside the others, from any current folder', async () => {
    const at = newProject(area);
    const first = await taken('First', at);
    mkdirSync(path.join(first.worktree, 'deep', 'er'), { recursive: true });
    const [{ id }] = await newTasks(['Second'], at);
    const inside = { cwd: path.join(first.worktree, 'deep', 'er') };
    const second = await answer<WorkDocument>(['work', id], inside);
    expect(second.worktree).toBe(path.join(at.cwd, '.worktrees', id));
    expect(second.base).toBe('main');
    expect(git(at.cwd, 'status', '--porcelain')).toBe('');
  });

  test('in a bare repository, from itself and from a worktree of it', async () => {
    const source = newProject(area);
    const bare = path.join(area, 'bäre.git');
    git(area, 'clone', '--quiet', '--bare', source.cwd, bare);
    const one = await taken('In the bare one', { cwd: bare });
    expect(readFileSync(path.join(one.worktree, 'tracked ü.txt'), 'utf8')).toBe('one\ntwo\n');
    const two = await taken('From a worktree', { cwd: one.worktree });
    expect(path.dirname(two.worktree)).toBe(path.dirname(one.worktree));
    writeFileSync(path.join(two.worktree, 'mine'), 'x');
    await answer(['cleanup', two.task, '--force'], { cwd: bare });
    await answer(['undo'], { cwd: bare });
    expect(readFileSync(path.join(two.worktree, 'mine'), 'utf8')).toBe('x');
  });

  test('on the branch that another clone pushed', async () => {
    const source = newProject(area);
    const clone = path.join(area, 'a clone');
    git(area, 'clone', '--quiet', source.cwd, clone);
    const { id } = await answer<TaskDocument>(['add', 'Go on'], { cwd: clone });
    const first = await answer<WorkDocument>(['work', id], { cwd: clone });
    await answer(['cleanup', id, '--force'], { cwd: clone });
    // Another machine went on with it, and this one has lost the branch.
    git(source.cwd, 'branch', first.branch);
    git(clone, 'update-ref', '-d', `refs/heads/${first.branch}`);
    git(source.cwd, 'commit', '--quiet', '--allow-empty', '--message=newer');
    const { worktree, notes } = await answer<WorkDocument>(['work', id], { cwd: clone });
    expect(notes.join()).toContain('another machine started');
    expect(git(worktree, 'rev-parse', 'HEAD')).toBe(git(source.cwd, 'rev-parse', `${id}/go-on`));
  });

  test('with a pattern for its branch that copse.yml names', async () => {
    const at = newProject(area);
    writeFileSync(path.join(at.cwd, 'copse.yml'), 'workspace:\n  branch_pattern: "work/{slug}-{task}"\n');
    const { branch, task } = await taken('Älter & größer!', at);
    expect(branch).toBe(`work/alter-grosser-${task}`);
  });

  test('in the folder that copse.yml names, which git ignores', async () => {
    const at = newProject(area);
    writeFileSync(path.join(at.cwd, 'copse.yml'), 'workspace: { worktree_dir: trees of agents }\n');
    const before = git(at.cwd, 'status', '--porcelain');
    const { worktree, task } = await taken('Elsewhere', at);
    expect(worktree).toBe(path.join(at.cwd, 'trees of agents', task));
    expect(git(at.cwd, 'status', '--porcelain')).toBe(before);
  });

  test.each([
    ['after a fetch', true],
    ['without a fetch', false],
  ])('from the base of the remote %s, as copse.yml says', async (_, isFetched) => {
    const source = newProject(area);
    const clone = path.join(area, `fetched ${isFetched}`);
    git(area, 'clone', '--quiet', source.cwd, clone);
    const old = git(clone, 'rev-parse', 'main');
    git(source.cwd, 'commit', '--quiet', '--allow-empty', '--message=newer');
    writeFileSync(path.join(clone, 'copse.yml'), `workspace: { fetch_before_setup: ${isFetched} }\n`);
    const { worktree } = await taken('Begin', { cwd: clone });
    const expected = isFetched ? git(source.cwd, 'rev-parse', 'main') : old;
    expect(git(worktree, 'rev-parse', 'HEAD')).toBe(expected);
  });
});

describe('a worktree is not made', () => {
  test('for a task that waits, and names what it waits for', async () => {
    const at = newProject(area);
    const [{ id: first }] = await newTasks(['First'], at);
    const { id } = await answer<TaskDocument>(['add', 'Second', '--depends', first], at);
    const { code, stderr } = await copse(['work', id], at);
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(first) as string });
    expect(existsSync(path.join(at.cwd, '.worktrees', id))).toBe(false);
  });

  test('before there is a commit to begin from', async () => {
    const cwd = path.join(area, 'empty one');
    mkdirSync(cwd);
    git(cwd, 'init', '--quiet', '--initial-branch=main');
    const [{ id }] = await newTasks(['Too early'], { cwd });
    const { code, stderr } = await copse(['work', id], { cwd });
    expect(code).toBe(4);
    expect(stderr).toContain('has no commit');
    expect(stderr).toContain('git commit');
    git(cwd, 'commit', '--quiet', '--allow-empty', '--message=first');
    expect(await answer(['work', id], { cwd })).toMatchObject({ task: id, reused: false });
  });

  test('when its branch is checked out elsewhere, and names the path', async () => {
    const at = newProject(area);
    const [{ id }] = await newTasks(['Taken'], at);
    await answer(['work', id], at);
    await answer(['cleanup', id, '--force'], at);
    git(at.cwd, 'switch', '--quiet', '--force-create', `${id}/taken`);
    const { code, stderr } = await copse(['work', id], at);
    expect(code).toBe(4);
    expect(stderr).toContain(`The branch ${id}/taken of ${id} is checked out at ${at.cwd}.`);
    git(at.cwd, 'switch', '--quiet', 'main');
    expect(await answer(['work', id], at)).toMatchObject({ branch: `${id}/taken` });
  });

  test('under its usual name when a branch has the name of the folder it needs', async () => {
    const at = newProject(area);
    const [{ id }] = await newTasks(['Blocked'], at);
    git(at.cwd, 'branch', id);
    expect(await answer(['work', id], at)).toMatchObject({ task: id, branch: `${id}-blocked` });
  });

  test('for an argument that is no task', async () => {
    const at = newProject(area);
    await newTasks(['Some'], at);
    const others = ['cleanup', 'undo', 'sync', 'diff', 'rescue list', 'rescue move'];
    const argvs = [
      ...['zzzz', '../x', '$(id)', 'refs/heads/main', '\u001b[2J'].map((word) => ['work', word]),
      ...others.map((command) => command.split(' ').concat('../\u001b[2J')),
    ];
    const all = await Promise.all(argvs.map((argv) => copse(argv, at)));
    for (const [index, { code, stdout, stderr }] of all.entries()) {
      const argv = argvs[index];
      expect({ argv, code, stdout }).toEqual({ argv, code: 3, stdout: '' });
      expect(stderr).not.toContain('\u001b');
    }
  });
});

describe('inside a worktree', () => {
  test('sync and diff need no id, and outside they ask for one', async () => {
    const at = newProject(area);
    const { task, worktree, branch } = await taken('Here', at);
    writeFileSync(path.join(worktree, 'new'), 'mine\n');
    git(worktree, 'add', 'new');
    git(worktree, 'commit', '--quiet', '--message=mine');
    writeFileSync(path.join(at.cwd, 'theirs'), 'theirs\n');
    git(at.cwd, 'add', 'theirs');
    git(at.cwd, 'commit', '--quiet', '--message=theirs');
    mkdirSync(path.join(worktree, 'sub'));
    const inside = { cwd: path.join(worktree, 'sub') };
    const before = git(worktree, 'rev-parse', 'HEAD');
    expect(await answer(['sync'], inside)).toMatchObject({ task, synced: 'rebased', base: 'main' });
    // The history stays linear, as the queue makes it, and a ref keeps the commits as they were.
    expect(git(worktree, 'log', '--format=%s', '--topo-order').split('\n').slice(0, 2)).toEqual([
      'mine',
      'theirs',
    ]);
    expect(git(worktree, 'for-each-ref', '--points-at', before, `refs/copse/keep/${task}`)).not.toBe('');
    expect(git(worktree, 'status', '--porcelain', '--untracked-files=no')).toBe('');
    expect(readFileSync(path.join(worktree, 'theirs'), 'utf8')).toBe('theirs\n');
    expect(await answer(['sync'], inside)).toMatchObject({ task, synced: 'up_to_date' });
    const diff = await answer<{ files: readonly { path: string }[] }>(['diff'], inside);
    expect(diff).toMatchObject({ task, branch, inserted: 1, deleted: 0 });
    expect(diff.files.map((file) => file.path)).toEqual(['new']);
    for (const command of ['sync', 'diff']) {
      const { code, stderr } = await copse([command], at);
      expect(code).toBe(2);
      expect(stderr).toContain('No task given, and');
    }
  });

  test('a conflict is not written into the worktree unless asked for', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Conflict', at);
    for (const [folder, text] of [
      [worktree, 'mine\n'],
      [at.cwd, 'theirs\n'],
    ] as const) {
      writeFileSync(path.join(folder, 'tracked ü.txt'), text);
      git(folder, 'commit', '--quiet', '--all', '--message=change');
    }
    const { code, stderr } = await copse(['sync', task], at);
    expect(code).toBe(4);
    expect(stderr).toContain('tracked ü.txt');
    expect(git(worktree, 'status', '--porcelain')).toBe('');
    expect(await answer(['sync', task, '--conflict'], at)).toMatchObject({ synced: 'conflict_left' });
    expect(git(worktree, 'status', '--porcelain')).toContain('UU');
  });

  test('diff prints a patch that git applies, byte for byte, committed or not', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Patch', at);
    // Not UTF-8, with lines that end in many ways.
    writeFileSync(path.join(worktree, 'latin'), Buffer.from([0xe9, 0x0a, 0xff, 0x0d, 0x0a, 0xe8]));
    git(worktree, 'add', '.');
    git(worktree, 'commit', '--quiet', '--message=latin');
    writeFileSync(path.join(worktree, 'later'), Buffer.from([0, 1, 2]));
    expect(await printed(['diff', task, '--stat'], at)).toContain('latin');
    expect(await printed(['diff', task, '--stat'], at)).not.toContain('later');
    const summary = await printed(['diff', task, '--stat', '--uncommitted'], at);
    expect(summary).toContain('later');
    const patch = await bytesOf(['diff', task, '--uncommitted'], at.cwd);
    const file = path.join(area, 'a.patch');
    writeFileSync(file, patch);
    git(at.cwd, 'apply', file);
    for (const name of ['latin', 'later']) {
      expect(readFileSync(path.join(at.cwd, name))).toEqual(readFileSync(path.join(worktree, name)));
    }
  });
});

describe('copse worktrees', () => {
  test('lists the facts of each of them', async () => {
    const at = newProject(area);
    expect(await answer(['worktrees'], at)).toEqual({ worktrees: [] });
    const { task, worktree, branch } = await taken('Listed', at);
    writeFileSync(path.join(worktree, 'one'), '');
    git(worktree, 'add', '.');
    git(worktree, 'commit', '--quiet', '--message=mine');
    writeFileSync(path.join(worktree, 'two'), '');
    const facts = { task, worktree, branch, status: 'active', ahead: 1, uncommitted: 1 };
    expect(await answer(['worktrees'], at)).toMatchObject({
      worktrees: [{ ...facts, taskStatus: 'in_progress', operation: null, why: null }],
    });
    expect(await printed(['worktrees'], at)).toMatch(
      new RegExp(
        `^${task} ACTIVE \\(\\d+s\\) Listed\n {6}task in progress · ${branch} · 1 ahead · 1 uncommitted\n {6}/`,
      ),
    );
    git(worktree, 'checkout', '--quiet', '--detach');
    expect(await answer(['worktrees'], at)).toMatchObject({ worktrees: [{ task, branch: null }] });
  });

  test('say what is ready to merge, and call none active whose task is over', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Ready', at);
    writeFileSync(path.join(worktree, 'one'), 'x'.repeat(10_000));
    expect(await answer(['worktrees'], at)).toMatchObject({ worktrees: [{ isReadyToMerge: false }] });
    git(worktree, 'add', '.');
    git(worktree, 'commit', '--quiet', '--message=mine');
    await answer(['finish', task], at);
    await answer(['queue', 'cancel', task], at);
    expect(await answer(['worktrees'], at)).toMatchObject({
      worktrees: [{ isReadyToMerge: true, taskStatus: 'in_review', status: 'committed' }],
    });
    expect(await printed(['worktrees'], at)).toContain(`0 uncommitted · in review: copse review ${task}\n`);
    await answer(['cancel', task], at);
    writeFileSync(path.join(worktree, 'two'), '');
    expect(await answer(['worktrees', '--size'], at)).toMatchObject({
      worktrees: [
        {
          title: 'Ready',
          status: 'left_over',
          taskStatus: 'cancelled',
          size: { isWhole: true, bytes: expect.any(Number) as number },
        },
      ],
    });
    expect(await printed(['worktrees'], at)).toContain(`1 uncommitted · to remove: copse cleanup ${task}\n`);
  });

  test('fit a terminal of 80 columns, broken between facts', async () => {
    const at = newProject(area);
    const { task, branch, worktree } = await taken(
      'Rename the loader of the configuration everywhere it is',
      at,
    );
    const text = await printed(['worktrees', '--size'], { ...at, terminal: { columns: 80, rows: 24 } });
    expect(text.replace(/\(\d+s\)/, '(0s)')).toBe(
      [
        `${task} ACTIVE (0s) Rename the loader of the configuration everywhere it is`,
        `      task in progress · ${branch} · 0 ahead`,
        '      0 uncommitted · less than 1 MB',
        `      ${worktree}\n`,
      ].join('\n'),
    );
  });

  test('are, with --all, also those that Copse did not make, marked as such', async () => {
    const at = newProject(area);
    const { worktree } = await taken('Ours', at);
    const other = path.join(area, 'somebody else’s');
    git(at.cwd, 'worktree', 'add', '--quiet', '--detach', other);
    expect(await printed(['worktrees'], at)).not.toContain(other);
    expect(await answer(['worktrees', '--all'], at)).toMatchObject({
      worktrees: [{ worktree }],
      others: [{ worktree: other, kind: 'not_managed' }],
    });
    expect(await printed(['worktrees', '--all'], at)).toContain(
      `NOT MANAGED, not created by Copse\n      ${other}`,
    );
  });

  test('are also those of tasks that were deleted, which can be cleaned up by their id', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Deleted', at);
    writeFileSync(path.join(worktree, 'mine'), 'x');
    await answer(['cleanup', task, '--force'], at);
    await answer(['undo', task], at);
    await answer(['delete', task, '--keep-worktree', '--yes'], at);
    expect(await answer(['worktrees'], at)).toMatchObject({ worktrees: [{ task, taskStatus: null }] });
    expect(await answer(['cleanup'], at)).toMatchObject({ removed: [], kept: [{ task }] });
    expect(await answer(['cleanup', task, '--force'], at)).toMatchObject({ removed: [{ task }] });
  });
});

async function bytesOf(argv: readonly string[], cwd: string): Promise<Buffer> {
  const child = startCopse(argv, { cwd });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => child.on('close', resolve));
  return Buffer.concat(chunks);
}
