/** Differences between commits, and between a commit and a worktree. No configured diff program or text conversion runs. */

import { join } from 'node:path';

import type { ChangedFile, Diff, DiffRequest, Diffs } from '../ports/worktrees.ts';
import { addEverything, copyIndex } from '../../git/private-index.ts';
import { git, gitLine, type TrustedDir } from '../../git/process.ts';
import { requireBoundedTip } from '../../git/refs/bounded-tip.ts';
import { requirePlace, withScratch } from '../../git/worktrees/place.ts';

export function openDiffs(dir: TrustedDir): Diffs {
  return { compare: (request) => compare(dir, request) };
}

/** `none`: a repository's `.gitmodules` may not hide that a submodule moved. Between trees none is looked into. */
const COMPARE = ['diff-tree', '-r', '--find-renames', '--ignore-submodules=none'] as const;
const SUMMARY = ['-z', '--raw', '--numstat'] as const;
const PATCH = [
  '--patch',
  '--no-textconv',
  '--no-ext-diff',
  '--no-color',
  '--full-index',
  '--binary',
  '--src-prefix=a/',
  '--dst-prefix=b/',
] as const;

async function compare(dir: TrustedDir, request: DiffRequest): Promise<Diff> {
  const { from, to, withUncommittedIn, withoutPatch = false } = request;
  await requireBoundedTip(dir, to, `The commit ${to}`);
  const after = withUncommittedIn === undefined ? to : await treeOfFiles(dir, withUncommittedIn, to);
  const [summary, patch] = await Promise.all([
    git(dir, [...COMPARE, ...SUMMARY, from, after]),
    withoutPatch ? Buffer.alloc(0) : git(dir, [...COMPARE, ...PATCH, from, after], bounded(request)),
  ]);
  const files = parseSummary(summary);
  return {
    files,
    inserted: files.reduce((sum, { lines }) => sum + (lines?.inserted ?? 0), 0),
    deleted: files.reduce((sum, { lines }) => sum + (lines?.deleted ?? 0), 0),
    patch,
  };
}

function bounded({ maxPatchBytes: most, skipPatchBytes: skipBytes = 0 }: DiffRequest) {
  return most === undefined || !Number.isFinite(most) ? { skipBytes } : { firstBytes: most, skipBytes };
}

/** As they would be committed: line endings and the person's own filters included. */
function treeOfFiles(dir: TrustedDir, worktree: string, head: string): Promise<string> {
  const place = requirePlace(dir, worktree);
  return withScratch(dir, async (scratch) => {
    const index = join(scratch, 'index');
    await copyIndex(dir, place, index, head);
    await addEverything(dir, place.worktree, index);
    return gitLine(dir, ['write-tree'], { index, workTree: place.worktree });
  });
}

const CHANGES: Readonly<Record<string, ChangedFile['change']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'type_changed',
};

/**
 * First all files as `:<modes and ids> <status>`, path, and where it is a rename the new path; then all again as
 * `<inserted>\t<deleted>\t<path>`, in which a rename has an empty path followed by both.
 */
function parseSummary(output: Buffer): readonly ChangedFile[] {
  const parts = output.toString().split('\0');
  const counts: ChangedFile['lines'][] = [];
  const changes: Omit<ChangedFile, 'lines'>[] = [];
  for (let at = 0; at + 1 < parts.length;) {
    const part = parts[at] ?? '';
    if (part.startsWith(':')) {
      const letter = part.split(' ').at(-1)?.charAt(0) ?? '';
      const isPair = letter === 'R' || letter === 'C';
      const change = CHANGES[letter];
      if (change === undefined) throw new Error(`git diff-tree named an unknown change: ${part}`);
      const [first = '', second = ''] = parts.slice(at + 1, at + 3);
      changes.push({ path: isPair ? second : first, from: isPair ? first : null, change });
      at += isPair ? 3 : 2;
    } else {
      const [inserted = '', deleted = '', name = ''] = part.split('\t');
      const isBinary = inserted === '-';
      counts.push(isBinary ? null : { inserted: Number(inserted), deleted: Number(deleted) });
      at += name === '' ? 3 : 1;
    }
  }
  if (counts.length !== changes.length)
    throw new Error(`git diff-tree named ${changes.length} files and counted ${counts.length}`);
  return changes.map(({ path, from, change }, at) => ({ path, from, change, lines: counts[at] ?? null }));
}
