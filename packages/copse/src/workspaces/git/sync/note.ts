/** What a sync that writes into a worktree holds and notes while it does, so that another can finish it; see sync.ts. */

import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

import type { BranchName, CommitId } from '../../../kernel/ids.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { readIfThere } from '../../../kernel/system/read-if-there.ts';
import type { Place } from '../../../git/worktrees/place.ts';
import type { TrustedDir } from '../../../git/process.ts';

/** One side of a path in conflict. */
export interface Stage {
  readonly mode: string;
  readonly id: string;
  readonly stage: string;
  /** One character per byte. */
  readonly file: string;
}

export interface Move {
  readonly branch: BranchName;
  readonly from: CommitId;
  readonly to: CommitId;
  /** What the files become: that of the commit, or the merge with its conflict markers. */
  readonly tree: string;
  readonly conflict: {
    readonly base: CommitId;
    readonly message: string;
    readonly stages: readonly Stage[];
  } | null;
}

const LOCK = 'index.lock';
/** Tells a lock that a killed sync left behind from any other. */
const OURS = 'copse-sync\n';

interface Note extends Move {
  /** All files are as they shall be; what is left are the index and what git notes about a merge. */
  readonly isWritten: boolean;
}

/** Whoever calls holds the task's lock, so a lock of ours is one that was left behind. */
export function takeLock(place: Place): boolean {
  if (isOurLock(place)) return true;
  try {
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
    write(openSync(path.join(place.gitDir, LOCK), flags), OURS);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

export function isOurLock({ gitDir }: Place): boolean {
  return existsSync(path.join(gitDir, LOCK)) && readIfThere(path.join(gitDir, LOCK)) === OURS;
}

export function giveUp(dir: TrustedDir, place: Place): void {
  if (isOurLock(place)) rmSync(path.join(place.gitDir, LOCK), { force: true });
  rmSync(noteFile(dir, place), { force: true });
}

export function readNote(dir: TrustedDir, place: Place): Note | undefined {
  const text = readIfThere(noteFile(dir, place));
  return text === undefined ? undefined : (JSON.parse(text) as Note);
}

function noteFile({ home }: TrustedDir, { gitDir }: Place): string {
  return path.join(home, '.copse', 'sync', `${path.basename(gitDir)}.json`);
}

export function writeNote(dir: TrustedDir, place: Place, note: Note): void {
  const file = noteFile(dir, place);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeWhole(file, JSON.stringify(note));
}

/** Never through a link that somebody put there. */
export function writeWhole(file: string, text: string): void {
  const fresh = `${file}.${process.pid}`;
  rmSync(fresh, { force: true });
  write(openSync(fresh, 'wx', 0o600), text);
  renameSync(fresh, file);
}

function write(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
