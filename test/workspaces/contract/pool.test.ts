import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { MANY_FILES } from '../../../packages/copse/src/workspaces/git/pool/entries.ts';
import { repairMoved } from '../../../packages/copse/src/git/worktrees/registrations.ts';
import { lookAtWorktree } from '../../../packages/copse/src/git/worktrees/worktrees.ts';
import {
  type Recycled,
  type Refilled,
  type Taken,
  fillSteps,
  takeSteps,
} from '../../../packages/copse/src/workspaces/ports/pool.ts';
import { finished, git, newArea, newRepository, plainEnv } from '../../support/cli.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';
import { often } from '../../support/long.ts';
import { type PoolJob, doJob, poolOf } from './pool-worker.ts';

const area = newArea();
const worker = bundleWorker(new URL('./pool-worker.ts', import.meta.url));

interface Fixture {
  readonly repository: string;
  readonly trash: string;
  readonly old: string;
  readonly tip: string;
}

type Size = 'few files' | 'many files';

const templates = new Map<Size, Omit<Fixture, 'trash'>>();
let fixtures = 0;

/** A repository with one of everything, and a tip that changes, adds, removes and renames: made once and then copied. */
function newFixture(size: Size = 'few files'): Fixture {
  const template = templates.get(size) ?? newTemplate(size);
  templates.set(size, template);
  fixtures += 1;
  const repository = path.join(area, `cöpy ${fixtures}`);
  cpSync(template.repository, repository, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
  });
  // The index has the times and numbers of the files that were copied.
  git(repository, 'status');
  return { ...template, repository, trash: path.join(repository, '.copse', 'trash') };
}

function newTemplate(size: Size): Omit<Fixture, 'trash'> {
  const repository = newRepository(area);
  const put = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(repository, name)), { recursive: true });
    writeFileSync(path.join(repository, name), text);
  };
  put('.gitignore', '*.log\n.env\nnode_modules/\n.worktrees/\n.copse/\n');
  put('.gitattributes', 'crlf.txt text eol=crlf\n');
  put('crlf.txt', 'one\ntwo\n');
  put('run me.sh', '#!/bin/sh\n');
  chmodSync(path.join(repository, 'run me.sh'), 0o755);
  put('src/deep/er/größe 林.ts', 'export {};\n');
  put('src/it\'s "quoted".ts', 'a\n');
  put('src/old.ts', 'old\n');
  put('same.txt', 'same\n');
  const more = size === 'many files' ? MANY_FILES : 0;
  for (let file = 0; file < more; file += 1) put(`many/${file % 10}/${file}.txt`, 'one of many\n');
  symlinkSync('same.txt', path.join(repository, 'a link'));
  git(repository, 'add', '--all');
  git(
    repository,
    'update-index',
    '--add',
    '--cacheinfo',
    `160000,${git(repository, 'rev-parse', 'HEAD')},module`,
  );
  git(repository, 'commit', '--quiet', '--message=files');
  const old = git(repository, 'rev-parse', 'HEAD');
  git(repository, 'mv', 'src/old.ts', 'src/new.ts');
  put('same.txt', 'changed\n');
  put('added/one.txt', 'added\n');
  git(repository, 'add', 'same.txt', 'added');
  git(repository, 'commit', '--quiet', '--message=tip');
  return { repository, old, tip: git(repository, 'rev-parse', 'HEAD') };
}

const refill = (fixture: Fixture, size: number, base: string) =>
  doJob({ ...fixture, do: { refill: size, base } }) as Promise<Refilled>;

function take(fixture: Fixture, name: string, tip = fixture.tip): Promise<Taken> {
  git(fixture.repository, 'branch', '--force', name, tip);
  return doJob({ ...fixture, do: { take: name, tip } }) as Promise<Taken>;
}

const run = (job: PoolJob) =>
  finished(
    spawn(process.execPath, [worker.file, JSON.stringify(job)], { env: { ...plainEnv, ...worker.env } }),
  );

const at = ({ repository }: Fixture, ...names: readonly string[]) =>
  path.join(repository, '.worktrees', ...names);

/** Everything in a folder but its `.git` file, with modes and bytes. */
function contents(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== '.git')
    .toSorted()
    .map((name) => {
      const file = path.join(folder, name);
      const found = lstatSync(file);
      const what = found.isSymbolicLink()
        ? readlinkSync(file)
        : found.isFile()
          ? readFileSync(file, 'latin1')
          : '/';
      return `${name} ${(found.mode & 0o7777).toString(8)} ${what}`;
    });
}

