/**
 * Puts a rescue back into a worktree, never over anything newer.
 *
 * Only what the rescue changed is written: the paths that differ between its HEAD and its files, and between its HEAD
 * and its index. Each must be in the worktree as that HEAD had it, or already as the rescue has it; otherwise the path
 * blocks it and nothing is written at all. Git writes the files, from a private index of their current state, so it follows
 * no link and stops if a file changes meanwhile. Repeating it, also after a crash, is harmless.
 *
 * An unfinished rebase or merge comes back if HEAD is at the commit it was at. A rescue of a detached HEAD, in the middle of
 * a rebase for example, moves HEAD there, detached, if the worktree has no changes of its own; branches stay.
 */

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Rescue, Restored } from '../../../git/port.ts';
import { filesBelow, nul, onDisk, utf8 } from '../../../git/output.ts';
import { givePermissions } from './permissions.ts';
import { git, gitLine, tryGit, GitFailed, type TrustedDir } from '../../../git/process.ts';
import { parseRecord } from './record.ts';
import {
  detachHead,
  installIndex,
  readState,
  refuseIfLocked,
  restoreOperation,
  type State,
} from './restore-state.ts';
import { type TreeChanges, diffTrees, entryAfter, indexLine } from './restore-trees.ts';
import { existingCommits } from './snapshot-commits.ts';
import { ANY_NAME, type Files, captureFiles, emptyTree } from './snapshot-files.ts';
import {
  type Place,
  hasOperation,
  readHead,
  requirePlace,
  withScratch,
} from '../../../git/worktrees/place.ts';

export function restoreRescue(dir: TrustedDir, rescue: Rescue, worktree: string): Promise<Restored> {
  const place = requirePlace(dir, worktree);
  refuseIfLocked(place);
  return withScratch(dir, async (scratch) => {
    const work = await compare(dir, rescue, place, scratch);
    const inTheWay = await findInTheWay(dir, work);
    if (inTheWay.length > 0) return { kind: 'in_the_way', inTheWay: inTheWay.map(utf8).toSorted() };

    const blocked = await writeFiles(dir, work);
    if (blocked.length > 0) return { kind: 'in_the_way', inTheWay: blocked };
    givePermissions(place.worktree, work.state.permissions, (file) => work.saved.get(file)?.to !== undefined);
    if (work.canContinue) restoreOperation(place, work.state);
    if (work.isSwitch && rescue.head !== null)
      detachHead(place, work.at === emptyTree(dir) ? null : work.at, rescue.head);
    await writeIndex(dir, work);
    return { kind: 'restored', files: work.writes.size };
  });
}

interface Work {
  readonly place: Place;
  readonly scratch: string;
  readonly state: State;
  readonly files: Files;
  /** The commit that HEAD is at, or the empty tree. */
  readonly at: string;
  /** The rescue's HEAD against: its files, its index; and the worktree's HEAD, files and index. */
  readonly saved: TreeChanges;
  readonly staged: TreeChanges;
  readonly nowCommitted: TreeChanges;
  readonly nowFiles: TreeChanges;
  readonly nowStaged: TreeChanges;
  /** The changes to write, relative to the current files. */
  readonly writes: TreeChanges;
  /** HEAD is, or will be, where it was, so an unfinished operation can continue. */
  readonly canContinue: boolean;
  /** HEAD moves too. */
  readonly isSwitch: boolean;
}

async function compare(dir: TrustedDir, rescue: Rescue, place: Place, scratch: string): Promise<Work> {
  const message = (await git(dir, ['cat-file', 'commit', rescue.commit])).toString();
  const record = parseRecord(message.slice(message.indexOf('\n\n')));
  const head = readHead(place);
  const named = 'ref' in head ? head.ref : head.commit;
  const now = (await existingCommits(dir, [named])).get(named);
  const at = now?.commit ?? emptyTree(dir);
  const base = rescue.head ?? emptyTree(dir);
  const [files, state] = await Promise.all([
    captureFiles(dir, place, scratch, () => Promise.resolve(now?.commit)),
    readState(dir, record),
  ]);
  const index = files.staged?.tree ?? at;
  const [saved, staged, nowCommitted, nowFiles, nowStaged] = await Promise.all([
    diffTrees(dir, base, rescue.commit),
    diffTrees(dir, base, record.staged ?? base),
    diffTrees(dir, base, at),
    diffTrees(dir, base, files.tree),
    diffTrees(dir, base, index),
  ]);
  const nowTree = now?.tree ?? emptyTree(dir);
  const isUntouched = files.tree === nowTree && index === nowTree && !hasOperation(place.gitDir);
  const isSwitch =
    record.isDetached === true && rescue.head !== null && isUntouched && !('commit' in head && at === base);
  const writes = isSwitch
    ? await diffTrees(dir, files.tree, rescue.commit)
    : new Map(
        [...saved].flatMap(([file, { from, to }]) => {
          const found = entryAfter(nowFiles, file, from);
          return found === to ? [] : [[file, { from: found, to }] as const];
        }),
      );
  const canContinue = isSwitch || (at === base && record.isDetached === 'commit' in head);
  return {
    place,
    scratch,
    state,
    files,
    at,
    saved,
    staged,
    nowCommitted,
    nowFiles,
    nowStaged,
    writes,
    canContinue,
    isSwitch,
  };
}

