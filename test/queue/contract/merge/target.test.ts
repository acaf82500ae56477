/** INVARIANTS 10, 19, 21 and 25: how the target moves, and what a move never does to a checkout of it. */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { findRepository } from '../../../../packages/copse/src/git/directory/locate.ts';
import { type MergingOptions, openMerging } from '../../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type BranchName, type CommitId, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import type { TargetMove } from '../../../../packages/copse/src/queue/ports/merging.ts';
import { syncSteps } from '../../../../packages/copse/src/workspaces/ports/worktrees.ts';
import { git, newArea, plainEnv } from '../../../support/cli.ts';
import { type Files, MergeScene, putFiles } from '../../../support/queue/merging.ts';
import { bundleWorker } from '../../../support/agents/worker-program.ts';

const area = newArea();
const worker = bundleWorker(new URL('../../../support/queue/target-worker.ts', import.meta.url));

interface Prepared {
  readonly scene: MergeScene;
  readonly from: CommitId;
  readonly to: CommitId;
  readonly move: (options?: Partial<Readonly<Record<'from' | 'to', CommitId>>>) => Promise<TargetMove>;
}

/** Something lands that changes, adds and deletes a file. */
async function prepared(options: MergingOptions = {}, landing: Files = LANDING): Promise<Prepared> {
  const scene = new MergeScene(area, options);
  const from = scene.commit('main', {
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    'gone.txt': 'gone\n',
    '.gitignore': '*.log\n',
  });
  scene.commit('task', landing);
  const built = await scene.build('task');
  if (built.kind !== 'built') throw new Error(JSON.stringify(built));
  const to = built.commit;
  const move: Prepared['move'] = (other) =>
    scene.merging.moveTarget({ target: brand('main'), from, to, ...other });
  return { scene, from, to, move };
}

const LANDING = { 'a.txt': 'landed\n', 'new/d ü.txt': 'd\n', 'gone.txt': null } as const satisfies Files;

/** All that a refused move must leave as it was. */
function everything(checkout: string): readonly string[] {
  return [
    git(checkout, 'rev-parse', 'HEAD', 'main'),
    git(checkout, 'ls-files', '--stage'),
    git(checkout, 'status', '--porcelain', '--ignored', '--untracked-files=all', '--', '.', ':!.copse'),
    git(checkout, 'diff', 'HEAD'),
  ];
}

const status = (checkout: string) => git(checkout, 'status', '--porcelain', '--', '.', ':!.copse');

describe('without a checkout of the target', () => {
  // promise: compare-and-swap
  it('moves it from exactly the recorded tip, with a reflog entry; a repeat has no effect', async () => {
    const { scene, from, to, move } = await prepared();
    expect(await move()).toEqual({ kind: 'moved' });
    expect(scene.tip('main')).toBe(to);
    expect(git(scene.top, 'reflog', '-1', '--format=%gs', 'main')).toBe('copse: lands');
    expect(await move()).toEqual({ kind: 'moved' });
    git(scene.top, 'update-ref', 'refs/heads/main', from);
    const foreign = scene.commit('main', { 'x.txt': 'x\n' });
    expect(await move()).toEqual({ kind: 'changed', tip: foreign });
    expect(scene.tip('main')).toBe(foreign);
    git(scene.top, 'branch', '--quiet', '-D', 'main');
    expect(await move()).toEqual({ kind: 'changed', tip: null });
  });

  // promise: compare-and-swap
  it('never moves it to a commit that does not contain its tip', async () => {
    const { scene, from, move } = await prepared();
    const aside = scene.commit('aside', { 'x.txt': 'x\n' });
    await move();
    await expect(move({ from: scene.tip('main'), to: aside })).rejects.toThrow('does not contain');
    expect(await move({ from: scene.tip('main'), to: from }).catch(() => 'refused')).toBe('refused');
  });

  it('moves it in a bare repository, whose HEAD is the target', async () => {
    const { scene, from, to } = await prepared();
    const bare = path.join(area, 'bare.git');
    git(area, 'clone', '--quiet', '--bare', scene.top, bare);
    git(bare, 'fetch', '--quiet', scene.top, `${to}:refs/heads/candidate`);
    git(bare, 'symbolic-ref', 'HEAD', 'refs/heads/main');
    const merging = openMerging(openTrustedDir(findRepository(bare)!));
    expect(await merging.moveTarget({ target: brand('main'), from, to })).toEqual({
      kind: 'moved',
    });
    expect(git(bare, 'rev-parse', 'main')).toBe(to);
    await merging.close();
  });

  it('a worktree that was deleted by hand does not count, unless it is locked', async () => {
    const { scene, move } = await prepared();
    const linked = path.join(area, 'deleted by hand');
    git(scene.top, 'worktree', 'add', '--quiet', linked, 'main');
    renameSync(linked, `${linked} away`);
    git(scene.top, 'worktree', 'lock', linked);
    expect(await move()).toMatchObject({ kind: 'busy', checkout: linked });
    git(scene.top, 'worktree', 'unlock', linked);
    expect(await move()).toEqual({ kind: 'moved' });
  });
});