/** What plain git makes of the same branch. */
function expectLikePlainGit(fixture: Fixture, worktree: string, tip: string): void {
  const plain = path.join(area, `plain ${path.basename(fixture.repository)} ${path.basename(worktree)}`);
  git(fixture.repository, 'worktree', 'add', '--quiet', '--detach', plain, tip);
  expect(contents(worktree)).toEqual(contents(plain));
  expect(git(worktree, 'status', '--porcelain', '--ignored')).toBe('');
  expect(git(worktree, 'rev-parse', 'HEAD')).toBe(tip);
  expect(git(worktree, 'ls-files', '--stage', '-v')).toBe(git(plain, 'ls-files', '--stage', '-v'));
  git(worktree, 'fsck', '--connectivity-only');
}

describe('an entry of the pool that a task takes', () => {
  it.each(['at its tip', 'behind it'])(
    'equals the result of git worktree add, when it was %s',
    async (where) => {
      const fixture = newFixture();
      await refill(fixture, 1, where === 'behind it' ? fixture.old : fixture.tip);
      const taken = await take(fixture, 'cp-a');
      expect(taken).toMatchObject({ kind: 'taken', wasAtTip: where === 'at its tip' });
      const worktree = at(fixture, 'cp-a');
      expectLikePlainGit(fixture, worktree, fixture.tip);
      expect(git(fixture.repository, 'worktree', 'list', '--porcelain')).toContain(
        `worktree ${worktree}\nHEAD ${fixture.tip}\nbranch refs/heads/cp-a\nlocked Copse: task cp-a.`,
      );
      expect(git(fixture.repository, 'worktree', 'list')).not.toContain('.pool');
      expect(poolOf(fixture).list()).toEqual([]);
    },
  );

  it('is another one for each of sixteen processes at once', async () => {
    const fixture = newFixture();
    await refill(fixture, 4, fixture.tip);
    const names = Array.from({ length: 16 }, (_, index) => `cp-${index}`);
    for (const name of names) git(fixture.repository, 'branch', name, fixture.old);
    const all = await Promise.all(
      names.map((name) => run({ ...fixture, do: { take: name, tip: fixture.old } })),
    );
    expect(all.map(({ stderr }) => stderr).join('')).toBe('');
    const outcomes = all.map(({ stdout }) => JSON.parse(stdout) as Taken);
    expect(outcomes.filter(({ kind }) => kind === 'taken')).toHaveLength(4);
    expect(outcomes.flatMap((one) => (one.kind === 'taken' ? [] : one.because))).toEqual(
      Array(12).fill('empty'),
    );
    for (const one of outcomes)
      if (one.kind === 'taken') expectLikePlainGit(fixture, one.place.path, fixture.old);
    expect(names.filter((name) => existsSync(at(fixture, name)))).toHaveLength(4);
  }, 60_000);

  it('is refused when the branch is checked out elsewhere, has moved, or the path is in use', async () => {
    const fixture = newFixture();
    await refill(fixture, 1, fixture.tip);
    mkdirSync(at(fixture, 'cp-b'));
    expect(await take(fixture, 'cp-b')).toEqual({ kind: 'not_taken', because: 'place_in_use' });
    git(fixture.repository, 'worktree', 'add', '--quiet', '-b', 'cp-c', path.join(area, 'elsewhere'));
    const job = { ...fixture, do: { take: 'cp-c', tip: fixture.tip } };
    expect(await doJob(job)).toEqual({ kind: 'not_taken', because: 'branch_in_use' });
    git(fixture.repository, 'branch', 'cp-d', fixture.old);
    expect(await doJob({ ...job, do: { take: 'cp-d', tip: fixture.tip } })).toEqual({
      kind: 'not_taken',
      because: 'branch_moved',
    });
    expect(poolOf(fixture).list()).toHaveLength(1);
  });

  it.each(['few files', 'many files'] as const)(
    'equals the result of git worktree add, of %s, and git sees later changes',
    async (size) => {
      const fixture = newFixture(size);
      await refill(fixture, 1, fixture.old);
      expect(await take(fixture, 'cp-a')).toMatchObject({ kind: 'taken' });
      expectLikePlainGit(fixture, at(fixture, 'cp-a'), fixture.tip);
      await refill(fixture, 1, fixture.tip);
      expect(await take(fixture, 'cp-b')).toMatchObject({ kind: 'taken', wasAtTip: true });
      fake(at(fixture, 'cp-b', 'same.txt'));
      expect(git(at(fixture, 'cp-b'), 'status', '--porcelain')).toBe(' M same.txt');
    },
  );

  it('of many files has an index that is younger by a second, so that git reads none of them', async () => {
    const fixture = newFixture('many files');
    await refill(fixture, 1, fixture.tip);
    const secondsOf = (timeMs: number) => Math.floor(timeMs / 1_000);
    const index = lstatSync(path.join(fixture.repository, '.git/worktrees/copse-pool-1/index'));
    const names = git(at(fixture, '.pool', '1'), 'ls-files', '-z')
      .split('\0')
      .filter(Boolean);
    const newest = Math.max(...names.map((name) => lstatSync(at(fixture, '.pool', '1', name)).ctimeMs));
    expect(secondsOf(index.mtimeMs)).toBeGreaterThan(secondsOf(newest));
  });

  const spoilers: readonly [string, (entry: string, fixture: Fixture) => void][] = [
    ['a new file', (entry) => writeFileSync(path.join(entry, 'src/deep/note'), 'mine')],
    ['an ignored file', (entry) => writeFileSync(path.join(entry, '.env'), 'SECRET=1')],
    ['a repository in a tracked folder', (entry) => mkdirSync(path.join(entry, 'src/.git'))],
    ['a file in the folder of a submodule', (entry) => writeFileSync(path.join(entry, 'module/x'), 'x')],
    ['an empty folder', (entry) => mkdirSync(path.join(entry, 'added/empty'))],
    ['a deleted file', (entry) => rmSync(path.join(entry, 'same.txt'))],
    [
      'a file with other bytes, the same size and the same time',
      (entry) => fake(path.join(entry, 'same.txt')),
    ],
    ['a file with another mode', (entry) => chmodSync(path.join(entry, 'same.txt'), 0o600)],
    [
      'a file that was replaced by an equal one',
      (entry) => {
        writeFileSync(path.join(entry, 'same.txt.new'), 'changed\n');
        renameSync(path.join(entry, 'same.txt.new'), path.join(entry, 'same.txt'));
      },
    ],
    [
      'a changed file that its index no longer looks at',
      (entry) => {
        git(entry, 'update-index', '--assume-unchanged', 'same.txt');
        appendFileSync(path.join(entry, 'same.txt'), 'mine');
      },
    ],
    ['a commit', (entry) => git(entry, 'commit', '--quiet', '--allow-empty', '--message=work')],
  ];
  // promise: pool-isolated
  it.each(spoilers)('is never one with %s: it stays, and refilling reports it', async (_, spoil) => {
    const fixture = newFixture();
    await refill(fixture, 1, fixture.tip);
    const entry = at(fixture, '.pool', '1');
    spoil(entry, fixture);
    const before = contents(entry);
    expect(await take(fixture, 'cp-a')).toEqual({ kind: 'not_taken', because: 'spoiled' });
    expect(existsSync(at(fixture, 'cp-a'))).toBe(false);
    const refilled = await refill(fixture, 1, fixture.tip);
    expect(refilled).toMatchObject({ ready: 1, made: 1, left: [{ path: entry }] });
    expect(await refill(fixture, 0, fixture.tip)).toMatchObject({ removed: 1, left: [{ path: entry }] });
    expect(contents(entry)).toEqual(before);
  });

  it('is never one of many files and any of these', async () => {
    const fixture = newFixture('many files');
    const stride = often({ short: 4, long: 2 });
    for (const [index, [what, spoil]] of spoilers.entries()) {
      if (index % stride !== 0) continue;
      await refill(fixture, 1, fixture.tip);
      const entry = poolOf(fixture).list().at(-1);
      spoil(entry!.path, fixture);
      expect([what, await take(fixture, `cp-${index}`)]).toEqual([
        what,
        { kind: 'not_taken', because: 'spoiled' },
      ]);
      expect(existsSync(at(fixture, `cp-${index}`))).toBe(false);
    }
  }, 120_000);

  it('is never one whose seal has no files', async () => {
    const fixture = newFixture();
    await refill(fixture, 1, fixture.tip);
    const seal = path.join(fixture.repository, '.copse/pool/1.json');
    const { files: _, ...rest } = JSON.parse(readFileSync(seal, 'utf8')) as Record<string, unknown>;
    writeFileSync(seal, JSON.stringify(rest));
    expect(await take(fixture, 'cp-a')).toEqual({ kind: 'not_taken', because: 'empty' });
  });

  // promise: pool-isolated
  it('has none of the files that were put into its registration', async () => {
    const fixture = newFixture();
    await refill(fixture, 1, fixture.tip);
    const registration = path.join(fixture.repository, '.git/worktrees/copse-pool-1');
    plantInto(registration);
    const taken = await take(fixture, 'cp-a');
    if (taken.kind !== 'taken') throw new Error('not taken');
    expect(readdirSync(taken.place.gitDir).toSorted()).toEqual([
      'HEAD',
      'commondir',
      'gitdir',
      'index',
      'locked',
    ]);
    expect(existsSync(registration)).toBe(false);
  });
});

