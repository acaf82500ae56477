/**
 * The worktrees in which the queue checks candidates: one for each slot, used again for the next candidate.
 *
 *   <worktrees>/copse-queue-<slot>           its files
 *   <git dir>/worktrees/copse-queue-<slot>   its registration: locked, HEAD at the candidate
 *   .copse/queue/<slot>/index                Copse's own index of the files that it wrote
 *
 * Code that agents wrote has run here, so Copse trusts nothing in it:
 *
 * - Only a folder with a registration of this name and this path is the queue's. Copse leaves anything else alone and checks
 *   nothing in the slot until a person has moved it away.
 * - Tracked files become those of the candidate, untracked files are deleted, ignored files stay: dependencies and caches are
 *   the reason to reuse a worktree. Copse uses its own index, because a check can make the worktree's index hide a change.
 *   The stamps in Copse's index show every change, and git compares all files once more at the end.
 * - The worktree's git directory is written anew: no lock, merge, setting or moved HEAD of an earlier check stays.
 * - Submodules are made anew, because Copse never starts git in a repository in which other code has run.
 * - A worktree that is damaged, half made, or cannot become the candidate goes to the trash, and Copse makes a new one.
 *
 * The caller holds the lock of the slot, and nothing runs in the worktree.
 */

import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { parseQueueWorktree, queueWorktree } from '../../workspaces/rules/naming.ts';
import type { CheckCandidate, CheckPlaces, Readied } from '../ports/checks.ts';
import type { Git, RegisteredWorktree } from '../../git/port.ts';
import { readIfThere } from '../../kernel/system/read-if-there.ts';
import { checkOutCandidate } from './place-files.ts';
import { copyWithTime } from '../../git/private-index.ts';
import { tryGit, type TrustedDir } from '../../git/process.ts';
import {
  UNFINISHED,
  canonical,
  register,
  registrationNamed,
  registrationOf,
  repairMoved,
} from '../../git/worktrees/registrations.ts';

export interface CheckPlaceOptions {
  /** The folder of all worktrees. */
  readonly folder: string;
  readonly withLock: Git['withLock'];
  /** Moves an unusable worktree to the trash. Null: that half of it does not exist. */
  readonly discard: (place: {
    readonly path: string | null;
    readonly gitDir: string | null;
  }) => Promise<void>;
}

interface Slot extends CheckPlaceOptions {
  readonly dir: TrustedDir;
  readonly path: string;
  readonly name: string;
  readonly gitDir: string;
  readonly index: string;
}

export function openCheckPlaces(dir: TrustedDir, options: CheckPlaceOptions): CheckPlaces {
  return {
    known: () => knownSlots(dir, options.folder),
    path: (slot) => slotOf(dir, options, slot).path,
    ready: (slot, candidate) => ready(slotOf(dir, options, slot), candidate),
  };
}

function slotOf(dir: TrustedDir, options: CheckPlaceOptions, number: number): Slot {
  const name = queueWorktree(number);
  return {
    ...options,
    dir,
    name,
    path: path.join(canonical(options.folder), name),
    gitDir: path.join(dir.commonDir, 'worktrees', name),
    index: path.join(dir.home, '.copse', 'queue', String(number), 'index'),
  };
}

function knownSlots(dir: TrustedDir, folder: string): readonly number[] {
  const names = [folder, path.join(dir.commonDir, 'worktrees')].flatMap((place) =>
    existsSync(place) ? readdirSync(place) : [],
  );
  const slots = new Set(names.flatMap((name) => parseQueueWorktree(name) ?? []));
  return [...slots].toSorted((one, other) => one - other);
}

async function ready(slot: Slot, candidate: CheckCandidate): Promise<Readied> {
  // A HEAD at a missing commit would make every fetch in this repository fail.
  const { code } = await tryGit(slot.dir, ['cat-file', '-e', `${candidate.commit}^{tree}`]);
  if (code !== 0)
    return { kind: 'not_ready', reason: `The commit ${candidate.commit} to check does not exist.` };
  await slot.withLock(() => repairMoved(slot.dir.commonDir, slot.path));
  const found = lookAt(slot);
  if (found.kind === 'foreign') return { kind: 'not_ready', reason: found.reason };
  let anew: string | null = null;
  if (found.kind === 'ours') {
    const wrong = found.wrong ?? (await bring(slot, candidate));
    if (wrong === null) return { kind: 'ready', place: placeOf(slot, candidate), anew };
    anew = wrong;
    await slot.discard({
      path: existsSync(slot.path) ? slot.path : null,
      gitDir: existsSync(slot.gitDir) ? slot.gitDir : null,
    });
  }
  await make(slot, candidate);
  const wrong = await bring(slot, candidate);
  if (wrong !== null)
    return { kind: 'not_ready', reason: `Cannot make a worktree for the checks at ${slot.path}: ${wrong}` };
  return { kind: 'ready', place: placeOf(slot, candidate), anew };
}

