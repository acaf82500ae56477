/** Worktrees of the trash become entries, and the pool is filled. */

import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import type { Recycled } from '../../../../packages/copse/src/workspaces/ports/pool.ts';
import { git, newArea } from '../../../support/cli.ts';
import {
  at,
  contents,
  expectLikePlainGit,
  fake,
  fixturesIn,
  plantInto,
  refill,
  removed,
  take,
} from './fixture.ts';
import { doJob, poolOf } from './pool-worker.ts';

const area = newArea();
const newFixture = fixturesIn(area);

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