/** Other bytes, and every time and size that can be set as it was. */
function fake(file: string): void {
  const { atime, mtime, size } = lstatSync(file);
  writeFileSync(file, 'x'.repeat(size));
  utimesSync(file, atime, mtime);
}

function plantInto(gitDir: string): void {
  writeFileSync(path.join(gitDir, 'config.worktree'), '[core]\n\tfsmonitor = touch /tmp/planted\n');
  for (const folder of ['hooks', 'rebase-merge', 'refs/bisect', 'info', 'logs']) {
    mkdirSync(path.join(gitDir, folder), { recursive: true });
    writeFileSync(path.join(gitDir, folder, 'planted'), 'x');
  }
}

describe('a kill while an entry is handed out', () => {
  it.each(takeSteps)(
    'after "%s" leaves a whole worktree, or a broken one, and nothing shared',
    async (step) => {
      const fixture = newFixture();
      await refill(fixture, 2, fixture.old);
      git(fixture.repository, 'branch', 'cp-a', fixture.tip);
      const killed = await run({ ...fixture, do: { take: 'cp-a', tip: fixture.tip }, killAfter: step });
      expect(killed.code).toBe(null);
      const dir = openTrustedDir({
        commonDir: path.join(fixture.repository, '.git'),
        home: fixture.repository,
      });
      const worktree = at(fixture, 'cp-a');
      await repairMoved(dir.commonDir, worktree);
      const { state } = await lookAtWorktree(dir, worktree);
      expect(state).toBe(step === 'finished' ? 'healthy' : existsSync(worktree) ? 'broken' : 'absent');
      if (state === 'healthy') expectLikePlainGit(fixture, worktree, fixture.tip);
      const before = existsSync(worktree) ? contents(worktree) : undefined;

      const other = await take(fixture, 'cp-b');
      expect(other.kind).toBe('taken');
      expectLikePlainGit(fixture, at(fixture, 'cp-b'), fixture.tip);
      expect(await take(fixture, 'cp-c')).toEqual({ kind: 'not_taken', because: 'empty' });
      const refilled = await refill(fixture, 2, fixture.tip);
      expect(refilled.ready).toBe(2);
      expect((await take(fixture, 'cp-d')).kind).toBe('taken');
      expectLikePlainGit(fixture, at(fixture, 'cp-d'), fixture.tip);
      if (before) expect(contents(worktree)).toEqual(before);
      expect((await lookAtWorktree(dir, worktree)).state).toBe(state);
    },
  );
});

