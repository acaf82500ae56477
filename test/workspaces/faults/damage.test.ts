/**
 * What happens to worktrees besides kills: stale locks, deleted folders, half-written files, disks that are full or cannot
 * be written. Everything recovers or says what is wrong, and nothing is lost.
 */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, it, onTestFinished } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import {
  Project,
  dirty,
  expectAllFound,
  expectBackAfterUndo,
  expectSound,
  newDirty,
  newProject,
  openForTest,
  placesIn,
  stateOf,
  textsOf,
} from '../../support/workspaces/workspaces.ts';

const area = newArea();
const newPlace = placesIn(area);
const newScene = () => newDirty(newPlace());

const HOUR_AGO = new Date(Date.now() - 3_600_000);

// promise: rescue-first
it('a file deeper than the system can name keeps its worktree, and the others are cleaned up', async () => {
  const { project, task, worktree } = await newScene();
  // Longer than a path may be, so it is made step by step.
  const deep = `for (let i = 0; i < 25; i += 1) { fs.mkdirSync(name); process.chdir(name); } fs.writeFileSync('mine', '')`;
  execFileSync(process.execPath, ['-e', `const name = 'x'.repeat(200); ${deep}`], { cwd: worktree });
  await expect(project.tryRemove(task, { isForced: true })).rejects.toThrow(
    /cannot be saved[^]*Git cannot read/,
  );
  expect(existsSync(worktree)).toBe(true);
  execFileSync('rm', ['-r', '--', 'x'.repeat(200)], { cwd: worktree });
  expect(await project.tryRemove(task, { isForced: true })).toMatchObject({ kind: 'removed' });
});

