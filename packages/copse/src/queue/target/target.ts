/**
 * Moves the target from exactly one commit to exactly another that contains it.
 *
 * If no checkout has the target, only the ref moves. In a checkout, the next commit would then revert the landing, so there
 * files, branch and index move together, in the order that sync.ts explains: uncommitted work is never overwritten.
 *
 * What a crash or a failure interrupted is not continued from its note in `.copse/sync`: only the board's journal says that a
 * landing is wanted. Every call first settles it: a branch that has moved gets its index, and everything else is taken back.
 */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type BranchName, type CommitId, parseTaskId } from '../../kernel/ids.ts';
import type { TargetMove, TargetSettled } from '../ports/merging.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { tryFileLock } from '../../git/lock.ts';
import { RefWriter } from '../../git/long-lived.ts';
import { copyIndex } from '../../git/private-index.ts';
import { findTip, isAncestor, moveRef } from '../../git/refs/refs.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';
import { canonical, registrationNamed } from '../../git/worktrees/registrations.ts';
import { type Place, hasOperation, requirePlace, withScratch, headOf } from '../../git/worktrees/place.ts';
import type { Move } from '../../workspaces/git/sync/note.ts';
import {
  type Applied,
  applyMove,
  inTheWayOf,
  leftText,
  settleMove,
} from '../../workspaces/git/sync/sync-worktree.ts';
import type { TrustedDir } from '../../git/process.ts';
import { stampOfFile } from '../../git/directory/trusted-dir.ts';

export interface TargetRequest {
  readonly target: BranchName;
  readonly from: CommitId;
  readonly to: CommitId;
  /** Only reports what would happen. An interrupted move is settled all the same. */
  readonly isTrial?: boolean;
}

export interface TargetOptions {
  /** The main checkout, if the git directory is elsewhere. */
  readonly mainCheckout?: string;
  /** For tests that end the process at a step. */
  readonly onStep?: (step: string) => void;
}

type Busy = Extract<TargetMove, { kind: 'busy' }>;

export async function moveTarget(
  dir: TrustedDir,
  request: TargetRequest,
  options: TargetOptions,
): Promise<TargetMove> {
  const { target, from, to } = request;
  if (!(await isAncestor(dir, from, to)))
    throw new Error(
      `${target} must not move to ${to}: that commit does not contain ${from}, its present tip.`,
    );
  const [holder, another] = holdersOf(dir, target, options);
  if (holder === undefined) return request.isTrial ? tryAlone(dir, request) : moveAlone(dir, request);
  if (another !== undefined)
    return busy(another.path, `${target} is checked out there and in ${holder.path} at the same time`);
  if (holder.isRebasing) return busy(holder.path, `a rebase of ${target} is in progress there`);
  return inCheckout(dir, holder, (place) => moveWithFiles(dir, place, request, options));
}

/** Settles an interrupted move of the target, in each checkout that has it. */
export async function settleTarget(
  dir: TrustedDir,
  target: BranchName,
  options: TargetOptions,
): Promise<TargetSettled> {
  for (const holder of holdersOf(dir, target, options)) {
    const left = await inCheckout(dir, holder, (place) => settleIn(dir, place, target));
    if (typeof left === 'string') return { kind: 'settled', left };
    if (left !== null) return { kind: 'busy', checkout: left.checkout, reason: left.reason };
  }
  return { kind: 'settled', left: null };
}

/** A sentence about files that could not be put back, or null. */
async function settleIn(dir: TrustedDir, place: Place, target: BranchName): Promise<string | null | Busy> {
  try {
    const settled = await settleMove(dir, place, target);
    return settled.kind !== 'taken_back' || settled.left.length === 0 ? null : leftText(place, settled.left);
  } catch (error) {
    if (await isUsable(dir, place)) throw error;
    return busy(place.worktree, UNUSABLE);
  }
}

const UNUSABLE = 'its index is missing, damaged or split, so Copse cannot update its files';

async function inCheckout<T>(
  dir: TrustedDir,
  holder: Holder,
  work: (place: Place) => Promise<T>,
): Promise<T | Busy> {
  const place = placeOf(dir, holder);
  if ('kind' in place) return place;
  // One at a time: two moves would take each other's lock files for stale ones. Preparing, syncing and removing a task's
  // worktree hold the same lock; the main checkout belongs to no task.
  const lock = path.join(dir.home, '.copse', 'locks', `task-${path.basename(place.gitDir)}`);
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const done = await tryFileLock(lock, () => work(place));
    if (done) return done.value;
    if (waitedMs >= PATIENCE_MS) return busy(holder.path, 'another Copse process is working there');
    await sleep(LOOK_EVERY_MS);
  }
}

const LOOK_EVERY_MS = defaultPolicy.target.lookEveryMs;
const PATIENCE_MS = defaultPolicy.target.patienceMs;

function busy(checkout: string, reason: string): Busy {
  return { kind: 'busy', checkout, reason };
}

interface Holder {
  readonly path: string;
  readonly gitDir: string;
  /** HEAD is detached until the rebase ends, which then moves the branch. */
  readonly isRebasing: boolean;
}

