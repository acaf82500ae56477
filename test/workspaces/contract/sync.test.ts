import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { openSync } from '../../../packages/copse/src/workspaces/git/sync/sync.ts';
import { syncTask } from '../../../packages/copse/src/workspaces/act/sync.ts';
import { type BranchName, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import {
  type SyncOutcome,
  type SyncRequest,
  syncSteps,
} from '../../../packages/copse/src/workspaces/ports/worktrees.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';
import {
  BRANCH,
  commitAll,
  newTaskWorktree,
  trustedDirOf,
  write,
} from '../../support/workspaces/task-worktree.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';

const area = newArea();
const worker = bundleWorker(new URL('../../support/workspaces/sync-worker.ts', import.meta.url));

class Scene {
  readonly main: string;
  readonly worktree: string;

  constructor() {
    this.main = newRepository(area);
    write(this.main, {
      'a.txt': 'one\ntwo\nthree\n',
      'b.txt': 'b\n',
      'gone.txt': 'gone\n',
      'dir/c.txt': 'c\n',
    });
    commitAll(this.main, 'base');
    this.worktree = path.join(this.main, '.worktrees', 'it\'s "cp 0001" 林');
    git(this.main, 'worktree', 'add', '--quiet', '-b', BRANCH, this.worktree);
  }

  /** Main changes a line, adds a file, deletes one, makes a program and a link. */
  advance(files: Readonly<Record<string, string>> = {}): string {
    write(this.main, { 'a.txt': 'one\ntwo\nTHREE\n', 'new/d ü.txt': 'd\n', ...files });
    rmSync(path.join(this.main, 'gone.txt'), { force: true });
    if (!existsSync(path.join(this.main, 'link'))) symlinkSync('a.txt', path.join(this.main, 'link'));
    return commitAll(this.main, 'main goes on');
  }

  work(files: Readonly<Record<string, string>> = { 'mine.txt': 'mine\n' }): string {
    write(this.worktree, files);
    return commitAll(this.worktree, 'work');
  }

  bring(options: Partial<SyncRequest> = {}): Promise<SyncOutcome> {
    return openSync(trustedDirOf(this.main)).bring({
      task: brand('cp-0001'),
      worktree: this.worktree,
      branch: brand(BRANCH),
      base: { branch: brand('main'), commit: brand(git(this.main, 'rev-parse', 'main')) },
      ...options,
    });
  }

  status(): string {
    return git(this.worktree, 'status', '--porcelain');
  }

  tip(): string {
    return git(this.worktree, 'rev-parse', 'HEAD');
  }

  read(file: string): string {
    return readFileSync(path.join(this.worktree, file), 'utf8');
  }

  gitFile(name: string): string {
    return path.join(git(this.worktree, 'rev-parse', '--git-dir'), name);
  }

  /** All that a refused sync must leave as it was. */
  everything(): unknown {
    const listed = git(this.worktree, 'ls-files', '--stage', '--others');
    return [this.tip(), listed, this.status(), git(this.worktree, 'diff', 'HEAD')];
  }

  async killedAt(step: string, leave = ''): Promise<void> {
    const argv = [
      worker.file,
      this.main,
      this.worktree,
      BRANCH,
      git(this.main, 'rev-parse', 'main'),
      step,
      leave,
    ];
    const child = spawn(process.execPath, argv, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...worker.env },
    });
    const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)));
    if (signal !== 'SIGKILL') throw new Error(`The worker never came to ${step}`);
  }
}