describe('stale locks of git', () => {
  it.each(['index.lock', 'HEAD.lock'])(
    'a %s in the worktree is explained, and does not stop --force',
    async (name) => {
      const { project, task, gitDir, before } = await newScene();
      writeFileSync(path.join(gitDir, name), '');
      expect((await project.prepare(task)).reused).toBe(true);
      const removed = await project.tryRemove(task, { isForced: false });
      expect(removed).toMatchObject({ kind: 'refused', reason: expect.stringContaining(name) });
      rmSync(path.join(gitDir, name));
      writeFileSync(path.join(gitDir, name), '');
      await expectBackAfterUndo(project, task, before);
    },
  );

  it('an old lock in the worktree goes to the trash with it', async () => {
    const { project, task, gitDir } = await newScene();
    writeFileSync(path.join(gitDir, 'index.lock'), '');
    utimesSync(path.join(gitDir, 'index.lock'), HOUR_AGO, HOUR_AGO);
    const asked = await project.tryRemove(task, { isForced: false });
    expect(asked).toMatchObject({ kind: 'question', question: expect.stringContaining('uncommitted') });
  });

  it('a lock on the new branch is named, or removed when it is old', async () => {
    const project = await openForTest(newProject(newPlace()));
    const task = await project.addTask();
    const lock = path.join(project.folder, '.git', 'refs', 'heads', task, 'do-it.lock');
    mkdirSync(path.dirname(lock), { recursive: true });
    writeFileSync(lock, '');
    utimesSync(lock, HOUR_AGO, HOUR_AGO);
    await project.prepare(task).catch((error: unknown) => expect(String(error)).toContain('lock'));
    rmSync(lock, { force: true });
    const { path: worktree } = await project.prepare(task);
    expect(existsSync(worktree)).toBe(true);
    expectSound(project.folder);
  });

  it.each([['refs/heads/BRANCH.lock'], ['packed-refs.lock'], ['packed-refs.lock', 'packed-refs.new']])(
    'the %s of a git that ended long ago is removed, and the branch is deleted with its worktree',
    async (...names) => {
      const { project, task, branch, before } = await newScene();
      const left = names.map((name) => path.join(project.folder, '.git', name.replace('BRANCH', branch)));
      for (const file of left) {
        writeFileSync(file, '');
        utimesSync(file, HOUR_AGO, HOUR_AGO);
      }
      const { becameOfBranch } = await project.remove(task, { deleteBranch: true });
      expect(becameOfBranch).toBe('deleted');
      expect(left.filter((file) => existsSync(file))).toEqual([]);
      await project.undo(task);
      expect(stateOf(project.worktree(task))).toEqual(before);
    },
  );

  describe.runIf(process.platform === 'linux')('the lock of all packed refs', () => {
    /** Old enough to be dead, with a git that runs until its input ends. */
    async function lockedBeside(start: (of: Project) => { readonly cwd: string; readonly env?: object }) {
      const { project, task, branch } = await newScene();
      const lock = path.join(project.folder, '.git', 'packed-refs.lock');
      writeFileSync(lock, '');
      utimesSync(lock, HOUR_AGO, HOUR_AGO);
      const { cwd, env } = start(project);
      const argv = ['-c', 'alias.packs=!cat', 'packs'];
      const running = spawn('git', argv, { cwd, env: { ...process.env, ...env } });
      const ended = once(running, 'exit');
      onTestFinished(() => void running.stdin.end());
      while (!readFileSync(`/proc/${running.pid}/comm`, 'utf8').startsWith('git')) await sleep(10);
      const end = async () => {
        running.stdin.end();
        await ended;
      };
      return { project, task, branch, lock, end };
    }

    it.each([
      ['in the repository', ({ folder }: Project) => ({ cwd: path.join(folder, 'src ü') })],
      [
        'elsewhere, on the repository',
        ({ folder }: Project) => ({ cwd: area, env: { GIT_DIR: path.join(folder, '.git') } }),
      ],
    ])('stays for as long as a git runs %s', async (_, start) => {
      const { project, task, branch, lock, end } = await lockedBeside(start);
      const removal = project.remove(task, { deleteBranch: true });
      await sleep(2_000);
      expect(existsSync(lock)).toBe(true);
      await end();
      expect((await removal).becameOfBranch).toBe('deleted');
      expect(existsSync(lock)).toBe(false);
      expect(git(project.folder, 'for-each-ref', `refs/heads/${branch}`)).toBe('');
    });

    it('is removed although a git runs in another repository', async () => {
      const other = newProject(newPlace());
      const { project, task, lock } = await lockedBeside(() => ({ cwd: other }));
      expect((await project.remove(task, { deleteBranch: true })).becameOfBranch).toBe('deleted');
      expect(existsSync(lock)).toBe(false);
    });
  });

  // promise: rescue-failure-blocks
  it('a lock on the refs of rescues blocks the removal', async () => {
    const { project, task, before } = await newScene();
    const folder = path.join(project.folder, '.git', 'refs', 'copse', 'rescue');
    mkdirSync(path.dirname(folder), { recursive: true });
    writeFileSync(folder, 'not a folder');
    await expect(project.tryRemove(task)).rejects.toThrow(/rescue/);
    expect(stateOf(project.worktree(task))).toEqual(before);
  });
});

