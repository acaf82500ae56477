import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it, onTestFinished } from 'vitest';

import { fromTrash } from '../../../packages/copse/src/workspaces/trash/bring-back.ts';
import { openTrash } from '../../../packages/copse/src/workspaces/trash/open.ts';
import { thin } from '../../../packages/copse/src/workspaces/trash/thin.ts';
import { listTrash } from '../../../packages/copse/src/workspaces/trash/entry.ts';
import { deleteTrash, stateOf, toTrash } from '../../../packages/copse/src/workspaces/trash/trash.ts';
import type { Removal, TrashStep } from '../../../packages/copse/src/workspaces/trash/trash.ts';
import { brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { BranchName, CommitId, TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import type { HeldFile, TrashRecord } from '../../../packages/copse/src/workspaces/ports/trash.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';

const area = newArea();
const otherFileSystem = ['/dev/shm', tmpdir()].find(
  (folder) => existsSync(folder) && statSync(folder).dev !== statSync(area).dev,
);
const at = timestamp(Date.UTC(2026, 0, 2, 3, 4, 5, 678));

/** A worktree with a tracked, a changed, an untracked and an ignored file, a link and a nested repository. */
function newWorktree(worktrees?: string) {
  const home = newRepository(area);
  writeFileSync(path.join(home, '.gitignore'), 'ignored*\nnode_modules/\n');
  mkdirSync(path.join(home, 'src', 'deep'), { recursive: true });
  writeFileSync(path.join(home, 'src', 'deep', 'a.txt'), 'tracked');
  writeFileSync(path.join(home, 'src', 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(path.join(home, 'src', 'ünï "q".txt'), 'unicode');
  symlinkSync('deep/a.txt', path.join(home, 'src', 'link'));
  writeFileSync(path.join(home, 'changed.txt'), 'before');
  git(home, 'add', '--all');
  git(home, 'commit', '--quiet', '--message=files');
  const worktree = path.join(worktrees ?? path.join(home, '.worktrees'), 'cp-0001');
  git(home, 'worktree', 'add', '--quiet', '--lock', '-b', 'cp-0001/x', worktree);
  writeFileSync(path.join(worktree, 'changed.txt'), 'after!');
  writeFileSync(path.join(worktree, 'untracked.txt'), 'untracked');
  writeFileSync(path.join(worktree, 'src', 'ignored.env'), 'SECRET=1', { mode: 0o600 });
  mkdirSync(path.join(worktree, 'node_modules', 'p'), { recursive: true });
  writeFileSync(path.join(worktree, 'node_modules', 'p', 'index.js'), '1');
  mkdirSync(path.join(worktree, 'empty'));
  const head = brand<CommitId>(git(worktree, 'rev-parse', 'HEAD'));
  const record: TrashRecord = {
    task: brand<TaskId>('cp-0001'),
    path: worktree,
    branch: brand<BranchName>('cp-0001/x'),
    branchTip: head,
    head,
    base: head,
    rescue: null,
    at,
    why: 'removal',
  };
  const gitDir = path.join(home, '.git', 'worktrees', 'cp-0001');
  return {
    home,
    worktree,
    gitDir,
    record,
    removal: { home, path: worktree, gitDir, record } satisfies Removal,
  };
}

/** Every path below, with what it is and holds. */
function contents(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const file = path.join(folder, name);
      const stat = lstatSync(file);
      if (stat.isSymbolicLink()) return [name, `-> ${readlinkSync(file)}`];
      const mode = (stat.mode & 0o777).toString(8);
      return [name, stat.isDirectory() ? 'folder' : `${mode} ${readFileSync(file, 'utf8')}`];
    }),
  );
}

function trashed(removal: Removal) {
  const outcome = toTrash(removal);
  if (outcome.kind !== 'moved') throw new Error(outcome.reason);
  return outcome.entry;
}

/** What git holds in a commit, as `git ls-tree` says it. */
function held(home: string, commit: string): readonly HeldFile[] {
  return git(home, 'ls-tree', '-r', '-z', commit)
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [, mode = '', id = '', name = ''] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
      return { mode, id, path: Buffer.from(name) };
    });
}

