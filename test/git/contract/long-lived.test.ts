/** Long-lived gits give the answers of the plain commands, also after they were killed. */

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { Merger, RefWriter } from '../../../packages/copse/src/git/long-lived.ts';
import { restGits } from '../../../packages/copse/src/git/long-lived-process.ts';
import { ObjectReader } from '../../../packages/copse/src/git/objects/object-reader.ts';
import type { TrustedDir } from '../../../packages/copse/src/git/process.ts';
import { moveRef } from '../../../packages/copse/src/git/refs/refs.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type CommitId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';

const area = newArea();
let top: string;
let dir: TrustedDir;
const commits: Record<string, CommitId> = {};
const open: { close(): Promise<void> }[] = [];

function keep<T extends { close(): Promise<void> }>(standing: T): T {
  open.push(standing);
  return standing;
}

function commitOf(branch: string): CommitId {
  const commit = commits[branch];
  if (commit === undefined) throw new Error(`no branch ${branch} was made`);
  return commit;
}

const absent = brand<CommitId>('12'.repeat(20));

beforeAll(() => {
  top = newRepository(area);
  dir = openTrustedDir({ commonDir: path.join(top, '.git'), home: top });
  const contents = {
    base: { 'file ü.txt': 'one\ntwo\nthree\n', 'big.bin': 'x'.repeat(3_000_000) },
    ours: { 'file ü.txt': 'one\nOURS\nthree\n' },
    theirs: { 'file ü.txt': 'one\nTHEIRS\nthree\n' },
    apart: { 'other.txt': 'apart\n' },
  };
  for (const [branch, files] of Object.entries(contents)) {
    git(top, 'checkout', '--quiet', '-b', branch, branch === 'base' ? 'main' : 'base');
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(top, name), text);
    git(top, 'add', '--all', '--', ...Object.keys(files));
    git(top, 'commit', '--quiet', `--message=${branch}`);
    commits[branch] = brand(git(top, 'rev-parse', 'HEAD'));
  }
  git(top, 'checkout', '--quiet', 'main');
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((standing) => standing.close()));
});

/** Ended from outside, as the system does when memory runs out. */
function endNow({ pid }: { readonly pid: number | undefined }): void {
  if (pid === undefined) throw new Error('there is no process to end');
  process.kill(pid, 'SIGKILL');
}

describe('reading objects', () => {
  it('gives the answers of git cat-file, also for large and missing objects', async () => {
    const reader = keep(new ObjectReader(dir));
    const names = ['base:big.bin', `${commitOf('ours')}:file ü.txt`, absent, 'refs/heads/theirs'];
    expect(await reader.check(names)).toEqual(
      names.map((name) => {
        if (name === absent) return undefined;
        const id = git(top, 'rev-parse', name);
        return { id, type: git(top, 'cat-file', '-t', id), size: Number(git(top, 'cat-file', '-s', id)) };
      }),
    );
    expect((await reader.read('base:big.bin'))?.content.toString()).toBe('x'.repeat(3_000_000));
    expect(await reader.read(absent)).toBeUndefined();
    const commit = await reader.read(commitOf('ours'));
    expect(commit?.content.toString().trimEnd()).toBe(git(top, 'cat-file', '-p', commitOf('ours')));
  });

  it('survives the end of its process, between requests and during them', async () => {
    const reader = keep(new ObjectReader(dir));
    const ours = await reader.read(commitOf('ours'));
    const first = reader.pid;
    endNow(reader);
    expect(await reader.read(commitOf('ours'))).toEqual(ours);
    const during = Array.from({ length: 20 }, () => reader.read('base:big.bin'));
    await during[0];
    endNow(reader);
    for (const found of await Promise.all(during)) expect(found?.content).toHaveLength(3_000_000);
    expect(reader.pid).not.toBe(first);
  });

  it('refuses a name that would be a second request', async () => {
    const reader = keep(new ObjectReader(dir));
    await expect(reader.read('main\ncontents base')).rejects.toThrow('is not the name of a git object');
  });

  it('uses the plain command once it is closed', async () => {
    const reader = new ObjectReader(dir);
    await reader.close();
    expect((await reader.read(commitOf('ours')))?.id).toBe(commitOf('ours'));
    expect(reader.pid).toBeUndefined();
  });
});

