/** The part of a rescue that goes into a worktree's git directory: operations in progress, HEAD and index. */

import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  constants,
  renameSync,
  rmSync,
  utimesSync,
  statSync,
  writeFileSync,
  fsyncSync,
} from 'node:fs';
import path from 'node:path';

import { git, type TrustedDir } from '../../../git/process.ts';
import type { RescueRecord } from './record.ts';
import { type Place, hasOperation, isOperationFile } from '../../../git/worktrees/place.ts';

export interface State {
  readonly staged: string | undefined;
  readonly unmerged: readonly string[];
  readonly intended: readonly string[];
  readonly permissions: readonly string[];
  /** Files of the git directory that belong to an operation in progress, by name. */
  readonly operation: ReadonlyMap<string, Buffer>;
}

export async function readState(dir: TrustedDir, record: Partial<RescueRecord>): Promise<State> {
  const operation = new Map<string, Buffer>();
  const staged = record.staged ?? undefined;
  if (record.state === undefined || record.state === null)
    return { staged, unmerged: [], intended: [], permissions: [], operation };
  const parts = ['gitdir/', 'unmerged', 'intended', 'permissions'];
  const listing = await git(dir, ['ls-tree', '-r', '-z', record.state, ...parts]);
  const entries = listing
    .toString()
    .split('\0')
    .flatMap((line) => {
      const [, id, name] = /^100\d{3} blob (\S+)\t(.+)$/s.exec(line) ?? [];
      return id === undefined || name === undefined ? [] : [{ id, name }];
    });
  const contents = await readBlobs(
    dir,
    entries.map(({ id }) => id),
  );
  const byName = new Map(entries.map(({ name }, at) => [name, contents[at] ?? Buffer.alloc(0)]));
  for (const [name, content] of byName) {
    const file = name.replace(/^gitdir\//, '');
    if (file !== name && isOperationFile(file)) operation.set(file, content);
  }
  return {
    staged,
    unmerged: lines(byName.get('unmerged')),
    intended: lines(byName.get('intended')),
    permissions: lines(byName.get('permissions')),
    operation,
  };
}

function lines(content: Buffer | undefined): readonly string[] {
  return (
    content
      ?.toString('latin1')
      .split('\0')
      .filter((line) => line !== '') ?? []
  );
}

async function readBlobs(dir: TrustedDir, ids: readonly string[]): Promise<readonly Buffer[]> {
  if (ids.length === 0) return [];
  const output = await git(dir, ['cat-file', '--batch'], { input: ids.map((id) => `${id}\n`).join('') });
  const blobs: Buffer[] = [];
  let at = 0;
  while (at < output.length) {
    const end = output.indexOf(10, at);
    const size = Number(output.subarray(at, end).toString().split(' ')[2]);
    if (!Number.isSafeInteger(size)) throw new Error(`An object of a rescue is missing: ${ids.join(' ')}`);
    blobs.push(output.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return blobs;
}

/** An operation that is in progress already stays as it is. */
export function restoreOperation({ gitDir, isMain }: Place, { operation }: State): void {
  if (isMain || hasOperation(gitDir)) return;
  for (const [name, content] of operation) {
    const file = path.join(gitDir, name);
    if (!existsSync(file)) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content, { flag: 'wx' });
    }
  }
}

export function refuseIfLocked({ gitDir, worktree }: Place): void {
  const locked = ['index.lock', 'HEAD.lock'].find(
    (name) => lstatSync(path.join(gitDir, name), { throwIfNoEntry: false }) !== undefined,
  );
  if (locked === undefined) return;
  throw new Error(
    `Git is at work in ${worktree}, or was ended there: ${path.join(gitDir, locked)} exists. If no git runs, remove that file.`,
  );
}

export function detachHead({ gitDir }: Place, from: string | null, to: string): void {
  const line = `${from ?? '0'.repeat(to.length)} ${to} Copse <copse@localhost> ${Math.floor(Date.now() / 1000)} +0000\tcopse: restored\n`;
  underLock(path.join(gitDir, 'HEAD'), (lock) => writeFileSync(lock, `${to}\n`));
  mkdirSync(path.join(gitDir, 'logs'), { recursive: true });
  // An agent can replace the reflog by a link; following it would write elsewhere.
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const log = openSync(path.join(gitDir, 'logs', 'HEAD'), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o644);
  try {
    appendFileSync(log, line);
  } finally {
    closeSync(log);
  }
}

/** Keeps the time of the index: git compares it with the files' times to find changes. */
export function installIndex({ gitDir }: Place, index: string): void {
  underLock(path.join(gitDir, 'index'), (lock) => {
    const { mtimeMs } = statSync(index);
    copyFileSync(index, lock);
    utimesSync(lock, Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000));
  });
}

/** As git does it: the content is written to the lock file, which is then renamed. */
function underLock(file: string, write: (lock: string) => void): void {
  const lock = `${file}.lock`;
  const descriptor = openSync(lock, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o644);
  try {
    write(lock);
    fsyncSync(descriptor);
    renameSync(lock, file);
  } catch (error) {
    rmSync(lock, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}