function placeOf({ path: at, gitDir }: Slot, { commit }: CheckCandidate): RegisteredWorktree {
  return { path: at, gitDir, tip: commit };
}

type Found =
  | { readonly kind: 'absent' }
  | { readonly kind: 'ours'; readonly wrong: string | null }
  | { readonly kind: 'foreign'; readonly reason: string };

function lookAt(slot: Slot): Found {
  const { dir, name, gitDir, path: at } = slot;
  const kind = lstatSync(at, { throwIfNoEntry: false });
  const known = lstatSync(gitDir, { throwIfNoEntry: false });
  const registered = registrationNamed(dir.commonDir, name);
  const isElsewhere = registered !== undefined && !isSame(registered.path, at);
  if (isElsewhere && existsSync(registered.path))
    return foreign(`git has registered the worktree at ${registered.path} as ${name}, a name of the queue`);
  if (kind === undefined)
    return known === undefined ? { kind: 'absent' } : { kind: 'ours', wrong: 'its folder is gone' };
  if (!kind.isDirectory()) return foreign(`${at} is not a folder`);
  // Left by a process that was killed before it registered the folder.
  if (known === undefined && readdirSync(at).length === 0) return { kind: 'absent' };
  const isOurs = registered !== undefined ? !isElsewhere : known !== undefined && leadsTo(at, gitDir);
  if (!isOurs) return foreign(`${at} exists and is not a worktree of the queue`);
  return { kind: 'ours', wrong: whatIsWrong(slot) };
}

function foreign(what: string): Found {
  return { kind: 'foreign', reason: `Cannot run checks in this slot: ${what}. Move it away.` };
}

function isSame(one: string, other: string): boolean {
  const place = (folder: string) => path.join(canonical(path.dirname(folder)), path.basename(folder));
  return place(one) === place(other);
}

function leadsTo(worktree: string, gitDir: string): boolean {
  const entry = path.join(worktree, '.git');
  return (
    lstatSync(entry, { throwIfNoEntry: false })?.isFile() === true &&
    readIfThere(entry)?.trimEnd() === `gitdir: ${gitDir}`
  );
}

function whatIsWrong({ dir, path: at, gitDir, index }: Slot): string | null {
  if (!lstatSync(gitDir).isDirectory()) return 'its git directory is not a folder';
  if (existsSync(path.join(gitDir, UNFINISHED))) return 'its creation was cut short';
  const registration = registrationOf(dir.commonDir, at);
  if (registration.kind === 'broken') return registration.why;
  if (registration.registration.gitDir !== gitDir) return 'its .git file names another registration';
  return existsSync(index) ? null : 'the index that Copse keeps of it is gone';
}

async function make(slot: Slot, { commit }: CheckCandidate): Promise<void> {
  const { dir, name, path: at } = slot;
  rmSync(slot.index, { force: true });
  mkdirSync(at, { recursive: true });
  const made = await slot.withLock(async () =>
    register(dir.commonDir, { name, path: at, head: commit, reason: REASON }),
  );
  if (made === undefined) throw new Error(`${slot.gitDir} was moved away and exists again`);
}

const REASON = 'Copse: the merge queue runs its checks here. Do not work in it.';

/** Null when the worktree is ready, else the reason why not. */
async function bring(slot: Slot, candidate: CheckCandidate): Promise<string | null> {
  const { dir, path: workTree, gitDir, index } = slot;
  try {
    writeFileSync(path.join(gitDir, UNFINISHED), '\n');
    mkdirSync(path.dirname(index), { recursive: true, mode: 0o700 });
    // Left by a git that was killed: the holder of the slot is alone with it.
    rmSync(`${index}.lock`, { force: true });
    const fresh = `${index}.worktree`;
    await checkOutCandidate(dir, { workTree, index, fresh }, candidate);
    resetGitDir(slot, candidate, fresh);
    rmSync(path.join(gitDir, UNFINISHED));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** By renames: a check can replace a file by a link, and a write would follow it. */
function resetGitDir({ gitDir, path: workTree }: Slot, { commit }: CheckCandidate, index: string): void {
  for (const name of readdirSync(gitDir)) {
    if (name !== UNFINISHED && name !== 'gitdir')
      rmSync(path.join(gitDir, name), { recursive: true, force: true });
  }
  const files = {
    commondir: '../..',
    locked: REASON,
    HEAD: commit,
    gitdir: path.join(workTree, '.git'),
  };
  for (const [name, text] of Object.entries(files))
    writeAtomically(path.join(gitDir, name), `${text}\n`, { mode: 0o666 });
  copyWithTime(index, path.join(gitDir, 'index'));
  rmSync(index);
}