/** The two kinds of checkout that can have it. */
const checkouts: Readonly<Record<string, (scene: MergeScene) => string>> = {
  'the main checkout': (scene) => (git(scene.top, 'switch', '--quiet', 'main'), scene.top),
  'a linked worktree': (scene) => {
    const linked = path.join(area, `linked to ${path.basename(scene.top)}`);
    git(scene.top, 'worktree', 'add', '--quiet', linked, 'main');
    return linked;
  },
};

describe.each(Object.entries(checkouts))('when %s has the target', (_, checkOut) => {
  // promise: checkout-untouched
  it('files, branch and index move together, and other uncommitted changes stay', async () => {
    const { scene, to, move } = await prepared();
    const checkout = checkOut(scene);
    putFiles(checkout, { 'b.txt': 'staged\n', 'other.txt': 'untracked\n', 'x.log': 'ignored\n' });
    git(checkout, 'add', 'b.txt');
    putFiles(checkout, { 'b.txt': 'staged\nand edited\n' });
    const before = status(checkout);
    expect(await move()).toEqual({ kind: 'moved' });
    expect([scene.tip('main'), status(checkout)]).toEqual([to, before]);
    expect(git(checkout, 'show', ':b.txt')).toBe('staged');
    expect(readFileSync(path.join(checkout, 'new/d ü.txt'), 'utf8')).toBe('d\n');
    expect(existsSync(path.join(checkout, 'gone.txt'))).toBe(false);
    // The next commit there takes nothing back.
    git(checkout, 'commit', '--quiet', '--message=next');
    expect(git(checkout, 'diff', '--name-only', to, 'HEAD')).toBe('b.txt');
    expect(await move()).toMatchObject({ kind: 'changed' });
  });

  // promise: checkout-untouched
  it.each([
    ['an edit', { 'a.txt': 'mine\n' }, 'a.txt'],
    ['an untracked file', { 'new/d ü.txt': 'mine\n' }, 'new/d ü.txt'],
    ['an edit of what goes', { 'gone.txt': 'mine\n' }, 'gone.txt'],
  ] as const)('%s that blocks it is named, and nothing moves', async (_, files: Files, file) => {
    const { scene, move } = await prepared();
    const checkout = checkOut(scene);
    putFiles(checkout, files);
    const before = everything(checkout);
    expect(await move()).toEqual({ kind: 'in_the_way', checkout, files: [file] });
    expect(everything(checkout)).toEqual(before);
    expect(existsSync(path.join(git(checkout, 'rev-parse', '--absolute-git-dir'), 'index.lock'))).toBe(false);
  });

  it('the branch lock of a killed git does not stop the move', async () => {
    const { scene, to, move } = await prepared();
    const checkout = checkOut(scene);
    const lock = path.join(scene.top, '.git', 'refs', 'heads', 'main.lock');
    writeFileSync(lock, '');
    const longAgo = Date.now() / 1000 - 3600;
    utimesSync(lock, longAgo, longAgo);
    expect(await move()).toEqual({ kind: 'moved' });
    expect([scene.tip('main'), status(checkout), existsSync(lock)]).toEqual([to, '', false]);
  });

  it('a merge or rebase in progress, and a lock, are waited for', async () => {
    const { scene, move } = await prepared();
    const checkout = checkOut(scene);
    const gitDir = git(checkout, 'rev-parse', '--absolute-git-dir');
    const busy = { kind: 'busy', checkout };
    writeFileSync(path.join(gitDir, 'MERGE_HEAD'), `${scene.tip('task')}\n`);
    expect(await move()).toMatchObject({ ...busy, reason: expect.stringContaining('in progress') });
    rmSync(path.join(gitDir, 'MERGE_HEAD'));
    writeFileSync(path.join(gitDir, 'index.lock'), '');
    expect(await move()).toMatchObject({ ...busy, reason: expect.stringContaining('index.lock') });
    rmSync(path.join(gitDir, 'index.lock'));
    git(checkout, 'switch', '--quiet', '--detach');
    mkdirSync(path.join(gitDir, 'rebase-merge'));
    writeFileSync(path.join(gitDir, 'rebase-merge', 'head-name'), 'refs/heads/main\n');
    expect(await move()).toMatchObject({ ...busy, reason: expect.stringContaining('rebase of main') });
    rmSync(path.join(gitDir, 'rebase-merge'), { recursive: true });
    expect(await move()).toEqual({ kind: 'moved' });
  });

  it('an unusable index is waited for, and the files of the checkout stay', async () => {
    const { scene, from, move } = await prepared();
    const checkout = checkOut(scene);
    const index = path.join(git(checkout, 'rev-parse', '--absolute-git-dir'), 'index');
    const kept = readFileSync(index);
    writeFileSync(index, 'nonsense');
    expect(await move()).toMatchObject({
      kind: 'busy',
      reason: expect.stringContaining('index'),
    });
    expect(scene.tip('main')).toBe(from);
    writeFileSync(index, kept);
    expect(await move()).toEqual({ kind: 'moved' });
    expect(status(checkout)).toBe('');
  });

  // promise: foreign-moves-kept
  it('a simultaneous move by another process wins, and the files go back', async () => {
    const foreign: { commit?: string } = {};
    const { scene, from, move } = await prepared({
      onStep: (step) => {
        if (step === 'files_written') git(scene.top, 'update-ref', 'refs/heads/main', foreign.commit ?? '');
      },
    });
    const checkout = checkOut(scene);
    foreign.commit = git(scene.top, 'commit-tree', '-p', from, '-m', 'x', `${from}^{tree}`);
    expect(await move()).toEqual({ kind: 'changed', tip: foreign.commit });
    expect(status(checkout)).toBe('');
    expect(readFileSync(path.join(checkout, 'a.txt'), 'utf8')).toBe('a\n');
  });

  // promise: checkout-untouched
  it('a simultaneous move by another process wins, and an edit made meanwhile stays', async () => {
    const edited = 'mine\n';
    // As short as the beginning of a file that git was interrupted in.
    expect(edited.length).toBeLessThan(LANDING['a.txt'].length);
    const meanwhile: { commit?: string; checkout?: string } = {};
    const { scene, from, move } = await prepared({
      onStep: (step) => {
        if (step !== 'files_written') return;
        putFiles(meanwhile.checkout ?? '', { 'a.txt': edited });
        git(scene.top, 'update-ref', 'refs/heads/main', meanwhile.commit ?? '');
      },
    });
    meanwhile.checkout = checkOut(scene);
    meanwhile.commit = git(scene.top, 'commit-tree', '-p', from, '-m', 'x', `${from}^{tree}`);
    expect(await move()).toEqual({ kind: 'changed', tip: meanwhile.commit });
    expect(readFileSync(path.join(meanwhile.checkout, 'a.txt'), 'utf8')).toBe(edited);
    // All other files went back.
    expect(status(meanwhile.checkout)).toBe(' M a.txt');
  });

  it.each(syncSteps)(
    'killed at %s, no commit holds half of it, and the next call finishes it',
    async (step) => {
      const { scene, from, to, move } = await prepared();
      const checkout = checkOut(scene);
      putFiles(checkout, { 'b.txt': 'staged\n', 'other.txt': 'untracked\n' });
      git(checkout, 'add', 'b.txt');
      const before = status(checkout);
      const child = spawn(process.execPath, [worker.file, scene.top, from, to, step], {
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...plainEnv, ...worker.env },
      });
      expect(await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))).toBe('SIGKILL');
      if (step !== 'index_written')
        expect(() => git(checkout, 'commit', '--quiet', '--message=half')).toThrow('index.lock');
      expect(await move()).toEqual({ kind: 'moved' });
      expect([scene.tip('main'), status(checkout)]).toEqual([to, before]);
      git(checkout, 'commit', '--quiet', '--message=next');
      expect(git(checkout, 'diff', '--name-only', to, 'HEAD')).toBe('b.txt');
    },
  );
});