describe('a removal', () => {
  it('moves the whole worktree, with its registration and a record', () => {
    const { home, worktree, gitDir, removal, record } = newWorktree();
    const [before, gitBefore] = [contents(worktree), contents(gitDir)];
    const entry = trashed(removal);
    expect(entry.folder).toBe(path.join(home, '.copse', 'trash', '20260102T030405678Z-cp-0001'));
    expect([existsSync(worktree), existsSync(gitDir)]).toEqual([false, false]);
    expect(contents(path.join(entry.folder, 'files'))).toEqual(before);
    expect(contents(path.join(entry.folder, 'gitdir'))).toEqual(gitBefore);
    expect(listTrash(home)).toEqual([entry]);
    expect(entry.record).toEqual(record);
    expect(stateOf(entry)).toEqual({ hasFiles: true, hasGitDir: true, isHalfDone: false });
    expect(git(home, 'worktree', 'list', '--porcelain')).not.toContain('cp-0001');
  });

  it('can be repeated', () => {
    const { removal } = newWorktree();
    expect(trashed(removal)).toEqual(trashed(removal));
  });

  it('does not change a worktree that was made there since', () => {
    const { home, worktree, removal } = newWorktree();
    const before = contents(trashed(removal).files);
    git(home, 'worktree', 'add', '--quiet', worktree, 'cp-0001/x');
    expect(toTrash(removal)).toMatchObject({
      kind: 'not_moved',
      reason: expect.stringContaining('already exists'),
    });
    expect(existsSync(path.join(worktree, 'changed.txt'))).toBe(true);
    expect(contents(listTrash(home)[0]!.files)).toEqual(before);
  });

  it('of the same task in the same millisecond gets an entry of its own', () => {
    const { home, worktree, gitDir, removal, record } = newWorktree();
    trashed(removal);
    git(home, 'worktree', 'add', '--quiet', worktree, 'cp-0001/x');
    trashed({ home, path: worktree, gitDir, record: { ...record, why: 'reset' } });
    expect(listTrash(home).map((entry) => [entry.record.why, stateOf(entry).hasFiles])).toEqual([
      ['removal', true],
      ['reset', true],
    ]);
  });

  it('of a link or a file at the path moves just that', () => {
    const { home, worktree, record } = newWorktree();
    const link = path.join(area, 'link');
    symlinkSync(worktree, link);
    const entry = trashed({ home, path: link, gitDir: null, record: { ...record, path: link } });
    expect(readlinkSync(entry.files)).toBe(worktree);
    expect(existsSync(path.join(worktree, 'untracked.txt'))).toBe(true);
  });

  // promise: no-link-followed
  it('does not follow a link in place of the trash', () => {
    const { home, worktree, removal } = newWorktree();
    const elsewhere = mkdtempSync(path.join(area, 'elsewhere '));
    mkdirSync(path.join(home, '.copse'));
    symlinkSync(elsewhere, path.join(home, '.copse', 'trash'));
    expect(() => toTrash(removal)).toThrow(/is a link/);
    expect(existsSync(path.join(worktree, 'untracked.txt'))).toBe(true);
  });

  // promise: no-force
  it('that the system refuses leaves everything where it is', () => {
    const { worktree, removal, record } = newWorktree();
    // A folder cannot be moved into itself.
    const inside = { ...removal, home: worktree, record };
    const before = contents(path.join(worktree, 'src'));
    expect(toTrash(inside)).toMatchObject({ kind: 'not_moved' });
    expect(contents(path.join(worktree, 'src'))).toEqual(before);
  });

  it.runIf(otherFileSystem !== undefined)(
    'of a worktree on another file system uses a trash beside it',
    async () => {
      const elsewhere = mkdtempSync(path.join(otherFileSystem ?? '', 'copse trash '));
      onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
      const { home, worktree, removal } = newWorktree(elsewhere);
      const before = contents(worktree);
      const entry = trashed(removal);
      expect(entry.files).toBe(path.join(elsewhere, '.copse-trash', '20260102T030405678Z-cp-0001', 'files'));
      expect(contents(entry.files)).toEqual(before);
      expect(listTrash(home)).toEqual([entry]);
      expect(stateOf(entry)).toEqual({ hasFiles: true, hasGitDir: true, isHalfDone: false });
      await deleteTrash(entry);
      expect(readdirSync(elsewhere)).toEqual([]);
    },
  );
});