/** What git keeps about a worktree, as names of files. */

describe('a kill while the pool is filled', () => {
  const kinds = ['made', 'advanced', 'recycled'] as const;
  const cases = kinds.flatMap((kind) => fillSteps.map((step) => [kind, step] as const));
  const happening = cases.filter(
    ([kind, step]) => step !== (kind === 'advanced' ? 'entry_registered' : 'entry_opened'),
  );
  it.each(happening)('and an entry is %s, after "%s", leaves no incomplete entry', async (kind, step) => {
    const fixture = newFixture();
    const files = path.join(fixture.trash, 'removed', 'files');
    if (kind === 'recycled') removed(fixture, files);
    if (kind === 'advanced') await refill(fixture, 1, fixture.old);
    const what = kind === 'recycled' ? { recycle: files } : { refill: 1 };
    const killed = await run({ ...fixture, do: { ...what, base: fixture.tip }, killAfter: step });
    expect(killed.code).toBe(null);
    const isWhole = step === 'sealed';
    expect(poolOf(fixture).list()).toHaveLength(isWhole ? 1 : 0);
    expect((await take(fixture, 'cp-z')).kind).toBe(isWhole ? 'taken' : 'not_taken');
    expect(await refill(fixture, 1, fixture.tip)).toMatchObject({
      ready: 1,
      cleared: isWhole ? 0 : 1,
      left: [],
    });
    expect((await take(fixture, 'cp-a')).kind).toBe('taken');
    expectLikePlainGit(fixture, at(fixture, 'cp-a'), fixture.tip);
  });
});

