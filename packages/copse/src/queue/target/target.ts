/**
 * Moves the target from exactly one commit to exactly another that contains it.
 *
 * Where nobody has it checked out, the ref alone moves. Under somebody's checkout that would make their next commit take
 * back what landed, so there files, branch and index move together, in the order that sync.ts explains: nothing that is
 * not committed is overwritten, and killed anywhere, the next call for this branch finishes what the killed one began,
 * even if it wants to go elsewhere itself. That one then finds that the target changed.
 */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { TargetMove } from '../ports/merging.ts';
import { readIfThere } from '../../kernel/system/read-if-there.ts';
import { tryFileLock } from '../../git/lock.ts';
import { RefWriter } from '../../git/long-lived.ts';
import { copyIndex } from '../../git/private-index.ts';
import { findTip, isAncestor, moveRef } from '../../git/refs/refs.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';
import { canonical, registrationNamed } from '../../git/worktrees/registrations.ts';
import { type Place, hasOperation, requirePlace, withScratch } from '../../git/worktrees/place.ts';
import type { Move } from '../../workspaces/git/sync/note.ts';
import { type Applied, applyMove, finishMove, inTheWayOf } from '../../workspaces/git/sync/sync-worktree.ts';
import { type TrustedDir, stampOfFile } from '../../git/directory/trusted-dir.ts';
import { headOf } from '../../git/worktrees/worktrees.ts';

export interface TargetRequest {
  readonly target: BranchName;
  readonly from: CommitId;
  readonly to: CommitId;
  /** Only says what would happen. What a killed call left behind is finished all the same. */
  readonly isTrial?: boolean;
}

export interface TargetOptions {
  /** The main checkout, for a git directory that does not lie in it. */
  readonly mainCheckout?: string;
  /** For tests that kill it there. */
  readonly onStep?: (step: string) => void;
}

type Busy = Extract<TargetMove, { because: 'busy' }>;

export async function moveTarget(
  dir: TrustedDir,
  request: TargetRequest,
  options: TargetOptions,
): Promise<TargetMove> {
  const { target, from, to } = request;
  if (!(await isAncestor(dir, from, to)))
    throw new Error(`${target} must not move to ${to}, because that does not contain ${from}, where it is.`);
  const [holder, another] = holdersOf(dir, target, options);
  if (holder === undefined) return request.isTrial ? tryAlone(dir, request) : moveAlone(dir, request);
  if (another !== undefined)
    return busy(another.path, `${target} is checked out there and in ${holder.path} at the same time`);
  if (holder.isRebasing) return busy(holder.path, `a rebase of ${target} is not finished there`);
  const place = placeOf(dir, holder);
  if ('because' in place) return place;
  // One at a time: a lock of Copse's in a checkout is taken for one that was left behind. It is the same one that whoever
  // prepares, syncs or removes a task's worktree holds; the main checkout belongs to no task.
  const lock = path.join(dir.home, '.copse', 'locks', `task-${path.basename(place.gitDir)}`);
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const done = await tryFileLock(lock, () => moveWithFiles(dir, place, request, options));
    if (done) return done.value;
    if (waitedMs >= PATIENCE_MS)
      return busy(holder.path, 'another process of Copse is working there right now');
    await sleep(LOOK_EVERY_MS);
  }
}

/** Somebody else looks at the checkout or moves it along, which takes a moment. */
const LOOK_EVERY_MS = 25;
const PATIENCE_MS = 2_000;

function busy(checkout: string, reason: string): Busy {
  return { moved: false, because: 'busy', checkout, reason };
}

interface Holder {
  readonly path: string;
  readonly gitDir: string;
  /** HEAD is elsewhere until the rebase ends, and then moves the branch. */
  readonly isRebasing: boolean;
}