describe('a removal that is killed', () => {
  const steps: readonly TrashStep[] = ['recorded', 'files_moved', 'git_dir_moved'];
  const trashModule = fileURLToPath(
    new URL('../../../packages/copse/src/workspaces/trash/trash.ts', import.meta.url),
  );

  function killedAfter(step: TrashStep, removal: Removal): void {
    const script = `
      const { toTrash } = await import(${JSON.stringify(trashModule)});
      const onStep = (step) => step === ${JSON.stringify(step)} && process.kill(process.pid, 'SIGKILL');
      toTrash({ ...${JSON.stringify(removal)}, onStep });
      process.exit(9);`;
    const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect({ signal, stderr: String(stderr) }).toMatchObject({ signal: 'SIGKILL' });
  }

  // promise: kill-safe-worktrees
  it.each(steps)('after it has %s is finished by doing the same again', (step) => {
    const { home, worktree, gitDir, removal } = newWorktree();
    const [before, gitBefore] = [contents(worktree), contents(gitDir)];
    killedAfter(step, removal);
    const [half] = listTrash(home);
    expect(contents(step === 'recorded' ? worktree : half!.files)).toEqual(before);
    expect(contents(step === 'git_dir_moved' ? half!.gitDir : gitDir)).toEqual(gitBefore);
    expect(stateOf(half!).isHalfDone).toBe(step === 'files_moved');

    const entry = trashed(removal);
    expect(contents(entry.files)).toEqual(before);
    expect(contents(entry.gitDir)).toEqual(gitBefore);
    expect(listTrash(home)).toHaveLength(1);
  });

  it('halfway is finished in its own entry by the next removal', () => {
    const { home, removal, record } = newWorktree();
    killedAfter('files_moved', removal);
    const entry = trashed({ ...removal, record: { ...record, at: timestamp(at + 60_000) } });
    expect(entry.record.at).toBe(at);
    expect(listTrash(home)).toHaveLength(1);
    expect(stateOf(entry)).toEqual({ hasFiles: true, hasGitDir: true, isHalfDone: false });
  });

  it('halfway is left alone once its name belongs to another worktree', () => {
    const { home, gitDir, removal, record } = newWorktree();
    killedAfter('files_moved', removal);
    const elsewhere = path.join(area, 'other', path.basename(home), 'cp-0001');
    rmSync(gitDir, { recursive: true });
    git(home, 'worktree', 'add', '--quiet', elsewhere, 'cp-0001/x');
    expect(existsSync(gitDir)).toBe(true);
    expect(stateOf(listTrash(home)[0]!).isHalfDone).toBe(false);
    trashed({ home, path: elsewhere, gitDir, record: { ...record, path: elsewhere } });
    expect(listTrash(home).map((entry) => stateOf(entry).hasGitDir)).toEqual([false, true]);
  });

  it('keeps an unreadable record, with the files beside it', () => {
    const { home, worktree, removal } = newWorktree();
    const entry = trashed(removal);
    const before = contents(entry.files);
    writeFileSync(path.join(entry.folder, 'record.json'), '{"task":"cp-00');
    expect(listTrash(home)).toEqual([]);
    git(home, 'worktree', 'add', '--quiet', worktree, 'cp-0001/x');
    expect(trashed(removal).folder).toBe(`${entry.folder}-2`);
    expect(contents(entry.files)).toEqual(before);
  });

  it('before anything moved is not listed as restorable', async () => {
    const { home, removal } = newWorktree();
    killedAfter('recorded', removal);
    expect(await openTrash(home, 'sha1').list()).toEqual([]);
  });
});