describe('a sync', () => {
  it('merges the base into the branch, with both parents and the task, and the files follow', async () => {
    const scene = new Scene();
    const before = scene.work();
    const main = scene.advance();
    expect(await scene.bring()).toMatchObject({ kind: 'merged', from: before, tip: scene.tip(), files: 4 });
    expect(git(scene.worktree, 'log', '-1', '--format=%P%n%B').trim()).toBe(
      `${before} ${main}\nMerge main into cp-0001/work\n\nTask: cp-0001`,
    );
    expect([scene.status(), scene.read('a.txt'), scene.read('new/d ü.txt'), scene.read('mine.txt')]).toEqual([
      '',
      'one\ntwo\nTHREE\n',
      'd\n',
      'mine\n',
    ]);
    expect(existsSync(path.join(scene.worktree, 'gone.txt'))).toBe(false);
    expect(lstatSync(path.join(scene.worktree, 'link')).isSymbolicLink()).toBe(true);
    expect(existsSync(scene.gitFile('index.lock'))).toBe(false);
  });

  it('moves a branch without commits of its own forward, without a merge', async () => {
    const scene = new Scene();
    const main = scene.advance();
    expect(await scene.bring()).toMatchObject({ kind: 'fast_forwarded', tip: main });
    expect([scene.tip(), scene.status()]).toEqual([main, '']);
  });

  it('does nothing when the base has nothing new, and may be repeated', async () => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    await scene.bring();
    const before = scene.everything();
    expect(await scene.bring()).toEqual({ kind: 'up_to_date', tip: scene.tip() });
    expect(scene.everything()).toEqual(before);
  });

  // promise: checkout-untouched
  it('keeps staged, unstaged and untracked changes elsewhere exactly as they are', async () => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    write(scene.worktree, { 'b.txt': 'staged\n', 'other.txt': 'untracked\n' });
    git(scene.worktree, 'add', 'b.txt');
    write(scene.worktree, { 'b.txt': 'staged\nand more\n', 'dir/c.txt': 'edited\n' });
    const before = scene.status();
    expect(await scene.bring()).toMatchObject({ kind: 'merged' });
    expect(scene.status()).toBe(before);
    expect(git(scene.worktree, 'show', ':b.txt')).toBe('staged');
    expect([scene.read('b.txt'), scene.read('dir/c.txt')]).toEqual(['staged\nand more\n', 'edited\n']);
  });

  const overlaps: Readonly<Record<string, (scene: Scene) => string>> = {
    'an edit': (scene) => (write(scene.worktree, { 'a.txt': 'edited\n' }), 'a.txt'),
    'a staged edit': (scene) => {
      write(scene.worktree, { 'a.txt': 'edited\n' });
      git(scene.worktree, 'add', 'a.txt');
      write(scene.worktree, { 'a.txt': 'one\ntwo\nthree\n' });
      return 'a.txt';
    },
    'an edit that git was told to assume away': (scene) => {
      git(scene.worktree, 'update-index', '--assume-unchanged', 'a.txt');
      write(scene.worktree, { 'a.txt': 'edited\n' });
      return 'a.txt';
    },
    'a deletion': (scene) => (rmSync(path.join(scene.worktree, 'a.txt')), 'a.txt'),
    'an edit of what the base deletes': (scene) => (
      write(scene.worktree, { 'gone.txt': 'kept\n' }),
      'gone.txt'
    ),
    'an untracked file': (scene) => (write(scene.worktree, { 'new/d ü.txt': 'mine\n' }), 'new/d ü.txt'),
    'an ignored file': (scene) => {
      write(scene.worktree, { '.gitignore': 'new/\n', 'new/d ü.txt': 'secret\n' });
      return 'new/d ü.txt';
    },
    'an ignored file in place of a folder': (scene) => {
      write(scene.worktree, { '.gitignore': 'new\n', new: 'secret\n' });
      return 'new/d ü.txt';
    },
    'a folder of ignored files in place of a file': (scene) => {
      write(scene.worktree, { '.gitignore': 'link/\n', 'link/x': 'secret\n' });
      return 'link';
    },
    'a link that leads out of the worktree in place of a folder': (scene) => {
      symlinkSync(area, path.join(scene.worktree, 'new'));
      return 'new/d ü.txt';
    },
  };

  it.each(Object.entries(overlaps))('is refused, naming it, where %s overlaps', async (_, overlap) => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    const file = overlap(scene);
    const before = scene.everything();
    expect(await scene.bring()).toEqual({ kind: 'refused', because: 'in_the_way', paths: [file] });
    expect(scene.everything()).toEqual(before);
    expect(existsSync(scene.gitFile('index.lock'))).toBe(false);
  });

  it('counts a file that equals the base’s as merged', async () => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    write(scene.worktree, { 'a.txt': 'one\ntwo\nTHREE\n', 'new/d ü.txt': 'd\n' });
    expect(await scene.bring()).toMatchObject({ kind: 'merged' });
    expect(scene.status()).toBe('');
  });

  it('changes nothing on a conflict and names the paths', async () => {
    const scene = new Scene();
    scene.work({ 'a.txt': 'one\ntwo\ndrei\n', 'x.txt': 'x\n' });
    scene.advance();
    const before = scene.everything();
    expect(await scene.bring()).toEqual({ kind: 'refused', because: 'conflict', paths: ['a.txt'] });
    expect(scene.everything()).toEqual(before);
  });

  it('leaves a conflict as git merge would, when asked, to be resolved and committed', async () => {
    const [scene, twin] = [new Scene(), new Scene()];
    for (const { work, advance } of [scene, twin].map((one) => ({
      work: () => one.work({ 'a.txt': 'one\ntwo\ndrei\n', 'gone.txt': 'edited\n' }),
      advance: () => one.advance(),
    }))) {
      work();
      advance();
    }
    expect(await scene.bring({ leaveConflict: true })).toEqual({
      kind: 'conflict_left',
      paths: ['a.txt', 'gone.txt'],
    });
    expect(() => git(twin.worktree, 'merge', 'main')).toThrow(/merge main/);
    const stages = (one: Scene) => git(one.worktree, 'ls-files', '--stage');
    expect([scene.status(), stages(scene)]).toEqual([twin.status(), stages(twin)]);
    expect(scene.read('a.txt').replaceAll(/ [0-9a-f]{40}| HEAD| main/g, '')).toBe(
      twin.read('a.txt').replaceAll(/ HEAD| main/g, ''),
    );
    expect(await scene.bring()).toEqual({ kind: 'refused', because: 'in_progress', paths: [] });
    write(scene.worktree, { 'a.txt': 'resolved\n' });
    git(scene.worktree, 'add', 'a.txt', 'gone.txt');
    git(scene.worktree, 'commit', '--quiet', '--no-edit');
    expect(git(scene.worktree, 'rev-parse', 'HEAD^2')).toBe(git(scene.main, 'rev-parse', 'main'));
    expect(git(scene.worktree, 'log', '-1', '--format=%B').trim()).toBe(
      'Merge main into cp-0001/work\n\nTask: cp-0001',
    );
  });

  it('is refused when HEAD is detached or on another branch, when its branch is a symbolic ref, and in the middle of a rebase', async () => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    git(scene.worktree, 'switch', '--quiet', '--detach');
    expect(await scene.bring()).toEqual({ kind: 'refused', because: 'detached', paths: [] });
    git(scene.main, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    git(scene.worktree, 'symbolic-ref', 'HEAD', 'refs/heads/alias');
    expect(await scene.bring()).toEqual({ kind: 'refused', because: 'elsewhere', paths: [] });
    const alias = { branch: brand<BranchName>('alias') };
    expect(await scene.bring(alias)).toEqual({ kind: 'refused', because: 'alias', paths: [] });
    git(scene.worktree, 'symbolic-ref', 'HEAD', 'refs/heads/cp-0001/work');
    mkdirSync(scene.gitFile('rebase-merge'));
    expect(await scene.bring()).toEqual({ kind: 'refused', because: 'in_progress', paths: [] });
  });

  it('does not wait: a lock of another git command is an outcome and stays', async () => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    writeFileSync(scene.gitFile('index.lock'), '');
    expect(await scene.bring()).toEqual({ kind: 'refused', because: 'locked', paths: [] });
    expect(existsSync(scene.gitFile('index.lock'))).toBe(true);
  });

  it('restores the files when the branch moved at the same moment', async () => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    const files = scene.read('a.txt');
    const elsewhere = git(scene.main, 'rev-parse', 'main~1');
    const outcome = await scene.bring({
      onStep: (step) => {
        if (step === 'files_written') git(scene.main, 'update-ref', 'refs/heads/cp-0001/work', elsewhere);
      },
    });
    expect(outcome).toEqual({ kind: 'refused', because: 'moved', paths: [] });
    expect([scene.tip(), scene.read('a.txt')]).toEqual([elsewhere, files]);
    expect(existsSync(path.join(scene.worktree, 'gone.txt'))).toBe(true);
    expect(existsSync(scene.gitFile('index.lock'))).toBe(false);
  });

  // promise: planted-config-inert
  it('runs no hook, filter, merge driver or monitor that was planted, though plain git runs them', async () => {
    const [scene, twin] = [new Scene(), new Scene()];
    const fired = (one: Scene) => path.join(one.main, '.git', 'fired');
    for (const one of [scene, twin]) {
      const program = path.join(one.main, '.git', 'planted.sh');
      writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${fired(one)}'\ncat 2>/dev/null\nexit 0\n`);
      chmodSync(program, 0o755);
      one.work({ 'a.txt': 'ONE\ntwo\nthree\n', '.gitattributes': '* filter=evil merge=evil diff=evil\n' });
      one.advance();
      const planted = {
        'core.fsmonitor': `'${program}' monitor`,
        'filter.evil.clean': `'${program}' clean`,
        'filter.evil.smudge': `'${program}' smudge`,
        'merge.evil.driver': `'${program}' merge %A`,
        'diff.evil.textconv': `'${program}' textconv`,
      };
      for (const [name, value] of Object.entries(planted)) git(one.main, 'config', name, value);
      for (const hook of [
        'post-checkout',
        'post-merge',
        'pre-merge-commit',
        'reference-transaction',
        'post-index-change',
      ]) {
        mkdirSync(path.join(one.main, '.git', 'hooks'), { recursive: true });
        symlinkSync(program, path.join(one.main, '.git', 'hooks', hook));
      }
    }
    git(twin.worktree, 'merge', '--quiet', '--no-edit', 'main');
    const vectors = readFileSync(fired(twin), 'utf8');
    for (const vector of ['merge', 'smudge', 'monitor', 'post-merge', 'reference-transaction'])
      expect(vectors).toContain(vector);
    rmSync(fired(scene), { force: true });
    expect(await scene.bring()).toMatchObject({ kind: 'merged' });
    expect(existsSync(fired(scene))).toBe(false);
    expect(scene.read('a.txt')).toBe('ONE\ntwo\nTHREE\n');
  });
});

