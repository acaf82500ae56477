/** Pushing what landed, and committing for an agent that did not. */

import { mkdirSync, readFileSync, rmSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { findRepository } from '../../../../packages/copse/src/git/directory/locate.ts';
import { type MergingOptions, openMerging } from '../../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type BranchName, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import type { Merging } from '../../../../packages/copse/src/queue/ports/merging.ts';
import { git, newArea } from '../../../support/cli.ts';
import { MergeScene, putFiles } from '../../../support/queue/merging.ts';

const area = newArea();
const main = brand<BranchName>('main');
const task = brand<BranchName>('task');

/** Opened after its remote was set, so that the address is one that Copse accepts. */
function withRemote(address: (scene: MergeScene) => string, options: MergingOptions = {}) {
  const scene = new MergeScene(area);
  scene.commit('main', { 'a.txt': 'a\n' });
  rmSync(path.join(scene.top, '.copse', 'git'), { recursive: true });
  git(scene.top, 'remote', 'add', 'origin', address(scene));
  const merging = openMerging(openTrustedDir(findRepository(scene.top)!), options);
  return { scene, merging, push: () => merging.push(main, scene.tip('main')) };
}

function bare(scene: MergeScene): string {
  const remote = path.join(area, `remote of ${path.basename(scene.top)}.git`);
  git(area, 'clone', '--quiet', '--bare', scene.top, remote);
  return `file://${remote}`;
}

describe('a push', () => {
  it('moves the remote branch and the tracking ref, and may be repeated', async () => {
    const { scene, push } = withRemote(bare);
    const landed = scene.commit('main', { 'a.txt': 'landed\n' });
    expect(await push()).toEqual({ kind: 'pushed' });
    expect(git(scene.top, 'ls-remote', 'origin', 'refs/heads/main')).toContain(landed);
    expect(scene.tip('refs/remotes/origin/main')).toBe(landed);
    expect(await push()).toEqual({ kind: 'pushed' });
  });

  // promise: compare-and-swap, foreign-moves-kept
  it('is never forced: a remote branch with newer commits refuses it', async () => {
    const { scene, push } = withRemote(bare);
    const theirs = scene.commit('theirs', { 'x.txt': 'x\n' });
    git(scene.top, 'push', '--quiet', 'origin', 'theirs:main');
    scene.commit('main', { 'a.txt': 'landed\n' });
    expect(await push()).toEqual({
      kind: 'failed',
      because: 'rejected',
      reason: expect.stringMatching(/^origin did not take main: .*(fetch first|non-fast-forward)/),
    });
    expect(git(scene.top, 'ls-remote', 'origin', 'refs/heads/main')).toContain(theirs);
  });

  // promise: compare-and-swap, foreign-moves-kept
  it('is refused when the remote branch was forced back behind the recorded tip', async () => {
    const { scene, merging, push } = withRemote(bare);
    const before = scene.tip('main');
    const from = scene.commit('main', { 'a.txt': 'landed\n' });
    expect(await push()).toEqual({ kind: 'pushed' });
    git(scene.top, 'push', '--quiet', '--force', 'origin', `${before}:refs/heads/main`);
    const to = scene.commit('main', { 'a.txt': 'landed next\n' });
    expect(await merging.push(main, to, from)).toMatchObject({ kind: 'failed', because: 'moved' });
    expect(git(scene.top, 'ls-remote', 'origin', 'refs/heads/main')).toContain(before);
  });

  // promise: compare-and-swap, foreign-moves-kept
  it('of a new branch is refused when the remote has it meanwhile, even at an ancestor', async () => {
    const { scene, merging } = withRemote(bare);
    const theirs = scene.tip('main');
    const landed = scene.commit('main', { 'a.txt': 'landed\n' });
    expect(await merging.push(main, landed, null)).toMatchObject({ kind: 'failed', because: 'moved' });
    expect(git(scene.top, 'ls-remote', 'origin', 'refs/heads/main')).toContain(theirs);
  });

  it('that the remote refuses reports the remote’s message', async () => {
    const { scene, push } = withRemote(bare);
    const remote = new URL(git(scene.top, 'remote', 'get-url', 'origin')).pathname;
    const hook = path.join(decodeURIComponent(remote), 'hooks', 'pre-receive');
    mkdirSync(path.dirname(hook), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\necho "main is protected" >&2\nexit 1\n', { mode: 0o755 });
    scene.commit('main', { 'a.txt': 'landed\n' });
    expect(await push()).toEqual({
      kind: 'failed',
      because: 'rejected',
      reason: 'origin did not take main: pre-receive hook declined. main is protected',
    });
  });

  // promise: remote-address-pinned
  it('without a remote, or to one whose address changed, is not tried', async () => {
    const without = new MergeScene(area);
    expect(await without.merging.push(main, without.tip('main'))).toMatchObject({
      kind: 'failed',
      because: 'no_remote',
    });
    const { scene, push } = withRemote(bare);
    const elsewhere = path.join(area, 'elsewhere.git');
    git(area, 'init', '--quiet', '--bare', elsewhere);
    git(scene.top, 'remote', 'set-url', 'origin', elsewhere);
    expect(await push()).toMatchObject({ kind: 'failed', reason: expect.stringContaining('accept-remotes') });
    expect(git(elsewhere, 'for-each-ref')).toBe('');
  });

  // promise: passwords-hidden
  it('to an unreachable remote reports that, without the password', async () => {
    const { push } = withRemote(() => 'http://ada:s3cr@t-w0rd@127.0.0.1:1/x.git');
    const outcome = await push();
    expect(outcome).toMatchObject({ kind: 'failed', because: 'unreachable' });
    expect(JSON.stringify(outcome)).not.toMatch(/s3cr|w0rd/);
    const gone = withRemote(bare);
    rmSync(new URL(git(gone.scene.top, 'remote', 'get-url', 'origin')), { recursive: true });
    expect(await gone.push()).toMatchObject({ kind: 'failed', because: 'unreachable' });
  });

  it('to a remote that never answers times out', async () => {
    const silent = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const at = silent.address();
    if (at === null || typeof at === 'string') throw new Error('no port');
    const { push } = withRemote(() => `git://127.0.0.1:${at.port}/x`, { pushTimeoutMs: 300 });
    expect(await push()).toMatchObject({
      kind: 'failed',
      because: 'unreachable',
      reason: expect.stringContaining('300 ms'),
    });
    await new Promise((resolve) => silent.close(resolve));
  });
});

describe('committing everything', () => {
  function worktreeOf(): { worktree: string; scene: MergeScene; merging: Merging; status: () => string } {
    const scene = new MergeScene(area);
    scene.commit('main', {
      'a.txt': 'a\n',
      'b.txt': 'b\n',
      'gone.txt': 'g\n',
      '.gitignore': '*.log\n',
      tool: '#!\n',
    });
    const worktree = path.join(area, `wörk "of" ${path.basename(scene.top)}`);
    git(scene.top, 'worktree', 'add', '--quiet', '-b', 'task', worktree, 'main');
    return { worktree, scene, merging: scene.merging, status: () => git(worktree, 'status', '--porcelain') };
  }

  it('takes edited, staged, new and deleted files, but no ignored ones', async () => {
    const { worktree, scene, merging, status } = worktreeOf();
    putFiles(worktree, { 'b.txt': 'staged\n', 'n.txt': 'staged\n', 'staged.txt': 's\n' });
    git(worktree, 'add', '--all');
    putFiles(worktree, {
      'a.txt': 'edited\n',
      'b.txt': 'staged, then edited\n',
      'n.txt': null,
      'gone.txt': null,
      'new folder/ü': 'new\n',
      'x.log': 'ignored\n',
      tool: { program: '#!\n' },
      link: { link: '/nowhere' },
    });
    const before = scene.tip('task');
    const commit = await merging.commitAll(worktree, task, 'agent: all of it');
    expect(commit).toBe(scene.tip('task'));
    expect(git(worktree, 'show', '--no-patch', '--format=%P %B', 'task')).toBe(`${before} agent: all of it`);
    const changed = git(worktree, '-c', 'core.quotePath=false', 'show', '--format=', '--name-status', 'task');
    expect(changed.split('\n').toSorted()).toEqual(
      [
        'A\tlink',
        'A\tnew folder/ü',
        'A\tstaged.txt',
        'D\tgone.txt',
        'M\ta.txt',
        'M\tb.txt',
        'M\ttool',
      ].toSorted(),
    );
    expect(git(worktree, 'show', 'task:b.txt')).toBe('staged, then edited');
    expect([status(), readFileSync(path.join(worktree, 'x.log'), 'utf8')]).toEqual(['', 'ignored\n']);
    expect(await merging.commitAll(worktree, task, 'again')).toBeNull();
    expect(scene.tip('task')).toBe(commit);
  });

  it('finds an edit behind assume-unchanged', async () => {
    const { worktree, merging } = worktreeOf();
    git(worktree, 'update-index', '--assume-unchanged', 'a.txt');
    putFiles(worktree, { 'a.txt': 'hidden\n' });
    await merging.commitAll(worktree, task, 'x');
    expect(git(worktree, 'show', 'task:a.txt')).toBe('hidden');
  });

  it('follows no link out of the worktree', async () => {
    const { worktree, merging } = worktreeOf();
    symlinkSync(area, path.join(worktree, 'out'));
    await merging.commitAll(worktree, task, 'x');
    expect(git(worktree, 'ls-tree', 'task', 'out')).toMatch(/^120000 /);
  });

  it('finishes a merge once no file has conflict markers, and not before', async () => {
    const { worktree, scene, merging, status } = worktreeOf();
    putFiles(worktree, { 'a.txt': 'ours\n' });
    await merging.commitAll(worktree, task, 'ours');
    scene.commit('main', { 'a.txt': 'theirs\n' });
    expect(() => git(worktree, 'merge', '--quiet', 'main')).toThrow('Command failed');
    const [ours, theirs] = [scene.tip('task'), scene.tip('main')];
    expect(await merging.unresolved(worktree)).toEqual(['a.txt']);
    await expect(merging.commitAll(worktree, task, 'too early')).rejects.toThrow(
      'conflict markers remain in a.txt',
    );
    expect(scene.tip('task')).toBe(ours);
    putFiles(worktree, { 'a.txt': 'both\n' });
    expect(await merging.unresolved(worktree)).toEqual([]);
    const commit = await merging.commitAll(worktree, task, 'both');
    expect(git(worktree, 'show', '--no-patch', '--format=%P', 'task')).toBe(`${ours} ${theirs}`);
    expect([scene.tip('task'), git(worktree, 'show', 'task:a.txt'), status()]).toEqual([commit, 'both', '']);
    expect(git(worktree, 'status')).not.toContain('merging');
  });

  it('is refused, and nothing is changed, in the middle of a rebase, with a detached HEAD, and under a lock', async () => {
    const { worktree, scene, merging, status } = worktreeOf();
    putFiles(worktree, { 'a.txt': 'edited\n' });
    const gitDir = git(worktree, 'rev-parse', '--absolute-git-dir');
    const [tip, before] = [scene.tip('task'), status()];
    const refused = (why: string) => expect(merging.commitAll(worktree, task, 'x')).rejects.toThrow(why);
    mkdirSync(path.join(gitDir, 'rebase-merge'));
    await refused('in progress');
    rmdirSync(path.join(gitDir, 'rebase-merge'));
    writeFileSync(path.join(gitDir, 'index.lock'), '');
    await refused('locked');
    rmSync(path.join(gitDir, 'index.lock'));
    git(worktree, 'checkout', '--quiet', '--detach');
    await refused('HEAD is not on task');
    git(worktree, 'symbolic-ref', 'HEAD', 'refs/heads/task');
    expect([scene.tip('task'), status()]).toEqual([tip, before]);
  });
});
