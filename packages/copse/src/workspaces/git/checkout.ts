/**
 * Moving a change from the main checkout into a worktree, because a person asked for these paths.
 *
 * Nothing is written unless a snapshot has it, and the main checkout is written last: killed anywhere, the change is in the
 * snapshot and in at least one of the two places. The person's index is never written: staged changes stay staged.
 */

import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { MoveRequest, PathMove, MainCheckout } from '../ports/worktrees.ts';
import { latin1, nul, utf8, entries, parseRaw } from '../../git/output.ts';
import { checkoutState } from './checkout-state.ts';
import { replaceFile, statOf, versionOf } from '../../git/file-version.ts';
import { copyIndex } from '../../git/private-index.ts';
import { type GitOptions, git, gitLine, type TrustedDir } from '../../git/process.ts';
import { mergeBase } from '../../git/refs/refs.ts';
import { type Place, requirePlace, withScratch, headOf } from '../../git/worktrees/place.ts';

export function openCheckout(dir: TrustedDir, root: string): MainCheckout {
  return {
    look: (look) => checkoutState(dir, root, look),
    move: (request) => move(dir, requirePlace(dir, root), request),
  };
}

type Versions = ReadonlyMap<string, string>;

interface Known {
  readonly snapshot: Versions;
  readonly main: Versions;
  readonly staged: ReadonlySet<string>;
  /** Versions that the worktree's own HEAD has, and that its branch has not changed. */
  readonly worktree: Versions;
  readonly start: Versions;
  readonly edited: ReadonlySet<string>;
}

async function move(dir: TrustedDir, main: Place, request: MoveRequest): Promise<readonly PathMove[]> {
  const worktree = requirePlace(dir, request.worktree);
  const [mainHead, ownHead] = await Promise.all([headCommit(dir, main), headCommit(dir, worktree)]);
  const start = (await mergeBase(dir, mainHead, ownHead)) ?? mainHead;
  return withScratch(dir, async (scratch) => {
    const versions = (commit: string) => versionsIn(dir, commit, request.paths);
    const known: Known = {
      snapshot: await versions(request.snapshot),
      main: await versions(mainHead),
      worktree: await versions(ownHead),
      start: await versions(start),
      staged: await stagedIn(dir, main, mainHead, path.join(scratch, 'main')),
      edited: await editedIn(dir, worktree, ownHead, path.join(scratch, 'worktree')),
    };
    const original = path.join(scratch, 'original');
    await writeOriginals(dir, main, mainHead, [...known.main.keys()], original);
    const moves: PathMove[] = [];
    for (const file of new Set(request.paths))
      moves.push({ path: file, outcome: await moveOne(dir, { main, worktree, known, original, file }) });
    return moves;
  });
}

interface One {
  readonly main: Place;
  readonly worktree: Place;
  readonly known: Known;
  readonly original: string;
  readonly file: string;
}

async function moveOne(
  dir: TrustedDir,
  { main, worktree, known, original, file }: One,
): Promise<PathMove['outcome']> {
  const wanted = known.snapshot.get(file) ?? null;
  const before = known.main.get(file) ?? null;
  if (wanted === before) return 'unchanged';
  if (known.staged.has(file)) return 'staged';
  if ([wanted, before].some((version) => version?.startsWith('160000'))) return 'not_a_file';
  const source = path.join(main.worktree, file);
  if ((await versionOf(dir, source)) !== wanted) return 'changed_since';

  const here = await versionOf(dir, path.join(worktree.worktree, file));
  if (here !== wanted) {
    const own = known.worktree.get(file) ?? null;
    const isUntouched = own === before || own === (known.start.get(file) ?? null);
    const isClean = !known.edited.has(file) && (here === null) === (own === null);
    if (!isUntouched || !isClean) return 'in_the_way';
    const content = wanted === null ? null : source;
    const version = wanted ?? undefined;
    const replacement = {
      root: worktree.worktree,
      file,
      expected: here,
      content,
      ...(version && { version }),
    };
    if (!(await replaceFile(dir, replacement))) return 'in_the_way';
  }
  const content = before === null ? null : path.join(original, file);
  const isBack = await replaceFile(dir, { root: main.worktree, file, expected: wanted, content });
  return isBack ? 'moved' : 'changed_since';
}

async function headCommit(dir: TrustedDir, { gitDir, worktree }: Place) {
  const { branch, commit } = headOf(gitDir);
  const id = await gitLine(dir, [
    'rev-parse',
    '--verify',
    '--quiet',
    `${commit ?? `refs/heads/${branch}`}^{commit}`,
  ]).catch(() => undefined);
  if (id === undefined)
    throw new Error(`${worktree} has no commit yet, so nothing can be moved there or back.`);
  return id as Parameters<typeof mergeBase>[1];
}

async function versionsIn(dir: TrustedDir, commit: string, paths: readonly string[]): Promise<Versions> {
  const wanted = new Set(paths);
  const output = await git(dir, ['ls-tree', '-r', '-z', '--full-tree', commit]);
  return new Map(
    entries(output).flatMap((line) => {
      const [, mode = '', id = '', file = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
      const name = utf8(file);
      return wanted.has(name) ? [[name, `${mode} ${id}`] as const] : [];
    }),
  );
}

async function stagedIn(dir: TrustedDir, place: Place, head: string, index: string) {
  const isCopy = await copyIndex(dir, place, index, head);
  if (!isCopy && (await statOf(path.join(place.gitDir, 'index'))) !== null)
    throw new Error(
      `The index of ${place.worktree} cannot be read, so Copse cannot tell which changes are staged. Try: git status`,
    );
  const argv = ['diff-index', '--cached', '--raw', '-z', '--no-renames', '--ignore-submodules=none', head];
  return new Set(parseRaw(await git(dir, argv, { index })).map(({ file }) => utf8(file)));
}

async function editedIn(dir: TrustedDir, place: Place, head: string, index: string) {
  await copyIndex(dir, place, index, head);
  const options: GitOptions = { index, workTree: place.worktree };
  const argv = ['diff-index', '--raw', '-z', '--no-renames', '--ignore-submodules=all', head];
  return new Set(parseRaw(await git(dir, argv, options)).map(({ file }) => utf8(file)));
}

/** Through git, so that filters and line endings apply. */
async function writeOriginals(
  dir: TrustedDir,
  main: Place,
  head: string,
  paths: readonly string[],
  folder: string,
): Promise<void> {
  await mkdir(folder);
  if (paths.length === 0) return;
  const index = `${folder}-index`;
  await git(dir, ['read-tree', head], { index });
  const options: GitOptions = { index, workTree: main.worktree, input: nul(paths.map(latin1)) };
  await git(dir, ['checkout-index', `--prefix=${folder}/`, '-z', '--stdin'], options);
}