describe('missing or half-written files', () => {
  it('a worktree whose folder was deleted is made again on its branch, and says so', async () => {
    const { project, task, worktree } = await newScene();
    rmSync(worktree, { recursive: true });
    const again = await project.prepare(task);
    expect(again.notes.join('\n')).toContain('its folder was deleted');
    expect(project.run(task, 'log', '--format=%s')).toBe(`${task}\nfirst`);
    expectSound(project.folder);
  });

  it('a worktree whose folder was deleted can be removed', async () => {
    const { project, task, worktree } = await newScene();
    rmSync(worktree, { recursive: true });
    expect(await project.remove(task)).toMatchObject({ kind: 'removed' });
    expectSound(project.folder);
  });

  it('after the repository was moved, its worktrees work', async () => {
    const { project, task, before } = await newScene();
    const moved = `${project.folder} moved`;
    await project.context.board.close();
    renameSync(project.folder, moved);
    await using after = await Project.open(moved);
    const { path: worktree, reused } = await after.prepare(task);
    expect([worktree, reused]).toEqual([path.join(moved, '.worktrees', task), true]);
    expect(stateOf(worktree)).toEqual(before);
    expect(existsSync(project.folder)).toBe(false);
    await expectBackAfterUndo(after, task, before);
  });

  // promise: rescue-first
  it.each([
    ['no .git file', ({ worktree }: Place) => rmSync(path.join(worktree, '.git'))],
    ['a truncated .git file', ({ worktree }: Place) => writeFileSync(path.join(worktree, '.git'), 'gitd')],
    ['an empty HEAD', ({ gitDir }: Place) => writeFileSync(path.join(gitDir, 'HEAD'), '')],
    ['no HEAD', ({ gitDir }: Place) => rmSync(path.join(gitDir, 'HEAD'))],
    ['no gitdir file', ({ gitDir }: Place) => rmSync(path.join(gitDir, 'gitdir'))],
    ['no index', ({ gitDir }: Place) => rmSync(path.join(gitDir, 'index'))],
    ['no registration', ({ gitDir }: Place) => rmSync(gitDir, { recursive: true })],
  ])('a worktree with %s is prepared again and loses no file', async (_, damage) => {
    const { project, task, worktree, gitDir } = await newScene();
    damage({ worktree, gitDir });
    await project.prepare(task);
    expect(project.run(task, 'log', '--format=%s')).toBe(`${task}\nfirst`);
    expectAllFound(project.folder, textsOf(task));
    await project.remove(task);
    expectAllFound(project.folder, textsOf(task));
  });

  // promise: rescue-first
  it.each([
    ['no .git file', ({ worktree }: Place) => rmSync(path.join(worktree, '.git'))],
    ['no HEAD', ({ gitDir }: Place) => rmSync(path.join(gitDir, 'HEAD'))],
    ['no index', ({ gitDir }: Place) => rmSync(path.join(gitDir, 'index'))],
  ])('a worktree with %s is removed and loses no file', async (_, damage) => {
    const { project, task, worktree, gitDir } = await newScene();
    damage({ worktree, gitDir });
    expect(await project.remove(task)).toMatchObject({ kind: 'removed' });
    expectAllFound(project.folder, textsOf(task));
  });

  it('a truncated record in the trash does not hide the others', async () => {
    const { project, task, before } = await newScene();
    const other = await project.addTask();
    await project.prepare(other);
    await project.remove(other);
    const trash = path.join(project.folder, '.copse', 'trash');
    const [entry = ''] = readdirSync(trash);
    writeFileSync(path.join(trash, entry, 'record.json'), '{ "task": "');
    await project.remove(task);
    await project.undo(task);
    expect(stateOf(project.worktree(task))).toEqual(before);
  });

  it('an undo keeps the files at the path of the worktree, even of a broken one', async () => {
    const { project, task, worktree, before } = await newScene();
    await project.remove(task);
    await project.prepare(task);
    dirty(worktree, `${task} second`);
    rmSync(path.join(worktree, '.git'));
    await project.undo(task);
    expect(stateOf(worktree)).toEqual(before);
    const aside = (await project.context.trash.all()).find(({ files }) =>
      existsSync(path.join(files, 'debug.log')),
    );
    expect(readFileSync(path.join(aside?.files ?? '', 'debug.log'), 'utf8')).toBe(`${task} second log\n`);
    // Whatever is called that is deleted at once.
    expect(aside?.record.why).not.toBe('leftover');
  });

  it('remains of a killed process in Copse’s own folders block no other process', async () => {
    const project = await openForTest(newProject(newPlace()));
    const task = await project.addTask();
    mkdirSync(path.join(project.folder, '.git', `copse-new-${task}-${process.pid}`), { recursive: true });
    mkdirSync(path.join(project.folder, '.git', 'worktrees', task), { recursive: true });
    mkdirSync(path.join(project.folder, '.copse', 'tmp', 'rescue-left'), { recursive: true });
    const { path: worktree } = await project.prepare(task);
    dirty(worktree, task);
    const before = stateOf(worktree);
    await project.remove(task);
    await project.undo(task);
    expect(stateOf(worktree)).toEqual(before);
  });
});