describe('the trash', () => {
  it('lists the newest first, without undone entries', async () => {
    const { home, worktree, gitDir, record } = newWorktree();
    const trash = openTrash(home, 'sha1');
    const first = await trash.put({ path: worktree, gitDir, record });
    git(home, 'worktree', 'add', '--quiet', worktree, 'cp-0001/x');
    const later = { ...record, at: timestamp(at + 1) };
    const second = await trash.put({ path: worktree, gitDir, record: later });
    expect((await trash.list()).map(({ folder }) => folder)).toEqual([second.folder, first.folder]);
    await trash.retire(second);
    expect((await trash.list()).map(({ folder }) => folder)).toEqual([first.folder]);
    expect(listTrash(home).map(({ isRetired }) => isRetired)).toEqual([false, true]);
  });

  it('reports that nothing was deleted when its path is blocked', async () => {
    const { home, worktree, removal } = newWorktree();
    trashed(removal);
    mkdirSync(worktree);
    await expect(openTrash(home, 'sha1').put(removal)).rejects.toThrow(/Nothing was deleted/);
  });

  it('is emptied entry by entry, read-only folders included, following no link', async () => {
    const { home, worktree, removal } = newWorktree();
    const outside = mkdtempSync(path.join(area, 'outside '));
    writeFileSync(path.join(outside, 'mine'), 'mine');
    symlinkSync(outside, path.join(worktree, 'node_modules', 'linked'));
    chmodSync(path.join(worktree, 'node_modules', 'p'), 0o555);
    const entry = trashed(removal);
    await deleteTrash(entry);
    await deleteTrash(entry);
    expect(readdirSync(path.join(home, '.copse', 'trash'))).toEqual([]);
    expect(readFileSync(path.join(outside, 'mine'), 'utf8')).toBe('mine');
  });

  it('is found where the repository was moved to', () => {
    const { home, removal } = newWorktree();
    const before = contents(trashed(removal).files);
    renameSync(home, `${home} moved`);
    expect(contents(listTrash(`${home} moved`)[0]!.files)).toEqual(before);
  });
});

describe('restoring files', () => {
  it('moves missing files, names those that differ, and ignores equal ones', () => {
    const { home, worktree, removal } = newWorktree();
    const before = contents(worktree);
    const entry = trashed(removal);
    git(home, 'worktree', 'add', '--quiet', worktree, 'cp-0001/x');
    const gitFile = readFileSync(path.join(worktree, '.git'), 'utf8');
    const { moved, inTheWay } = fromTrash(entry, worktree);
    expect(moved.toSorted()).toEqual(['empty', 'node_modules', 'src/ignored.env', 'untracked.txt']);
    expect(inTheWay).toEqual(['changed.txt']);
    expect(contents(worktree)).toEqual({ ...before, '.git': `644 ${gitFile}`, 'changed.txt': '644 before' });
    expect(readFileSync(path.join(entry.files, 'changed.txt'), 'utf8')).toBe('after!');
  });

  // promise: no-link-followed
  it('writes neither through a link in the new worktree nor over one', () => {
    const { home, worktree, removal } = newWorktree();
    const entry = trashed(removal);
    git(home, 'worktree', 'add', '--quiet', worktree, 'cp-0001/x');
    const outside = mkdtempSync(path.join(area, 'outside '));
    symlinkSync(outside, path.join(worktree, 'node_modules'));
    symlinkSync(path.join(outside, 'nothing'), path.join(worktree, 'untracked.txt'));
    const { inTheWay } = fromTrash(entry, worktree);
    expect(inTheWay.toSorted()).toEqual(['changed.txt', 'node_modules', 'untracked.txt']);
    expect(readdirSync(outside)).toEqual([]);
  });

  it('can be repeated', () => {
    const { home, worktree, removal } = newWorktree();
    const entry = trashed(removal);
    git(home, 'worktree', 'add', '--quiet', worktree, 'cp-0001/x');
    fromTrash(entry, worktree);
    const once = contents(worktree);
    expect(fromTrash(entry, worktree)).toEqual({ moved: [], inTheWay: ['changed.txt'] });
    expect(contents(worktree)).toEqual(once);
  });
});

