/** The lock and the note of a sync, with which the next call finishes it after a kill; see sync.ts. */

import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import type { BranchName, CommitId } from '../../../kernel/ids.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { readIfPlain, readIfThere } from '../../../kernel/system/plain-file.ts';
import type { Place } from '../../../git/worktrees/place.ts';
import type { TrustedDir } from '../../../git/process.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';

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
  /** It lands work: only the board's journal says whether it is to go on. */
  readonly isTarget?: true;
  /** The tree that is written: that of the commit, or the merge with its conflict markers. */
  readonly tree: string;
  readonly conflict: {
    readonly base: CommitId;
    readonly message: string;
    readonly stages: readonly Stage[];
  } | null;
}

const LOCK = 'index.lock';
/** The content by which a lock of a killed sync is recognised. */
const OURS = 'copse-sync\n';

export interface Note extends Move {
  /** Files that had the new content before; one character per byte. Absent in notes of older versions. */
  readonly already?: readonly string[];
  /** All files are written; the index and git's files about a merge are not. */
  readonly isWritten: boolean;
}

/** The caller holds the task's lock, so a lock of ours was left by a killed call. */
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
  return readIfPlain(path.join(gitDir, LOCK)) === OURS;
}

export function giveUp(dir: TrustedDir, place: Place): void {
  if (isOurLock(place)) rmSync(path.join(place.gitDir, LOCK), { force: true });
  rmSync(noteFile(dir, place), { force: true });
}

export function readNote(dir: TrustedDir, place: Place): Note | undefined {
  const text = readIfThere(noteFile(dir, place), { mostBytes: defaultPolicy.files.indexBytes });
  return text === undefined ? undefined : (JSON.parse(text) as Note);
}

function noteFile({ home }: TrustedDir, { gitDir }: Place): string {
  return path.join(home, '.copse', 'sync', `${path.basename(gitDir)}.json`);
}

/** Targets whose move was interrupted in a checkout. */
export function notedTargets({ home }: TrustedDir): readonly BranchName[] {
  const folder = path.join(home, '.copse', 'sync');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const text = readIfThere(path.join(folder, name));
      const note = text === undefined ? undefined : (JSON.parse(text) as Note);
      return note?.isTarget ? [note.branch] : [];
    });
}

export function writeNote(dir: TrustedDir, place: Place, note: Note): void {
  const file = noteFile(dir, place);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeAtomically(file, JSON.stringify(note), { isDurable: true });
}

function write(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