// promise: rescue-failure-blocks
describe('when nothing can be saved, nothing is removed', () => {
  it('because Copse’s folder for rescues cannot be made', async () => {
    const { project, task, before } = await newScene();
    const tmp = path.join(project.folder, '.copse', 'tmp');
    rmSync(tmp, { recursive: true, force: true });
    writeFileSync(tmp, 'in the way');
    await expect(project.tryRemove(task)).rejects.toThrow(/tmp/);
    await expect(project.reset(task)).rejects.toThrow(/tmp/);
    expect(stateOf(project.worktree(task))).toEqual(before);
    rmSync(tmp);
    await expectBackAfterUndo(project, task, before);
  });

  it('because the trash cannot be made', async () => {
    const { project, task, before } = await newScene();
    const trash = path.join(project.folder, '.copse', 'trash');
    writeFileSync(trash, 'in the way');
    await expect(project.tryRemove(task)).rejects.toThrow(/trash/);
    expect(stateOf(project.worktree(task))).toEqual(before);
    rmSync(trash);
    await expectBackAfterUndo(project, task, before);
  });

  const FULL = /ENOSPC|no space|disk is full|full/i;
  const READ_ONLY = /EROFS|read-only/i;
  const disk = tryMount(path.join(area, 'small disk'));

  it.skipIf(disk === undefined)('because the disk is full', async () => {
    await using project = await Project.open(newProject(path.join(disk ?? '', 'full')));
    const task = await project.addTask();
    const { path: worktree } = await project.prepare(task);
    dirty(worktree, task);
    writeFileSync(path.join(worktree, 'large.bin'), Buffer.alloc(300_000, 'x'));
    const before = stateOf(worktree);
    const ballast = path.join(disk ?? '', 'ballast');
    fill(ballast);
    await expect(project.tryRemove(task)).rejects.toThrow(FULL);
    expect(stateOf(worktree)).toEqual(before);
    const other = await project.addTask().catch(() => undefined);
    if (other !== undefined) await expect(project.tryPrepare(other)).rejects.toThrow(FULL);
    rmSync(ballast);
    if (other !== undefined) await project.prepare(other);
    await expectBackAfterUndo(project, task, before);
  });

  it.skipIf(disk === undefined)('because the disk cannot be written', async () => {
    await using project = await Project.open(newProject(path.join(disk ?? '', 'read-only')));
    const [task, other] = [await project.addTask(), await project.addTask()];
    const { path: worktree } = await project.prepare(task);
    dirty(worktree, task);
    const before = stateOf(worktree);
    const gitFolder = path.join(project.folder, '.git');
    execFileSync('mount', ['--bind', gitFolder, gitFolder]);
    try {
      execFileSync('mount', ['-o', 'remount,bind,ro', gitFolder]);
      await expect(project.tryRemove(task)).rejects.toThrow(READ_ONLY);
      await expect(project.reset(task)).rejects.toThrow(READ_ONLY);
      await expect(project.tryPrepare(other)).rejects.toThrow(READ_ONLY);
      expect(stateOf(worktree)).toEqual(before);
    } finally {
      execFileSync('umount', ['--lazy', gitFolder]);
    }
    await project.prepare(other);
    await expectBackAfterUndo(project, task, before);
  });
});

interface Place {
  readonly worktree: string;
  readonly gitDir: string;
}

/** A file system of a few megabytes, where this user may make one. */
function tryMount(folder: string): string | undefined {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  afterAll(() => execFileSync('umount', ['--lazy', folder]));
  return folder;
}

function fill(file: string): void {
  for (const size of [1_000_000, 10_000, 100, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}
