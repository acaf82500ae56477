/**
 * Takes back what an interrupted move wrote into a worktree, so that its files are again as its index has them.
 *
 * A file is put back when it has the content of the move, lacks altogether, or holds only the beginning of that content: git
 * was interrupted while it wrote it. Every other difference was made by a person meanwhile, and stays. So does what was there
 * before the move (`already`).
 */

import { lstatSync, rmSync, rmdirSync } from 'node:fs';
import path from 'node:path';

import { nul, onDisk, parseRaw, type RawChange, utf8 } from '../../../git/output.ts';
import { type GitOptions, git, tryGit, type TrustedDir } from '../../../git/process.ts';
import { type Place, readRegular, withScratch } from '../../../git/worktrees/place.ts';
import { changesOf, copyOwnIndex, differingFrom, obstacle } from './move-files.ts';
import type { Move } from './note.ts';

/** The files that could not be put back. */
export async function takeBack(
  dir: TrustedDir,
  place: Place,
  move: Move,
  already: readonly string[],
): Promise<readonly string[]> {
  return withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    await copyOwnIndex(dir, place, index, move.from);
    const options: GitOptions = { index, workTree: place.worktree };
    const differing = async (argv: readonly string[]) => {
      const raw = ['--raw', '-z', '--no-renames', '--ignore-submodules=all'];
      const [command = '', ...rest] = argv;
      return new Set(parseRaw(await git(dir, [command, ...raw, ...rest], options)).map(({ file }) => file));
    };
    const staged = await differing(['diff-index', '--cached', move.from]);
    const edited = await differing(['diff-files']);
    const kept = new Set([...already, ...staged]);
    const changes = (await changesOf(dir, move)).filter(
      (change) =>
        !kept.has(change.file) &&
        !isSubmodule(change) &&
        (change.status === 'A' ? isFile(place, change) : edited.has(change.file)),
    );
    const others = await differingFrom(dir, place, move.tree, changes, index);
    const ours: RawChange[] = [];
    const left: string[] = [];
    for (const change of changes)
      if (!others.has(change.file) || (await isHalfWritten(dir, place, change))) ours.push(change);
    for (const change of ours.filter(({ status }) => status === 'A'))
      if (!removeWithFolders(place, change)) left.push(change.file);
    const before = ours.filter(({ status }) => status !== 'A').map(({ file }) => file);
    const blocked = before.filter((file) => obstacle(place.worktree, file, NONE) === 'in_the_way');
    const back = before.filter((file) => !blocked.includes(file));
    for (const file of back) remove(place, file);
    // Fails when one of them cannot be written; the others are.
    await tryGit(dir, ['checkout-index', '-z', '--stdin'], { ...options, input: nul(back) });
    await tryGit(dir, ['update-index', '-q', '--refresh'], options);
    const remaining = await differing(['diff-files']);
    return [...left, ...blocked, ...back.filter((file) => remaining.has(file))].map(utf8).toSorted();
  });
}

const NONE: ReadonlySet<string> = new Set();

function isSubmodule({ mode, oldMode }: RawChange): boolean {
  return mode === '160000' || oldMode === '160000';
}

function isFile({ worktree }: Place, { file }: RawChange): boolean {
  return obstacle(worktree, file, NONE) === 'file';
}

async function isHalfWritten(
  dir: TrustedDir,
  { worktree }: Place,
  { file, id }: RawChange,
): Promise<boolean> {
  const found = lstatSync(onDisk(worktree, file), { throwIfNoEntry: false });
  if (found === undefined) return true;
  if (!found.isFile()) return false;
  const name = utf8(file);
  const argv = ['cat-file', '--filters', `--path=${name}`, id];
  const { code, stdout } = await tryGit(dir, argv, { workTree: worktree });
  // Its object is damaged or missing, which is why the move failed: only git can have written this file.
  if (code !== 0) return true;
  if (found.size >= stdout.length) return false;
  return readRegular(path.join(worktree, name))?.equals(stdout.subarray(0, found.size)) === true;
}

/** Deletes a file that the move added, with the folders that are empty without it. */
function removeWithFolders(place: Place, { file }: RawChange): boolean {
  if (!remove(place, file)) return false;
  const { worktree } = place;
  const parts = file.split('/');
  try {
    for (let depth = parts.length - 1; depth > 0; depth -= 1)
      rmdirSync(onDisk(worktree, parts.slice(0, depth).join('/')));
  } catch {
    // Not empty.
  }
  return true;
}

/** False when that is not possible. */
function remove({ worktree }: Place, file: string): boolean {
  try {
    rmSync(onDisk(worktree, file), { force: true });
    return true;
  } catch {
    return false;
  }
}