function holdersOf(dir: TrustedDir, target: BranchName, options: TargetOptions): readonly Holder[] {
  const { commonDir, home } = dir;
  // A bare repository has a HEAD too, but no index.
  const isBare = !existsSync(path.join(commonDir, 'index'));
  const beside = path.basename(commonDir) === '.git' ? path.dirname(commonDir) : undefined;
  const main = { path: beside ?? options.mainCheckout ?? home, gitDir: commonDir };
  const folder = path.join(commonDir, 'worktrees');
  const linked = (existsSync(folder) ? readdirSync(folder) : [])
    // A task's worktree belongs on its own branch: where an agent put its HEAD on the target, that blocks no landing.
    .filter((name) => parseTaskId(name.replace(/-\d+$/, '')) === undefined)
    // There may be hundreds of worktrees, and most are on other branches.
    .filter((name) => mayHold(path.join(folder, name), target))
    .flatMap((name) => registrationNamed(commonDir, name) ?? [])
    // Skips folders deleted by hand, unless locked: those may be on a removable disk.
    .filter((one) => existsSync(one.path) || existsSync(path.join(one.gitDir, 'locked')));
  return [...(isBare ? [] : [main]), ...linked].flatMap(({ path: at, gitDir }) => {
    const isRebasing = REBASES.some(
      (name) => readIfPlain(path.join(gitDir, name, 'head-name'))?.trimEnd() === `refs/heads/${target}`,
    );
    if (!isRebasing && branchOf(gitDir) !== target) return [];
    return [{ path: at, gitDir, isRebasing }];
  });
}

const REBASES = ['rebase-merge', 'rebase-apply'] as const;

function mayHold(gitDir: string, target: BranchName): boolean {
  return branchOf(gitDir) === target || REBASES.some((name) => existsSync(path.join(gitDir, name)));
}

const heads = new RecentCache<string, { readonly stamp: string; readonly branch: BranchName | null }>(5_000);

/** Read again only when the file changed. */
function branchOf(gitDir: string): BranchName | null {
  const stamp = stampOfFile(path.join(gitDir, 'HEAD'));
  const known = heads.get(gitDir);
  if (known?.stamp === stamp) return known.branch;
  const { branch } = headOf(gitDir);
  heads.set(gitDir, { stamp, branch });
  return branch;
}

async function moveAlone(dir: TrustedDir, { target, from, to }: TargetRequest): Promise<TargetMove> {
  const ref = `refs/heads/${target}`;
  if ((await findTip(dir, ref)) === to) return { kind: 'moved' };
  const quick = await targetWriter(dir).move(ref, from, to);
  const isLocked = quick.kind !== 'moved' && quick.because === 'locked';
  const outcome = isLocked ? await moveRef(dir, { ref, from, to, reason: REASON, isPatient: true }) : quick;
  if (outcome.kind === 'moved') return { kind: 'moved' };
  if (outcome.because === 'changed') return changed(to, outcome.tip);
  return busy(dir.home, `${ref} is locked by another git command`);
}

/** For the reflog. A long-lived git has one reason for all moves; the commits name the task. */
const REASON = 'copse: lands';

const writers = new WeakMap<TrustedDir, RefWriter>();

function targetWriter(dir: TrustedDir): RefWriter {
  const known = writers.get(dir) ?? new RefWriter(dir, REASON);
  writers.set(dir, known);
  return known;
}

async function tryAlone(dir: TrustedDir, { target, from, to }: TargetRequest): Promise<TargetMove> {
  const tip = (await findTip(dir, `refs/heads/${target}`)) ?? null;
  return tip === from ? { kind: 'moved' } : changed(to, tip);
}

function changed(to: CommitId, tip: CommitId | null): TargetMove {
  return tip === to ? { kind: 'moved' } : { kind: 'changed', tip };
}

function placeOf(dir: TrustedDir, { path: folder, gitDir }: Holder): Place | Busy {
  try {
    const place = requirePlace(dir, folder);
    if (canonical(gitDir) === place.gitDir) return place;
    return busy(folder, `that checkout is not the one that git registered as ${gitDir}`);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return busy(folder, error.message);
  }
}

async function moveWithFiles(
  dir: TrustedDir,
  place: Place,
  { target, from, to, isTrial }: TargetRequest,
  { onStep = () => {} }: TargetOptions,
): Promise<TargetMove> {
  const { worktree } = place;
  const tip = async () => (await findTip(dir, `refs/heads/${target}`)) ?? null;
  try {
    await settleMove(dir, place, target);
    const now = await tip();
    if (now !== from) return changed(to, now);
    if (hasOperation(place.gitDir)) return busy(worktree, 'a merge, rebase or similar is in progress there');
    const step: Move = { branch: target, from, to, tree: to, conflict: null, isTarget: true };
    if (from === to) return { kind: 'moved' };
    if (isTrial) {
      const paths = await inTheWayOf(dir, place, step);
      return paths.length === 0 ? { kind: 'moved' } : refused(place, { because: 'in_the_way', paths });
    }
    const applied = await applyMove(dir, place, step, { onStep });
    if (applied.kind === 'applied') return { kind: 'moved' };
    if (applied.because === 'moved') return changed(to, await tip());
    return refused(place, applied);
  } catch (error) {
    if (await isUsable(dir, place)) throw error;
    return busy(worktree, UNUSABLE);
  }
}

function refused(
  { worktree, gitDir }: Place,
  { because, paths }: Pick<Extract<Applied, { kind: 'refused' }>, 'because' | 'paths'>,
): TargetMove {
  if (because === 'in_the_way' && paths.length > 0)
    return { kind: 'in_the_way', checkout: worktree, files: paths };
  // Also when the edits were gone at the second look.
  const lock = path.join(gitDir, 'index.lock');
  const reason =
    because === 'locked' ? `another git command is using it (${lock})` : 'files are changing there';
  return busy(worktree, reason);
}

function isUsable(dir: TrustedDir, place: Place): Promise<boolean> {
  if (!existsSync(path.join(place.gitDir, 'index'))) return Promise.resolve(false);
  return withScratch(dir, (scratch) => copyIndex(dir, place, path.join(scratch, 'index'), undefined));
}
