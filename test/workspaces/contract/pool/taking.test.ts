/** The entry that a task takes is what plain git would make, or it is not taken. */

import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import type { Taken } from '../../../../packages/copse/src/workspaces/ports/pool.ts';
import { git, newArea } from '../../../support/cli.ts';
import { often } from '../../../support/long.ts';
import {
  type Fixture,
  at,
  contents,
  expectLikePlainGit,
  fake,
  fixturesIn,
  plantInto,
  refill,
  run,
  take,
} from './fixture.ts';
import { doJob, poolOf } from './pool-worker.ts';

const area = newArea();
const newFixture = fixturesIn(area);

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