function holdersOf(dir: TrustedDir, target: BranchName, options: TargetOptions): readonly Holder[] {
  const { commonDir, home } = dir;
  // A bare repository has a HEAD as well, but no index.
  const isBare = !existsSync(path.join(commonDir, 'index'));
  const beside = path.basename(commonDir) === '.git' ? path.dirname(commonDir) : undefined;
  const main = { path: beside ?? options.mainCheckout ?? home, gitDir: commonDir };
  const folder = path.join(commonDir, 'worktrees');
  const linked = (existsSync(folder) ? readdirSync(folder) : [])
    // Most worktrees have nothing to do with it, and there may be hundreds.
    .filter((name) => mayHold(path.join(folder, name), target))
    .flatMap((name) => registrationNamed(commonDir, name) ?? [])
    // Deleted by hand, and git may forget it; one that is locked may be on a disk that comes back.
    .filter((one) => existsSync(one.path) || existsSync(path.join(one.gitDir, 'locked')));
  return [...(isBare ? [] : [main]), ...linked].flatMap(({ path: at, gitDir }) => {
    const isRebasing = REBASES.some(
      (name) => readIfThere(path.join(gitDir, name, 'head-name'))?.trimEnd() === `refs/heads/${target}`,
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

/** Read anew only when the file is another one. */
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
  if ((await findTip(dir, ref)) === to) return { moved: true };
  const quick = await targetWriter(dir).move(ref, from, to);
  const isLocked = !quick.moved && quick.because === 'locked';
  const outcome = isLocked ? await moveRef(dir, { ref, from, to, reason: REASON, isPatient: true }) : quick;
  if (outcome.moved) return { moved: true };
  if (outcome.because === 'changed') return changed(to, outcome.tip);
  return busy(dir.home, `${ref} is locked by another git command`);
}

/** In the reflog. Git takes one for as long as a process stays; the commits themselves name the task. */
const REASON = 'copse: lands';

const writers = new WeakMap<TrustedDir, RefWriter>();

function targetWriter(dir: TrustedDir): RefWriter {
  const known = writers.get(dir) ?? new RefWriter(dir, REASON);
  writers.set(dir, known);
  return known;
}

async function tryAlone(dir: TrustedDir, { target, from, to }: TargetRequest): Promise<TargetMove> {
  const tip = (await findTip(dir, `refs/heads/${target}`)) ?? null;
  return tip === from ? { moved: true } : changed(to, tip);
}

function changed(to: CommitId, tip: CommitId | null): TargetMove {
  return tip === to ? { moved: true } : { moved: false, because: 'changed', tip };
}

function placeOf(dir: TrustedDir, { path: folder, gitDir }: Holder): Place | Busy {
  try {
    const place = requirePlace(dir, folder);
    if (canonical(gitDir) === place.gitDir) return place;
    return busy(folder, `the checkout there is another than the one git has registered as ${gitDir}`);
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
    const unfinished = await finishMove(dir, place, target);
    if (unfinished.kind === 'blocked')
      return refused(place, { because: 'in_the_way', paths: unfinished.paths });
    const now = await tip();
    if (now !== from) return changed(to, now);
    if (hasOperation(place.gitDir))
      return busy(worktree, 'a merge, rebase or the like is not finished there');
    const step: Move = { branch: target, from, to, tree: to, conflict: null };
    if (isTrial) {
      const paths = await inTheWayOf(dir, place, step);
      return paths.length === 0 ? { moved: true } : refused(place, { because: 'in_the_way', paths });
    }
    const applied = await applyMove(dir, place, step, { onStep });
    if (applied.kind === 'applied') return { moved: true };
    if (applied.because === 'moved') return changed(to, await tip());
    return refused(place, applied);
  } catch (error) {
    if (await isUsable(dir, place)) throw error;
    return busy(worktree, 'its index is missing, damaged or split, so nothing can be merged there');
  }
}

function refused(
  { worktree, gitDir }: Place,
  { because, paths }: Pick<Extract<Applied, { kind: 'refused' }>, 'because' | 'paths'>,
): TargetMove {
  if (because === 'in_the_way' && paths.length > 0)
    return { moved: false, because: 'in_the_way', checkout: worktree, files: paths };
  // Also for edits that were gone again when they were looked for.
  const lock = path.join(gitDir, 'index.lock');
  const reason =
    because === 'locked' ? `another git command is using it (${lock})` : 'files are changing there';
  return busy(worktree, reason);
}

function isUsable(dir: TrustedDir, place: Place): Promise<boolean> {
  if (!existsSync(path.join(place.gitDir, 'index'))) return Promise.resolve(false);
  return withScratch(dir, (scratch) => copyIndex(dir, place, path.join(scratch, 'index'), undefined));
}