describe('moving refs', () => {
  const tip = (ref: string) => git(top, 'for-each-ref', '--format=%(objectname)', ref);

  it('creates, moves and deletes a ref only from the expected tip', async () => {
    const writer = keep(new RefWriter(dir));
    const ref = 'refs/heads/moving/one';
    expect(await writer.move(ref, null, commitOf('base'))).toEqual({ kind: 'moved' });
    const { pid } = writer;
    expect(await writer.move(ref, commitOf('base'), commitOf('ours'))).toEqual({ kind: 'moved' });
    expect(tip(ref)).toBe(commitOf('ours'));
    expect(writer.pid).toBe(pid);
    for (const from of [commitOf('base'), null]) {
      for (const to of [commitOf('theirs'), null]) {
        const lost = { kind: 'not_moved', because: 'changed', tip: commitOf('ours') };
        if (from !== null || to !== null) expect(await writer.move(ref, from, to)).toEqual(lost);
      }
    }
    expect(tip(ref)).toBe(commitOf('ours'));
    expect(await writer.move(ref, commitOf('ours'), null)).toEqual({ kind: 'moved' });
    expect(tip(ref)).toBe('');
  });

  it('a request that comes while a command closes goes to a new process', async () => {
    const writer = keep(new RefWriter(dir));
    const ref = 'refs/heads/moving/rested';
    await writer.move(ref, null, commitOf('base'));
    const { pid } = writer;
    const rested = restGits(dir.home);
    expect(await writer.move(ref, commitOf('base'), commitOf('ours'))).toEqual({ kind: 'moved' });
    await rested;
    expect(writer.pid).toBeTypeOf('number');
    expect(writer.pid).not.toBe(pid);
  });

  it('reports a ref that another process has locked, and moves it after the release', async () => {
    const writer = keep(new RefWriter(dir));
    const ref = 'refs/heads/locked';
    await writer.move(ref, null, commitOf('base'));
    const lock = path.join(top, '.git', `${ref}.lock`);
    writeFileSync(lock, '');
    expect(await writer.move(ref, commitOf('base'), commitOf('ours'))).toEqual({
      kind: 'not_moved',
      because: 'locked',
      tip: commitOf('base'),
    });
    rmSync(lock);
    expect(await writer.move(ref, commitOf('base'), commitOf('ours'))).toEqual({ kind: 'moved' });
  });

  it.each<[string, RefWriter['move']]>([
    ['a long-lived git', (...move) => keep(new RefWriter(dir)).move(...move)],
    ['a git of its own', (ref, from, to) => moveRef(dir, { ref, from, to, reason: 'copse' })],
  ])('%s moves or deletes a symbolic ref itself, not its target', async (_, move) => {
    const alias = 'refs/heads/alias';
    git(top, 'branch', '--force', 'target', 'base');
    for (const to of [commitOf('ours'), null]) {
      git(top, 'symbolic-ref', alias, 'refs/heads/target');
      expect(await move(alias, commitOf('base'), to)).toEqual({ kind: 'moved' });
      expect([tip('refs/heads/target'), tip(alias)]).toEqual([commitOf('base'), to ?? '']);
    }
  });

  it('survives the end of its process, and moves each ref once', async () => {
    const writer = keep(new RefWriter(dir));
    const ref = 'refs/heads/ended';
    await writer.move(ref, null, commitOf('base'));
    endNow(writer);
    expect(await writer.move(ref, commitOf('base'), commitOf('ours'))).toEqual({ kind: 'moved' });
    for (let round = 0; round < 10; round += 1) {
      const name = `refs/heads/ended-${round}`;
      await writer.move(ref, commitOf('ours'), commitOf('ours'));
      const moving = writer.move(name, null, commitOf('base'));
      endNow(writer);
      const outcome = await moving;
      // Ended in the middle, git leaves its lock behind, and nobody may say that the ref was moved.
      const isMoved = tip(name) === commitOf('base');
      expect(outcome).toEqual(
        isMoved ? { kind: 'moved' } : { kind: 'not_moved', because: 'locked', tip: null },
      );
    }
  });
});