/** A worktree of a task, moved to where the trash has it. */
function removed(fixture: Fixture, files: string, dirty: (worktree: string) => void = () => {}): void {
  const worktree = at(fixture, 'cp-old');
  git(fixture.repository, 'worktree', 'add', '--quiet', '--detach', worktree, fixture.old);
  dirty(worktree);
  mkdirSync(path.dirname(files), { recursive: true });
  renameSync(worktree, files);
  renameSync(
    path.join(fixture.repository, '.git/worktrees/cp-old'),
    path.join(path.dirname(files), 'gitdir'),
  );
}

describe('a recycled worktree', () => {
  it('is an entry like any other, made of the unchanged files', async () => {
    const fixture = newFixture();
    const files = path.join(fixture.trash, 'one', 'files');
    removed(fixture, files);
    const inode = lstatSync(path.join(files, 'run me.sh')).ino;
    const outcome = (await doJob({ ...fixture, do: { recycle: files, base: fixture.tip } })) as Recycled;
    // Written: what the tip changed, added or renamed, and the file whose line endings git converts.
    expect(outcome).toMatchObject({ kind: 'recycled', kept: 6, written: 4 });
    await take(fixture, 'cp-a');
    expect(lstatSync(at(fixture, 'cp-a', 'run me.sh')).ino).toBe(inode);
    expectLikePlainGit(fixture, at(fixture, 'cp-a'), fixture.tip);
  });

  // promise: pool-isolated
  it('has no file of the earlier task, even a hidden one; those stay in the trash', async () => {
    const fixture = newFixture();
    const files = path.join(fixture.trash, 'one', 'files');
    removed(fixture, files, (worktree) => {
      const put = (name: string, text: string) => {
        mkdirSync(path.dirname(path.join(worktree, name)), { recursive: true });
        writeFileSync(path.join(worktree, name), text);
      };
      put('.env', 'SECRET=1');
      put('node_modules/evil/index.js', 'x');
      put('untracked', 'x');
      put('.copse/session.json', '{}');
      put('module/inside', 'x');
      mkdirSync(path.join(worktree, 'empty'));
      git(worktree, 'init', '--quiet', 'nested');
      put('nested/.git/hooks/post-checkout', 'x');
      put('crlf.txt', 'one\ntwo\n');
      git(worktree, 'update-index', '--assume-unchanged', 'same.txt');
      git(worktree, 'update-index', '--skip-worktree', '.gitignore');
      put('.gitignore', '*\n');
      put('.gitattributes', '* text eol=crlf\n');
      chmodSync(path.join(worktree, 'run me.sh'), 0o4755);
      // Later somebody could write through the other name.
      linkSync(path.join(worktree, 'src/deep/er/größe 林.ts'), path.join(worktree, 'second name'));
      fake(path.join(worktree, 'src/old.ts'));
      // An index that says all is well: it has the times of the file as it is and the content of the commit.
      const id = git(worktree, 'rev-parse', 'HEAD:src/old.ts');
      git(worktree, 'update-index', '--cacheinfo', `100644,${id},src/old.ts`);
      plantInto(path.join(fixture.repository, '.git/worktrees/cp-old'));
    });
    const before = contents(files);
    const outcome = (await doJob({ ...fixture, do: { recycle: files, base: fixture.old } })) as Recycled;
    expect(outcome).toMatchObject({ kind: 'recycled' });
    expect(await take(fixture, 'cp-a', fixture.old)).toMatchObject({ kind: 'taken', wasAtTip: true });
    expectLikePlainGit(fixture, at(fixture, 'cp-a'), fixture.old);
    expect(lstatSync(at(fixture, 'cp-a', 'src/deep/er/größe 林.ts')).nlink).toBe(1);
    const gone = before.filter((line) => !contents(files).includes(line));
    const fresh = new Set(contents(at(fixture, 'cp-a')));
    expect(gone.filter((line) => !fresh.has(line))).toEqual([]);
  });

  it.each(['few files', 'many files'] as const)(
    'of %s is not handed out when a file was written while the entry was made',
    async (size) => {
      const fixture = newFixture(size);
      const files = path.join(fixture.trash, 'one', 'files');
      // What was written by a task long ago, and seems to be that old whatever is done to it.
      removed(fixture, files, (worktree) => utimesSync(path.join(worktree, 'run me.sh'), 1e9, 1e9));
      await doJob({ ...fixture, do: { recycle: files, base: fixture.old } });
      fake(at(fixture, '.pool', '1', 'run me.sh'));
      expect(await take(fixture, 'cp-a', fixture.old)).toEqual({ kind: 'not_taken', because: 'spoiled' });
    },
  );

  it('takes no file through a folder that is a link', async () => {
    const fixture = newFixture();
    const outside = path.join(area, `linked ${path.basename(fixture.repository)}`);
    const files = path.join(fixture.trash, 'one', 'files');
    removed(fixture, files, (worktree) => {
      renameSync(path.join(worktree, 'src'), outside);
      symlinkSync(outside, path.join(worktree, 'src'));
    });
    const before = contents(outside);
    await doJob({ ...fixture, do: { recycle: files, base: fixture.old } });
    expect(contents(outside)).toEqual(before);
    await take(fixture, 'cp-a', fixture.old);
    expectLikePlainGit(fixture, at(fixture, 'cp-a'), fixture.old);
  });

  it('is not made if a checkout converts every text file', async () => {
    const fixture = newFixture();
    const files = path.join(fixture.trash, 'one', 'files');
    removed(fixture, files);
    git(fixture.repository, 'config', 'core.autocrlf', 'true');
    const outcome = await doJob({ ...fixture, do: { recycle: files, base: fixture.old } });
    expect(outcome).toEqual({ kind: 'not_recycled', because: 'files_are_converted' });
  });
});