describe('thinning', () => {
  const options = { objectFormat: 'sha1' } as const;

  // promise: trash-keeps-work
  it('deletes files that git holds, and keeps all others byte for byte', async () => {
    const { home, worktree, removal, record } = newWorktree();
    const nested = path.join(worktree, 'nested');
    mkdirSync(nested);
    git(nested, 'init', '--quiet');
    const before = contents(worktree);
    const entry = trashed(removal);
    expect(await thin(entry.files, held(home, record.head!), options)).toEqual({ deleted: 5, kept: 1 });
    const gone = new Set([
      '.gitignore',
      'src/deep',
      'src/deep/a.txt',
      'src/run.sh',
      'src/ünï "q".txt',
      'src/link',
    ]);
    const rest = Object.fromEntries(Object.entries(before).filter(([name]) => !gone.has(name)));
    expect(contents(entry.files)).toEqual(rest);
    expect(rest).toMatchObject({
      'changed.txt': '644 after!',
      'src/ignored.env': '600 SECRET=1',
      empty: 'folder',
    });
  });

  // promise: trash-keeps-work
  it('keeps a file whose bytes, kind or mode differ from git’s, at any size', async () => {
    const { home, worktree, removal, record } = newWorktree();
    writeFileSync(path.join(worktree, 'src', 'deep', 'a.txt'), 'TRACKED');
    chmodSync(path.join(worktree, 'src', 'run.sh'), 0o644);
    rmSync(path.join(worktree, 'src', 'ünï "q".txt'));
    symlinkSync('unicode', path.join(worktree, 'src', 'ünï "q".txt'));
    rmSync(path.join(worktree, 'src', 'link'));
    writeFileSync(path.join(worktree, 'src', 'link'), 'deep/a.txt');
    const before = contents(path.join(worktree, 'src'));
    const entry = trashed(removal);
    expect(await thin(entry.files, held(home, record.head!), options)).toEqual({ deleted: 1, kept: 5 });
    expect(contents(path.join(entry.files, 'src'))).toEqual(before);
  });

  it('deletes nothing through a link or outside the folder', async () => {
    const { home, worktree, removal, record } = newWorktree();
    const outside = mkdtempSync(path.join(area, 'outside '));
    writeFileSync(path.join(outside, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
    rmSync(path.join(worktree, 'src'), { recursive: true });
    symlinkSync(outside, path.join(worktree, 'src'));
    const entry = trashed(removal);
    writeFileSync(path.join(entry.folder, 'beside'), 'tracked');
    const list = held(home, record.head!);
    const tracked = list.find((file) => String(file.path) === 'src/deep/a.txt')!;
    const tricks = ['../beside', 'empty/../../beside', `/${entry.folder}/beside`, './changed.txt', ''];
    const planted = tricks.map((name) => ({ mode: tracked.mode, id: tracked.id, path: Buffer.from(name) }));
    await thin(entry.files, [...planted, ...list], options);
    expect(readFileSync(path.join(entry.folder, 'beside'), 'utf8')).toBe('tracked');
    expect(readdirSync(outside)).toEqual(['run.sh']);
    expect(readlinkSync(path.join(entry.files, 'src'))).toBe(outside);
  });

  it('can be stopped anywhere and restarted', async () => {
    const { home, removal, record } = newWorktree();
    const entry = trashed(removal);
    const list = held(home, record.head!);
    const stop = new AbortController();
    function* interrupted() {
      for (const [number, file] of list.entries()) {
        if (number === 3) stop.abort();
        yield file;
      }
    }
    const first = await thin(entry.files, interrupted(), { ...options, signal: stop.signal });
    const second = await thin(entry.files, list, options);
    expect(first.deleted).toBeGreaterThan(0);
    expect([first.deleted + second.deleted, second.kept]).toEqual([5, 1]);
    expect(existsSync(path.join(entry.files, 'src', 'deep'))).toBe(false);
  });

  it('handles large files, names that are not text, and SHA-256', async () => {
    const home = path.join(area, 'sha256');
    git(area, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main', home);
    const name = Buffer.from([0x6e, 0xff, 0x6d]);
    const file = Buffer.concat([Buffer.from(`${home}/`), name]);
    writeFileSync(file, 'bytes');
    writeFileSync(path.join(home, 'large'), Buffer.alloc(300_001, 'x'));
    git(home, 'add', '--all');
    const ids = new Map(
      git(home, 'ls-files', '--stage')
        .split('\n')
        .map((line) => {
          const [, mode = '', id = '', shown = ''] = /^(\d+) (\w+) 0\t(.*)$/.exec(line) ?? [];
          return [shown === 'large' ? 'large' : 'odd', { mode, id }];
        }),
    );
    const list = [
      { ...ids.get('large')!, path: Buffer.from('large') },
      { ...ids.get('odd')!, path: name },
    ];
    expect(await thin(home, list, options)).toEqual({ deleted: 0, kept: 2 });
    expect(await thin(home, list, { objectFormat: 'sha256' })).toEqual({ deleted: 2, kept: 0 });
  });
});
