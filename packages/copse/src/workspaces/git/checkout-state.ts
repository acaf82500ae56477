/**
 * The commit of the main checkout, and the files whose content differs from it.
 *
 * Looking writes nothing there: git works on a copy of the index, and contents are hashed here and stored nowhere. Ignored
 * files, nested repositories and submodules do not count. When nothing changed, no file is read.
 */

import path from 'node:path';

import type { CheckoutChange, CheckoutState } from '../rules/escape.ts';
import { brand } from '../../kernel/ids.ts';
import type { Look } from '../ports/worktrees.ts';
import { utf8, entries, parseRaw } from '../../git/output.ts';
import { statOf, versionOf } from '../../git/file-version.ts';
import { copyIndex } from '../../git/private-index.ts';
import { type GitOptions, git, type TrustedDir } from '../../git/process.ts';
import { findTip } from '../../git/refs/refs.ts';
import { emptyTree } from './rescue/snapshot-files.ts';
import { requirePlace, withScratch, headOf } from '../../git/worktrees/place.ts';

export async function checkoutState(
  dir: TrustedDir,
  root: string,
  { since, against }: Look = {},
): Promise<CheckoutState> {
  const place = requirePlace(dir, root);
  const { branch, commit } = headOf(place.gitDir);
  const head = commit ?? (branch === null ? undefined : await findTip(dir, `refs/heads/${branch}`)) ?? null;
  const paths = await differing(dir, place, against ?? head ?? emptyTree(dir));
  const known = new Map(since?.changes.map((change) => [change.path, change]));
  const changes: CheckoutChange[] = [];
  for (const file of paths) changes.push(await lookAt(dir, place.worktree, file, known.get(file)));
  return { head: head === null ? null : brand(head), branch, changes };
}

function differing(
  dir: TrustedDir,
  place: { readonly gitDir: string; readonly worktree: string },
  base: string,
): Promise<readonly string[]> {
  return withScratch(dir, async (scratch) => {
    const options: GitOptions = { index: path.join(scratch, 'index'), workTree: place.worktree };
    await copyIndex(dir, place, path.join(scratch, 'index'), base);
    const [changed, untracked] = await Promise.all([
      git(dir, ['diff-index', '--raw', '-z', '--no-renames', '--ignore-submodules=all', base], options),
      git(dir, ['ls-files', '-z', '--others', '--exclude-standard'], options),
    ]);
    const others = entries(untracked).filter((name) => !name.endsWith('/'));
    const all = new Set([...parseRaw(changed).map(({ file }) => file), ...others]);
    return [...all].map(utf8).toSorted();
  });
}

async function lookAt(
  dir: TrustedDir,
  root: string,
  file: string,
  known: CheckoutChange | undefined,
): Promise<CheckoutChange> {
  const found = await statOf(path.join(root, file));
  const stat =
    found === null ? '-' : [found.ino, found.size, found.mode, found.mtimeNs, found.ctimeNs].join(' ');
  if (known?.stat === stat) return known;
  return { path: file, version: found === null ? null : await versionOf(dir, path.join(root, file)), stat };
}