async function findInTheWay(dir: TrustedDir, work: Work): Promise<readonly string[]> {
  const hidden = [...work.writes].flatMap(([file, { from, to }]) =>
    to === undefined || from !== undefined ? [] : hiddenAt(work, file, to),
  );
  if (work.isSwitch) return hidden;
  const newer = new Set(hidden);
  const unsure: string[] = [];
  for (const file of work.writes.keys()) {
    const before = work.saved.get(file)?.from;
    if (entryAfter(work.nowCommitted, file, before) !== before) newer.add(file);
    else if (entryAfter(work.nowFiles, file, before) !== before) unsure.push(file);
  }
  if (unsure.length > 0) {
    const differing = await differingAsGitSees(dir, work);
    for (const file of unsure) if (differing.has(file)) newer.add(file);
  }
  for (const [file, { from, to }] of work.staged) {
    const found = entryAfter(work.nowStaged, file, from);
    if (found !== from && found !== to) newer.add(file);
  }
  return [...newer];
}

/** A file with converted line endings differs from git's bytes and is still unchanged. */
async function differingAsGitSees(
  dir: TrustedDir,
  { place, scratch, at }: Work,
): Promise<ReadonlySet<string>> {
  const index = path.join(scratch, 'converted');
  await git(dir, [...ANY_NAME, 'read-tree', at], { index });
  const options = { index, workTree: place.worktree };
  await tryGit(dir, [...ANY_NAME, 'update-index', '-q', '--refresh'], options);
  const output = await git(
    dir,
    ['diff-files', '-z', '--name-only', '--no-renames', '--ignore-submodules=dirty'],
    options,
  );
  const untracked = await git(dir, ['ls-files', '-z', '--others'], options);
  return new Set([output, untracked].flatMap((bytes) => bytes.toString('latin1').split('\0')));
}

/** Ignored files, which git would overwrite, and links or files where a folder is needed. */
function hiddenAt({ place, writes }: Work, file: string, wanted: string): readonly string[] {
  const parts = file.split('/');
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const name = parts.slice(0, depth).join('/');
    const found = lstatSync(onDisk(place.worktree, name), { throwIfNoEntry: false });
    if (found === undefined) return [];
    if (found.isDirectory() && depth < parts.length) continue;
    if (name === file && !found.isDirectory()) return isAlready(place, file, wanted) ? [] : [file];
    const within = found.isDirectory() ? filesBelow(place.worktree, name) : [name];
    return within.filter((each) => !writes.has(each));
  }
  return [];
}

/** Whether a regular file already has exactly the new bytes. */
function isAlready(place: Place, file: string, wanted: string): boolean {
  const [mode, id = ''] = wanted.split(' ');
  const found = lstatSync(onDisk(place.worktree, file));
  if (!found.isFile() || mode !== ((found.mode & 0o100) === 0 ? '100644' : '100755')) return false;
  const content = readFileSync(onDisk(place.worktree, file));
  const hash = createHash(id.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex') === id;
}

/** The paths that git refused to overwrite; if there are any, nothing was written. */
async function writeFiles(dir: TrustedDir, work: Work): Promise<readonly string[]> {
  const { files, place, writes, scratch } = work;
  if (writes.size === 0) return [];
  const lines = [...writes].toSorted(removalsFirst).map(([file, { to }]) => indexLine(dir, file, to));
  const index = path.join(scratch, 'wanted');
  const options = { index, workTree: place.worktree, isRaw: true };
  await git(dir, [...ANY_NAME, 'read-tree', files.tree], options);
  await git(dir, [...ANY_NAME, 'update-index', '-z', '--index-info'], { ...options, input: nul(lines) });
  const wanted = await gitLine(dir, ['write-tree'], options);
  const effect = await diffTrees(dir, files.tree, wanted);
  // Git skips names that it refuses and removes files that block others; neither may happen here.
  const isExact = effect.size === writes.size && [...effect.keys()].every((file) => writes.has(file));
  if (!isExact) throw new Error(`Git cannot write all the files of the rescue into ${place.worktree}.`);
  const argv = [
    ...ANY_NAME,
    '-c',
    'core.symlinks=true',
    'read-tree',
    '-m',
    '-u',
    '--no-sparse-checkout',
    files.tree,
    wanted,
  ];
  const { code, stderr } = await tryGit(dir, argv, { ...options, index: files.index });
  if (code === 0) return [];
  const named = [...stderr.matchAll(/^error: .*?'(.+)' .*(?:overwritten|not uptodate|lose)/gm)];
  if (named.length === 0) throw new GitFailed(argv, code, stderr);
  return named.map(([, file = '']) => file);
}

function removalsFirst(
  [, one]: readonly [string, { readonly to: unknown }],
  [, other]: readonly [string, { readonly to: unknown }],
): number {
  return Number(one.to !== undefined) - Number(other.to !== undefined);
}

async function writeIndex(dir: TrustedDir, work: Work): Promise<void> {
  const { place, scratch, state, staged, isSwitch, at } = work;
  const isAsBefore = staged.size + state.unmerged.length + state.intended.length === 0;
  if (isAsBefore && !isSwitch) return;
  const index = path.join(scratch, 'restored');
  const options = { index, workTree: place.worktree };
  const from = isSwitch ? (state.staged ?? at) : (work.files.staged?.tree ?? at);
  await git(dir, [...ANY_NAME, 'read-tree', from], options);
  const lines = isSwitch
    ? []
    : [...staged].toSorted(removalsFirst).map(([file, { to }]) => indexLine(dir, file, to));
  const input = nul([...lines, ...state.unmerged]);
  if (input.length > 0)
    await git(dir, [...ANY_NAME, 'update-index', '-z', '--index-info'], { ...options, input });
  if (state.intended.length > 0) {
    const argv = [
      ...ANY_NAME,
      'add',
      '--force',
      '--intent-to-add',
      '--pathspec-from-file=-',
      '--pathspec-file-nul',
    ];
    await git(dir, argv, { ...options, input: nul(state.intended) });
  }
  // Exit code 1 means that something differs.
  await tryGit(dir, [...ANY_NAME, 'update-index', '-q', '--refresh'], options);
  installIndex(place, index);
}
