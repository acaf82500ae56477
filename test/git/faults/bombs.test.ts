/**
 * A few small objects that stand for more than any machine can hold, and files of which only the size is large. Copse notices
 * each from what is there, and says so, before a git lists, hashes or prints it.
 */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { diffTrees, knownObjectsOf, requireBounded } from '../../../packages/copse/src/git/objects.ts';
import type { TrustedDir } from '../../../packages/copse/src/git/process.ts';
import { limited } from '../../../packages/copse/src/git/run/limits.ts';
import { uncommittedIn } from '../../../packages/copse/src/git/worktrees/worktrees.ts';
import { type CommitId, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { BeyondLimits } from '../../../packages/copse/src/kernel/unavailable.ts';
import { openTouched } from '../../../packages/copse/src/radar/git/radar.ts';
import { openDiffs } from '../../../packages/copse/src/workspaces/git/diff.ts';
import { openRescues } from '../../../packages/copse/src/workspaces/git/rescue/rescues.ts';
import { copse, git, newArea, plainEnv } from '../../support/cli.ts';

const area = newArea();
const top = path.join(area, 'repo');
const worktree = path.join(area, 'worktree');
let dir: TrustedDir;
let main: CommitId;

beforeAll(() => {
  mkdirSync(top);
  git(top, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(path.join(top, 'code.txt'), 'one\n');
  git(top, 'add', '--all');
  git(top, 'commit', '--quiet', '--message=first');
  git(top, 'worktree', 'add', '--quiet', '-b', 'task', worktree);
  main = brand(git(top, 'rev-parse', 'main'));
  const repository = findRepository(top);
  if (repository === undefined) throw new Error(`${top} is no repository`);
  dir = openTrustedDir(repository);
});

const withInput = (input: string, ...argv: readonly string[]) =>
  execFileSync('git', argv, { cwd: top, input, env: plainEnv, encoding: 'utf8' }).trim();

/** A tree of ten, each of which is a tree of ten, and so on. */
function bomb(levels: number): string {
  const blob = withInput('x', 'hash-object', '-w', '--stdin');
  const ten = (line: (at: number) => string) => Array.from({ length: 10 }, (_, at) => line(at)).join('');
  let tree = withInput(
    ten((at) => `100644 blob ${blob}\tf${at}\n`),
    'mktree',
  );
  for (let level = 1; level < levels; level += 1) {
    const below = tree;
    tree = withInput(
      ten((at) => `040000 tree ${below}\td${at}\n`),
      'mktree',
    );
  }
  return tree;
}

const commitOf = (tree: string): CommitId =>
  brand(git(top, 'commit-tree', tree, '-p', main, '-m', 'feat: bomb'));

describe('a branch of 10^9 paths in nine small trees', () => {
  const request = { task: brand<TaskId>('cp-task'), worktree, why: 'asked', at: timestamp(0) } as const;

  // promise: bombs-are-refused
  it.each<readonly [string, (tip: CommitId) => Promise<unknown>]>([
    ['the finish gate', () => uncommittedIn(dir, worktree)],
    ['the radar', (tip) => openTouched(dir)(main, tip, 1_000)],
    ['a diff', (tip) => openDiffs(dir).compare({ from: main, to: tip })],
    ['a rescue', () => openRescues(dir).snapshot(request)],
    [
      'the queue',
      async (tip) => diffTrees(knownObjectsOf(dir), undefined, (await knownObjectsOf(dir).commit(tip)).tree),
    ],
  ])('is refused by %s, with the reason', async (_, look) => {
    const tip = commitOf(bomb(9));
    git(top, 'update-ref', 'refs/heads/task', tip);
    // An agent does so to make Copse ask git instead of its files.
    git(top, 'config', 'x.y', String(performance.now()));
    const began = performance.now();
    await expect(look(tip)).rejects.toThrow(/changes more than 250000 paths/);
    await expect(look(tip)).rejects.toBeInstanceOf(BeyondLimits);
    expect(performance.now() - began).toBeLessThan(30_000);
    git(top, 'update-ref', 'refs/heads/task', main);
  });

  it('is told from a large branch that is within the limit', async () => {
    const objects = knownObjectsOf(dir);
    const bounds = { changedPaths: 1_000, folderDepth: 10 };
    await requireBounded(objects, undefined, bomb(3), 'It', bounds);
    await expect(requireBounded(objects, undefined, bomb(4), 'It', bounds)).rejects.toThrow(
      'It changes more than 1000 paths',
    );
    const [three, four] = [bomb(3), bomb(4)];
    await expect(requireBounded(objects, three, four, 'It', { ...bounds, folderDepth: 1 })).rejects.toThrow(
      'nested more than 1 deep',
    );
  });

  it.skipIf(process.platform !== 'linux')('takes no more memory of git than it may have', async () => {
    const tip = commitOf(bomb(8));
    const [program, args] = limited(['git'], ['diff-tree', '-r', '--name-only', '-M', main, tip], {
      memoryBytes: 64 * 1024 ** 2,
    });
    const child = spawn(program, args, { cwd: top, env: plainEnv, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).not.toBe(0);
    expect(said).toMatch(/out of memory/i);
  });
});

// promise: bombs-are-refused
it('a sparse file of 300 GB is not saved, and stays where it is', async () => {
  const file = path.join(worktree, 'huge.bin');
  writeFileSync(file, '');
  truncateSync(file, 300 * 1024 ** 3);
  const request = { task: brand<TaskId>('cp-task'), worktree, why: 'asked', at: timestamp(0) } as const;
  await expect(openRescues(dir).snapshot(request)).rejects.toThrow(/huge\.bin, have more than \d+ bytes/);
  expect(existsSync(file)).toBe(true);
  rmSync(file);
});

it('an object of more bytes than Copse reads is refused before it is read', async () => {
  const big = path.join(area, 'big');
  writeFileSync(big, '');
  truncateSync(big, 257 * 1024 ** 2);
  const id = git(top, 'hash-object', '-w', '--no-filters', big);
  await expect(knownObjectsOf(dir).blob(id)).rejects.toThrow(`The object ${id} has more than`);
  expect((await knownObjectsOf(dir).commit(main)).id).toBe(main);
});

it.each(['/dev/zero', '/dev/tty'])('a copse.yml that leads to %s is named as the cause', async (target) => {
  const file = path.join(top, 'copse.yml');
  symlinkSync(target, file);
  const { code, stderr } = await copse(['list'], { cwd: top });
  rmSync(file);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^copse: copse\.yml exists but cannot be read\./) as string,
  });
});