it('a main checkout with its git directory elsewhere is found by the given path, or waited for', async () => {
  const checkout = path.join(area, 'apart');
  git(
    area,
    'init',
    '--quiet',
    '--initial-branch=main',
    `--separate-git-dir=${path.join(area, 'apart git')}`,
    checkout,
  );
  const commit = (text: string) => {
    putFiles(checkout, { 'a.txt': text });
    git(checkout, 'add', 'a.txt');
    git(checkout, 'commit', '--quiet', `--message=${text.trim()}`);
    return brand<CommitId>(git(checkout, 'rev-parse', 'HEAD'));
  };
  const [from, to] = [commit('one\n'), commit('two\n')];
  git(checkout, 'reset', '--quiet', '--hard', from);
  const dir = openTrustedDir(findRepository(checkout)!);
  const request = { target: brand<BranchName>('main'), from, to };
  expect(await openMerging(dir).moveTarget(request)).toMatchObject({ kind: 'busy' });
  expect(await openMerging(dir, { mainCheckout: checkout }).moveTarget(request)).toEqual({ kind: 'moved' });
  expect(git(checkout, 'status', '--porcelain')).toBe('');
  expect(readFileSync(path.join(checkout, 'a.txt'), 'utf8')).toBe('two\n');
});

it('two checkouts of the target are refused: one of them would be left behind', async () => {
  const { scene, from, move } = await prepared();
  git(scene.top, 'switch', '--quiet', 'main');
  const second = path.join(area, 'second');
  git(scene.top, 'worktree', 'add', '--quiet', '--force', second, 'main');
  expect(await move()).toMatchObject({ kind: 'busy', checkout: second });
  expect(scene.tip('main')).toBe(from);
  git(second, 'switch', '--quiet', '--detach');
  expect(await move()).toEqual({ kind: 'moved' });
});

