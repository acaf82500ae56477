/** What Copse remembers of the set-up of a worktree, in `.copse`: an agent in a sandbox must not decide that it runs again. */

import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { readIfThere } from '../../kernel/system/plain-file.ts';
import { writeAtomically } from '../../kernel/system/write-atomically.ts';

interface FurnishedWorktree {
  readonly isSetUp: boolean;
  /** Set-up has begun in the files of the base and is not done: no agent has been in the worktree. */
  readonly isAsBase: boolean;
  /** An agent with a sandbox worked on the task; null if not known. Stays without the worktree until the task is over. */
  readonly isConfined: boolean | null;
}

const UNKNOWN: FurnishedWorktree = { isSetUp: false, isAsBase: false, isConfined: null };

export function readRecord(file: string | null): FurnishedWorktree {
  try {
    const text = file === null ? undefined : readIfThere(file);
    return text === undefined ? UNKNOWN : { ...UNKNOWN, ...(JSON.parse(text) as FurnishedWorktree) };
  } catch {
    return UNKNOWN;
  }
}

export function writeRecord(file: string | null, record: FurnishedWorktree): void {
  if (file === null) return;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeAtomically(file, JSON.stringify(record));
}

/** All but the sandbox is forgotten. */
export function startOver(file: string): void {
  const { isConfined } = readRecord(file);
  if (isConfined !== null) writeRecord(file, { ...UNKNOWN, isConfined });
}

/** Not that of a worktree that exists. */
export function dropRecord(file: string): void {
  const { isSetUp, isAsBase } = readRecord(file);
  if (!isSetUp && !isAsBase) rmSync(file, { force: true });
}