describe('refilling', () => {
  it('makes missing entries, brings the rest to the base and removes surplus ones', async () => {
    const fixture = newFixture();
    expect(await refill(fixture, 3, fixture.old)).toEqual({
      ready: 3,
      made: 3,
      advanced: 0,
      removed: 0,
      cleared: 0,
      left: [],
    });
    expect(await refill(fixture, 3, fixture.old)).toMatchObject({ ready: 3, made: 0, advanced: 0 });
    expect(await refill(fixture, 2, fixture.tip)).toMatchObject({ ready: 2, advanced: 2, removed: 1 });
    expect(
      poolOf(fixture)
        .list()
        .map(({ commit }) => commit),
    ).toEqual([fixture.tip, fixture.tip]);
    expect(readdirSync(fixture.trash)).toHaveLength(1);
    await take(fixture, 'cp-a');
    expectLikePlainGit(fixture, at(fixture, 'cp-a'), fixture.tip);
  });

  it('keeps the entries of a repository that was moved', async () => {
    const fixture = newFixture();
    await refill(fixture, 1, fixture.tip);
    const repository = `${fixture.repository} moved`;
    renameSync(fixture.repository, repository);
    const moved = { ...fixture, repository, trash: path.join(repository, '.copse/trash') };
    expect(await refill(moved, 1, fixture.tip)).toMatchObject({ ready: 1, made: 0, left: [] });
    expect((await take(moved, 'cp-a')).kind).toBe('taken');
    expectLikePlainGit(moved, at(moved, 'cp-a'), fixture.tip);
  });

  it('forgets an entry whose folder was deleted', async () => {
    const fixture = newFixture();
    await refill(fixture, 1, fixture.tip);
    rmSync(at(fixture, '.pool', '1'), { recursive: true });
    expect((await take(fixture, 'cp-a')).kind).toBe('not_taken');
    expect(await refill(fixture, 1, fixture.tip)).toMatchObject({ cleared: 1, made: 1, left: [] });
  });
});
