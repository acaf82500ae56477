/**
 * Merges the base into a task's branch, in its worktree.
 *
 * The merge is computed in the object store (`merge-tree`), from Copse's own git directory, so that no hook, filter
 * or merge driver of the repository runs. Then the worktree follows, in this order:
 *
 *   1. `index.lock` is taken: until the end, git refuses every commit here
 *   2. a note in `.copse/sync`, out of the agents' reach, says from which commit to which it goes
 *   3. the files are written, as a two-way merge on a private index that refuses to overwrite anything uncommitted
 *   4. the branch moves, only from where it was
 *   5. the new index takes the place of the old, which also gives the lock back
 *   6. the note goes
 *
 * If it is killed, the lock stays, so that half a merge cannot be committed, and the next call finishes what the note says;
 * files with the right content count as written. Files come before the branch: in the other order the worktree would seem
 * to revert the changes of the base.
 *
 * A conflict changes nothing, unless the caller wants it left in the worktree. Then the same steps write the files with
 * conflict markers and, instead of moving the branch, tell git that a merge is in progress.
 */

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { type BranchName, type CommitId, brand } from '../../../kernel/ids.ts';
import type { Sync, SyncOutcome, SyncRefusal, SyncRequest } from '../../ports/worktrees.ts';
import { identityEnv } from '../../../git/identity.ts';
import { GitFailed, gitLine, tryGit, type TrustedDir } from '../../../git/process.ts';
import { outliveRefLock } from '../../../git/dead-locks.ts';
import { findTip, isAlias, isAncestor } from '../../../git/refs/refs.ts';
import { hasOperation, requirePlace, type Place, headOf } from '../../../git/worktrees/place.ts';
import type { Move, Stage } from './note.ts';
import { applyMove, finishMove } from './sync-worktree.ts';

export function openSync(dir: TrustedDir): Sync {
  return {
    bring: (request) => bring(dir, request),
    settle: (worktree, branch) => settle(dir, worktree, branch),
  };
}

async function settle(dir: TrustedDir, worktree: string, branch: BranchName): Promise<void> {
  const place = requirePlace(dir, worktree);
  if ((await refusedHead(dir, place, branch)) === undefined) await finishMove(dir, place, branch);
  await outliveRefLock(path.join(dir.commonDir, 'refs', 'heads', `${branch}.lock`));
  for (const name of readdirSync(place.gitDir))
    if (name.endsWith('.lock')) rmSync(path.join(place.gitDir, name), { force: true });
}

async function bring(dir: TrustedDir, request: SyncRequest): Promise<SyncOutcome> {
  const place = requirePlace(dir, request.worktree);
  const { branch } = request;
  const wrong = await refusedHead(dir, place, branch);
  if (wrong !== undefined) return refused(wrong);
  const unfinished = await finishMove(dir, place, branch);
  if (unfinished.kind === 'blocked') return refused('in_the_way', unfinished.paths);
  if (hasOperation(place.gitDir)) return refused('in_progress');

  const { commit: base } = request.base;
  const tip = await findTip(dir, `refs/heads/${branch}`);
  if (tip === undefined) throw new Error(`The branch ${branch} of ${request.task} does not exist`);
  if (await isAncestor(dir, base, tip)) return { kind: 'up_to_date', tip };
  if (await isAncestor(dir, tip, base)) {
    const move: Move = { branch, from: tip, to: base, tree: base, conflict: null };
    return applied(await applyMove(dir, place, move, request), 'fast_forwarded', move);
  }
  const merged = await mergeTrees(dir, place, tip, base);
  if (merged === 'unrelated') return refused('unrelated');
  if (merged.stages.length === 0) {
    const to = await commitMerge(dir, { ...request, branch, tip, tree: merged.tree });
    const move: Move = { branch, from: tip, to, tree: to, conflict: null };
    return applied(await applyMove(dir, place, move, request), 'merged', move);
  }
  const paths = [...new Set(merged.stages.map(({ file }) => Buffer.from(file, 'latin1').toString()))];
  if (!request.leaveConflict) return refused('conflict', paths);
  const message = subjectOf(request.base.branch, branch);
  const conflict = { base, message: `${message}\n\nTask: ${request.task}\n`, stages: merged.stages };
  const move: Move = { branch, from: tip, to: tip, tree: merged.tree, conflict };
  const done = await applyMove(dir, place, move, request);
  return done.kind === 'applied' ? { kind: 'conflict_left', paths } : refused(done.because, done.paths);
}

function refused(because: SyncRefusal, paths: readonly string[] = []): SyncOutcome {
  return { kind: 'refused', because, paths };
}

function applied(
  done: Awaited<ReturnType<typeof applyMove>>,
  kind: 'fast_forwarded' | 'merged',
  { from, to }: Move,
): SyncOutcome {
  return done.kind === 'applied'
    ? { kind, from, tip: to, files: done.files }
    : refused(done.because, done.paths);
}

/** An agent can write HEAD, and make the branch an alias of another one. */
async function refusedHead(
  dir: TrustedDir,
  { gitDir }: Place,
  own: BranchName,
): Promise<'detached' | 'elsewhere' | 'alias' | undefined> {
  const { branch } = headOf(gitDir);
  if (branch !== own) return branch === null ? 'detached' : 'elsewhere';
  return (await isAlias(dir, own)) ? 'alias' : undefined;
}

interface MergedTree {
  readonly tree: string;
  /** Empty when the merge is clean. */
  readonly stages: readonly Stage[];
}

/** With the worktree's attributes, as `git merge` there: the drivers they may name are only those built into git. */
async function mergeTrees(
  dir: TrustedDir,
  { worktree }: Place,
  ours: CommitId,
  theirs: CommitId,
): Promise<MergedTree | 'unrelated'> {
  const argv = ['merge-tree', '--write-tree', '-z', '--no-messages', ours, theirs];
  const { code, stdout, stderr } = await tryGit(dir, argv, { workTree: worktree });
  if (code > 1 && /unrelated histories/.test(stderr)) return 'unrelated';
  if (code > 1) throw new GitFailed(argv, code, stderr);
  const [tree = '', ...lines] = stdout
    .toString('latin1')
    .split('\0')
    .filter((part) => part !== '');
  const stages = lines.map((line): Stage => {
    const [, mode, id, stage, file] = /^(\d+) ([0-9a-f]+) ([123])\t(.+)$/s.exec(line) ?? [];
    if (mode === undefined || id === undefined || stage === undefined || file === undefined)
      throw new Error(`git merge-tree printed an unknown line: ${line}`);
    return { mode, id, stage, file };
  });
  if (code === 1 && stages.length === 0)
    throw new Error('git merge-tree found a conflict and no path with one');
  return { tree, stages };
}

interface NewMerge extends SyncRequest {
  readonly branch: BranchName;
  readonly tip: CommitId;
  readonly tree: string;
}

async function commitMerge(dir: TrustedDir, merge: NewMerge): Promise<CommitId> {
  const { base, branch, task, tip, tree } = merge;
  const parents = ['-p', tip, '-p', base.commit];
  const message = ['-m', subjectOf(base.branch, branch), '-m', `Task: ${task}`];
  const env = await identityEnv(dir);
  return brand(await gitLine(dir, ['commit-tree', tree, ...parents, ...message], { env }));
}

function subjectOf(base: BranchName, branch: BranchName): string {
  return `Merge ${base} into ${branch}`;
}
