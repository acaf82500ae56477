/**
 * Commits what is in a worktree and not ignored, for an agent that did not.
 *
 * The tree is made with a private index. Then branch and index follow as in a sync (sync.ts): to it, these are files that
 * already are as they shall be. What was staged and edited once more is first staged as it is, as `git add` would.
 */

import path from 'node:path';

import { type BranchName, type CommitId, brand } from '../../domain/ids.ts';
import { identityEnv } from './identity.ts';
import { addEverything, copyIndex } from './private-index.ts';
import { gitLine } from './process.ts';
import { findTip } from './refs.ts';
import { type Place, hasOperation, requirePlace, withScratch } from './snapshot-place.ts';
import { applyMove, finishMove } from './sync-worktree.ts';
import type { TrustedDir } from './trusted-dir.ts';
import { headOf } from './worktrees.ts';

const MOST_ATTEMPTS = 3;

/** Whoever calls holds the task's lock. Null when there is nothing to commit. */
export async function commitAll(
  dir: TrustedDir,
  worktree: string,
  message: string,
): Promise<CommitId | null> {
  const place = requirePlace(dir, worktree);
  const { branch } = headOf(place.gitDir);
  if (branch === null) throw refusal(worktree, 'HEAD is detached', 'Put it on its branch: git switch');
  const unfinished = await finishMove(dir, place, branch);
  if (unfinished.finished === false)
    throw refusal(
      worktree,
      `a sync is not finished, and ${unfinished.paths.join(', ')} in its way`,
      'copse sync',
    );
  if (hasOperation(place.gitDir))
    throw refusal(worktree, 'a merge, rebase or the like is not finished', 'Finish it: git status');
  let why = '';
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const tip = await requireTip(dir, branch, worktree);
    const tree = await treeOfFiles(dir, place, tip);
    if (tree === (await gitLine(dir, ['rev-parse', `${tip}^{tree}`]))) return null;
    const env = await identityEnv(dir);
    const argv = ['commit-tree', tree, '-p', tip, '-F', '-'];
    const to = brand<CommitId>(
      await gitLine(dir, argv, { env, input: `${message.replaceAll('\0', '').trimEnd()}\n` }),
    );
    const applied = await applyMove(dir, place, { branch, from: tip, to, tree: to, conflict: null }, {});
    if (applied.applied) return to;
    why = `${applied.because.replaceAll('_', ' ')} ${applied.paths.join(', ')}`.trim();
    if (applied.because === 'in_the_way')
      await addEverything(dir, place.worktree, path.join(place.gitDir, 'index'));
  }
  throw refusal(worktree, `something else is at work there (${why})`, 'End it, and try again.');
}

function refusal(worktree: string, why: string, next: string): Error {
  return new Error(`What is uncommitted in ${worktree} was not committed, because ${why}. ${next}`);
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