describe('a sync that is killed', () => {
  // promise: kill-safe-worktrees
  it.each(syncSteps)(
    'at %s stops commits of a half-written merge and is finished by the next',
    async (step) => {
      const scene = new Scene();
      const before = scene.work();
      const main = scene.advance();
      write(scene.worktree, { 'b.txt': 'staged\n', 'other.txt': 'untracked\n' });
      git(scene.worktree, 'add', 'b.txt');
      await scene.killedAt(step);
      expect(() => git(scene.worktree, 'commit', '--all', '--quiet', '--message=half')).toThrow(/index.lock/);
      expect(await scene.bring()).toMatchObject({ kind: expect.stringMatching(/merged|up_to_date/) });
      expect(git(scene.worktree, 'log', '-1', '--format=%P')).toBe(`${before} ${main}`);
      expect(git(scene.worktree, 'status', '--porcelain')).toBe('M  b.txt\n?? other.txt');
      expect(scene.read('a.txt')).toBe('one\ntwo\nTHREE\n');
      expect(existsSync(scene.gitFile('index.lock'))).toBe(false);
      expect(await scene.bring()).toMatchObject({ kind: 'up_to_date' });
    },
  );

  it('with half of its files written is finished first, even if the base moved since', async () => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    await scene.killedAt('noted');
    write(scene.worktree, { 'a.txt': 'one\ntwo\nTHREE\n' });
    rmSync(path.join(scene.worktree, 'gone.txt'));
    const newest = scene.advance({ 'a.txt': 'one\ntwo\nTHREE and four\n' });
    expect(await scene.bring()).toMatchObject({ kind: 'merged' });
    expect([scene.status(), git(scene.worktree, 'rev-parse', 'HEAD^2')]).toEqual(['', newest]);
    expect(scene.read('a.txt')).toBe('one\ntwo\nTHREE and four\n');
  });

  it('leaves edits made since then in place where they block it', async () => {
    const scene = new Scene();
    const before = scene.work();
    scene.advance();
    await scene.killedAt('noted');
    write(scene.worktree, { 'a.txt': 'edited after the kill\n' });
    expect(await scene.bring()).toEqual({ kind: 'refused', because: 'in_the_way', paths: ['a.txt'] });
    expect([scene.tip(), scene.read('a.txt')]).toEqual([before, 'edited after the kill\n']);
    expect(existsSync(scene.gitFile('index.lock'))).toBe(false);
  });

  it('leaves changes alone that were made after its lock was removed', async () => {
    const scene = new Scene();
    scene.work();
    scene.advance();
    await scene.killedAt('files_written');
    rmSync(scene.gitFile('index.lock'));
    const theirs = commitAll(scene.worktree, 'went on');
    expect(await scene.bring()).toMatchObject({ kind: 'merged', from: theirs });
    expect(scene.status()).toBe('');
  });

  it.each(syncSteps)('at %s while leaving a conflict leaves that conflict in the end', async (step) => {
    const scene = new Scene();
    const before = scene.work({ 'a.txt': 'one\ntwo\ndrei\n' });
    scene.advance();
    await scene.killedAt(step, 'leave');
    const outcome = await scene.bring({ leaveConflict: true });
    expect(
      outcome.kind === 'conflict_left' || (outcome.kind === 'refused' && outcome.because === 'in_progress'),
    ).toBe(true);
    expect([scene.tip(), scene.status().split('\n')[0]]).toEqual([before, 'UU a.txt']);
    expect(existsSync(scene.gitFile('MERGE_HEAD'))).toBe(true);
    expect(existsSync(scene.gitFile('index.lock'))).toBe(false);
  });
});