it('while one process moves it, another waits', async () => {
  const said: string[] = [];
  const argv: string[] = [];
  const { scene, from, to, move } = await prepared({
    onStep: (step) => {
      if (step !== 'files_written') return;
      said.push(execFileSync(process.execPath, argv, { encoding: 'utf8', env: plainEnv }));
    },
  });
  git(scene.top, 'switch', '--quiet', 'main');
  argv.push(worker.file, scene.top, from, scene.commit('other', { 'x.txt': 'x\n' }));
  expect(await move()).toEqual({ kind: 'moved' });
  expect(JSON.parse(said.join(''))).toMatchObject({ kind: 'busy' });
  expect([scene.tip('main'), status(scene.top)]).toEqual([to, '']);
});

// promise: compare-and-swap, foreign-moves-kept
it('many at once: one moves it, the others wait or find it changed', async () => {
  const { scene, from, to, move } = await prepared();
  git(scene.top, 'switch', '--quiet', 'main');
  const other = scene.commit('other', { 'x.txt': 'x\n' });
  const outcomes = await Promise.all([move(), move({ to: other }), move(), move({ to: other })]);
  expect([to, other]).toContain(scene.tip('main'));
  expect(scene.tip('main')).not.toBe(from);
  for (const outcome of outcomes) {
    if (outcome.kind !== 'moved') expect(['busy', 'changed']).toContain(outcome.kind);
  }
  expect(status(scene.top)).toBe('');
});
