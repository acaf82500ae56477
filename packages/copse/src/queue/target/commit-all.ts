/**
 * Commits all changes of a worktree that git does not ignore, for an agent that did not commit. It also finishes a merge, once
 * no file has conflict markers.
 *
 * The tree is made with a private index. Then branch and index follow as in a sync (sync.ts), which finds the files already as
 * they should be. Files that were staged and then edited are staged again first, as `git add` does.
 */

import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import { identityEnv } from '../../git/identity.ts';
import { addEverything, copyIndex } from '../../git/private-index.ts';
import { git, gitLine, type TrustedDir } from '../../git/process.ts';
import { findTip, isAlias, isAncestor } from '../../git/refs/refs.ts';
import {
  type Place,
  SIGNS_OF_OPERATION,
  hasOperation,
  readRegular,
  requirePlace,
  withScratch,
  headOf,
} from '../../git/worktrees/place.ts';
import { applyMove, finishMove } from '../../workspaces/git/sync/sync-worktree.ts';

const MOST_ATTEMPTS = defaultPolicy.target.commitTries;

/** The caller holds the task's lock. Null when there is nothing to commit. */
export async function commitAll(
  dir: TrustedDir,
  worktree: string,
  branch: BranchName,
  message: string,
): Promise<CommitId | null> {
  const place = requirePlace(dir, worktree);
  if (headOf(place.gitDir).branch !== branch)
    throw refusal(worktree, `HEAD is not on ${branch}`, `Put it there: git switch ${branch}`);
  if (await isAlias(dir, branch))
    throw refusal(worktree, `${branch} is a symbolic ref to another branch`, 'See: git symbolic-ref');
  const unfinished = await finishMove(dir, place, branch);
  if (unfinished.kind === 'blocked')
    throw refusal(
      worktree,
      `an interrupted sync cannot go on because of ${unfinished.paths.join(', ')}`,
      'copse sync',
    );
  const merged = await mergeHeadOf(dir, place);
  if (merged === null && hasOperation(place.gitDir))
    throw refusal(worktree, 'a merge, rebase or similar is in progress', 'Finish it: git status');
  const both = merged === null ? [] : await listUnresolved(dir, worktree);
  if (both.length > 0)
    throw refusal(worktree, `conflict markers remain in ${both.join(', ')}`, 'Resolve it: git status');
  let why = '';
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const tip = await requireTip(dir, branch, worktree);
    const tree = await treeOfFiles(dir, place, tip);
    const isMerge = merged !== null && !(await isAncestor(dir, merged, tip));
    if (!isMerge && tree === (await gitLine(dir, ['rev-parse', `${tip}^{tree}`]))) {
      forgetMerge(place);
      return null;
    }
    const env = await identityEnv(dir);
    const argv = ['commit-tree', tree, '-p', tip, ...(isMerge ? ['-p', merged] : []), '-F', '-'];
    const to = brand<CommitId>(
      await gitLine(dir, argv, { env, input: `${message.replaceAll('\0', '').trimEnd()}\n` }),
    );
    const applied = await applyMove(dir, place, { branch, from: tip, to, tree: to, conflict: null }, {});
    if (applied.kind === 'applied') {
      forgetMerge(place);
      return to;
    }
    why = `${applied.because.replaceAll('_', ' ')} ${applied.paths.join(', ')}`.trim();
    if (applied.because === 'in_the_way')
      await addEverything(dir, place.worktree, path.join(place.gitDir, 'index'));
  }
  throw refusal(worktree, `another process changes files there (${why})`, 'End it, and try again.');
}

/** Null when no merge is in progress, or another operation is in progress besides it. */
async function mergeHeadOf(dir: TrustedDir, { gitDir }: Place): Promise<CommitId | null> {
  const others = SIGNS_OF_OPERATION.filter((name) => name !== 'MERGE_HEAD');
  if (others.some((name) => existsSync(path.join(gitDir, name)))) return null;
  const text = readRegular(path.join(gitDir, 'MERGE_HEAD'))?.toString().trim();
  // Several heads, an octopus merge, are not supported.
  if (text === undefined || !/^[0-9a-f]{40,64}$/.test(text)) return null;
  return (await findTip(dir, text)) ?? null;
}

/** Files of a merge that still have conflict markers. A resolved file need not be staged. */
export async function listUnresolved(dir: TrustedDir, worktree: string): Promise<readonly string[]> {
  const place = requirePlace(dir, worktree);
  const index = path.join(place.gitDir, 'index');
  const listed = await git(dir, ['ls-files', '--unmerged', '-z'], { index, workTree: place.worktree });
  const names = new Set(
    listed
      .toString()
      .split('\0')
      .flatMap((line) => line.split('\t')[1] ?? []),
  );
  return [...names].filter((name) => hasMarkers(path.join(place.worktree, name)));
}

function hasMarkers(file: string): boolean {
  const content = readRegular(file);
  return content !== undefined && /^<{7} .*$[^]*^={7}\r?$[^]*^>{7} /m.test(content.toString('latin1'));
}

/** Deletes git's notes about a merge. MERGE_HEAD first: without it, git sees no merge in progress. */
function forgetMerge({ gitDir }: Place): void {
  for (const name of ['MERGE_HEAD', 'MERGE_MODE', 'MERGE_MSG', 'AUTO_MERGE'])
    rmSync(path.join(gitDir, name), { force: true });
}

function refusal(worktree: string, why: string, next: string): Error {
  return new Error(`The changes in ${worktree} were not committed: ${why}. ${next}`);
}

async function requireTip(dir: TrustedDir, branch: BranchName, worktree: string): Promise<CommitId> {
  const tip = await findTip(dir, `refs/heads/${branch}`);
  if (tip !== undefined) return tip;
  throw refusal(worktree, `its branch ${branch} does not exist`, 'Make it: git branch');
}

function treeOfFiles(dir: TrustedDir, place: Place, tip: CommitId): Promise<string> {
  return withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    await copyIndex(dir, place, index, tip);
    await addEverything(dir, place.worktree, index);
    return gitLine(dir, ['write-tree'], { index, workTree: place.worktree });
  });
}