describe('syncing a task', () => {
  async function contextFor(scene: Scene) {
    const { context: known, dir, place, task } = await newTaskWorktree(scene.main, scene.worktree);
    const context = { ...known, sync: openSync(dir) };
    return { context, place, task };
  }

  it('fetches the base first if there is a remote', async () => {
    const scene = new Scene();
    const remote = path.join(area, `remote ${path.basename(scene.main)}`);
    git(area, 'clone', '--quiet', '--bare', scene.main, remote);
    git(scene.main, 'remote', 'add', 'origin', remote);
    const other = path.join(area, `other ${path.basename(scene.main)}`);
    git(area, 'clone', '--quiet', '--branch=main', remote, other);
    write(other, { 'from-remote.txt': 'r\n' });
    git(other, 'add', '--all');
    git(other, 'commit', '--quiet', '--message=remote');
    git(other, 'push', '--quiet', 'origin', 'main');
    scene.work();
    const { context, place, task } = await contextFor(scene);
    await using _ = place;
    expect(await syncTask(context, { task: task.id })).toMatchObject({
      kind: 'merged',
      base: 'main',
      notes: [],
    });
    expect(scene.read('from-remote.txt')).toBe('r\n');
    rmSync(remote, { recursive: true });
    const again = await syncTask(context, { task: task.id });
    expect(again).toMatchObject({ kind: 'up_to_date', notes: [expect.any(String)] });
  });

  it('says what to do where it is refused, and refuses while another process holds the lock', async () => {
    const scene = new Scene();
    scene.work();
    const { context, place, task } = await contextFor(scene);
    await using _ = place;
    scene.advance();
    write(scene.worktree, { 'a.txt': 'edited\n' });
    expect(await syncTask(context, { task: task.id })).toMatchObject({
      kind: 'refused',
      because: 'in_the_way',
      paths: ['a.txt'],
      reason: expect.stringContaining(task.id),
    });
    await context.git.tryLock(`task-${task.id}`, async () => {
      expect(await syncTask(context, { task: task.id })).toMatchObject({ kind: 'refused', because: 'busy' });
    });
    expect(await syncTask(context, { task: brand<TaskId>('cp-zzzz') })).toMatchObject({
      kind: 'refused',
      because: 'no_worktree',
    });
  });
});