describe('merging', () => {
  it('gives the tree and the conflicts of git merge-tree', async () => {
    const merger = keep(new Merger(dir));
    const plain = git(top, 'merge-tree', '--write-tree', 'ours', 'apart');
    expect(await merger.merge(commitOf('ours'), commitOf('apart'))).toEqual({ kind: 'clean', tree: plain });
    const { pid } = merger;
    const conflict = await merger.merge(commitOf('ours'), commitOf('theirs'));
    expect(conflict).toEqual({
      kind: 'conflicted',
      tree: expect.stringMatching(/^[0-9a-f]{40}$/),
      files: [Buffer.from('file ü.txt').toString('latin1')],
      conflicts: [
        {
          paths: ['file ü.txt'],
          type: 'CONFLICT (contents)',
          message: 'CONFLICT (content): Merge conflict in file ü.txt',
        },
      ],
    });
    expect(await merger.merge(commitOf('ours'), commitOf('apart'))).toEqual({ kind: 'clean', tree: plain });
    expect(merger.pid).toBe(pid);
    const closed = new Merger(dir);
    await closed.close();
    // The markers name the two sides as they were given, so the same commits make the same tree.
    expect(await closed.merge(commitOf('ours'), commitOf('theirs'))).toEqual(conflict);
  });

  it('answers for submodules that both sides moved, although git prints advice after it', async () => {
    const merger = keep(new Merger(dir));
    const tree = git(top, 'mktree');
    const pointing = (digit: string, ...parents: readonly string[]) => {
      const listed = `160000 commit ${digit.repeat(40)}\tsub\n`;
      const moved = execFileSync('git', ['mktree', '--missing'], {
        cwd: top,
        input: listed,
        encoding: 'utf8',
      });
      return brand<CommitId>(git(top, 'commit-tree', '-m', digit, ...parents, moved.trim()));
    };
    const before = pointing('1', '-p', git(top, 'commit-tree', '-m', 'empty', tree));
    const [ours, theirs] = [pointing('2', '-p', before), pointing('3', '-p', before)];
    await merger.merge(commitOf('ours'), commitOf('apart'));
    const { pid } = merger;
    const conflict = await merger.merge(ours, theirs);
    expect(conflict).toMatchObject({ kind: 'conflicted', files: ['sub'] });
    expect(merger.pid).toBe(pid);
  });

  it('throws for a revision that does not exist, and merges the next', async () => {
    const merger = keep(new Merger(dir));
    for (let round = 0; round < 5; round += 1) {
      await expect(merger.merge(absent, commitOf('ours'))).rejects.toThrow('merge-tree');
    }
    expect(await merger.merge(commitOf('base'), commitOf('ours'))).toMatchObject({ kind: 'clean' });
    expect(merger.pid).toBeDefined();
  });

  it('survives the end of its process, between requests and during them', async () => {
    const merger = keep(new Merger(dir));
    const first = await merger.merge(commitOf('ours'), commitOf('theirs'));
    endNow(merger);
    const during = Array.from({ length: 6 }, () => merger.merge(commitOf('ours'), commitOf('theirs')));
    await during[0];
    if (merger.pid !== undefined) endNow(merger);
    expect(await Promise.all(during)).toEqual(Array(6).fill(first));
  });
});

it('a thousand requests start three processes, and closing ends them', async () => {
  const before = process.platform === 'linux' ? gitsStartedHere() : [];
  const [reader, writer, merger] = [new ObjectReader(dir), new RefWriter(dir), new Merger(dir)];
  const pids = new Set<number | undefined>();
  for (let round = 0; round < 334; round += 1) {
    const [from, to] = [round === 0 ? null : commitOf('base'), commitOf('base')];
    const outcomes = await Promise.all([
      reader.read(commitOf('ours')),
      writer.move('refs/heads/thousand', from, to),
      merger.merge(commitOf('ours'), commitOf('apart')),
    ]);
    expect(outcomes).toMatchObject([{ type: 'commit' }, { kind: 'moved' }, { kind: 'clean' }]);
    for (const { pid } of [reader, writer, merger]) pids.add(pid);
  }
  expect(pids.size).toBe(3);
  await Promise.all([reader.close(), writer.close(), merger.close()]);
  if (process.platform === 'linux') expect(gitsStartedHere()).toEqual(before);
});

function gitsStartedHere(): readonly string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const isOurs = new RegExp(`^PPid:\\t${process.pid}$`, 'm').test(status);
      return isOurs && /^Name:\tgit$/m.test(status) ? [pid] : [];
    } catch {
      // Not a process, or gone since.
      return [];
    }
  });
}
