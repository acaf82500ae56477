/**
 * A board in a file that is absent or empty, although the repository shows that there was one: worktrees, refs, removed
 * worktrees or snapshots of it. An empty board in its place would forget every task without a word.
 */

import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { BoardUnavailable } from '../../board/port.ts';
import { listSnapshots } from '../../board/sqlite/snapshots.ts';
import type { Repository } from '../../git/directory/locate.ts';
import { parseTaskId } from '../../kernel/ids.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { readPlainBytes } from '../../kernel/system/plain-file.ts';
import { counted } from '../../kernel/text.ts';

/** Throws when a board was there before. */
export function refuseLostBoard(repository: Repository, file: string): void {
  const bytes = sizeOf(file);
  if (bytes !== undefined && bytes > 0) return;
  const traces = tracesOf(repository, file);
  if (traces.length === 0) return;
  throw new BoardUnavailable(
    `The board at ${file} is ${bytes === undefined ? 'gone' : 'empty'}, but this repository has ${traces.join(', ')}. Nothing was changed.`,
    listSnapshots(file).length > 0
      ? 'copse board restore # to put back a snapshot; copse board rebuild adds what git knows since then'
      : 'copse board rebuild # to make it from what git still knows; with an export, use copse import',
  );
}

function tracesOf({ commonDir, home }: Repository, file: string): readonly string[] {
  const tasks = namesIn(path.join(commonDir, 'worktrees')).filter((name) => parseTaskId(name) !== undefined);
  const some = tasks.slice(0, NAMED).join(', ');
  const trash = namesIn(path.join(home, '.copse', 'trash')).length;
  const snapshots = listSnapshots(file).length;
  return [
    ...(tasks.length > 0 ? [`worktrees of ${some}${tasks.length > NAMED ? ', …' : ''}`] : []),
    ...(hasRefs(commonDir) ? ['refs of its tasks (refs/copse)'] : []),
    ...(trash > 0 ? [counted(trash, 'removed worktree')] : []),
    ...(snapshots > 0 ? [`${counted(snapshots, 'snapshot')} of it`] : []),
    ...((sizeOf(`${file}-wal`) ?? 0) > 0 ? [`its write-ahead log (${path.basename(file)}-wal)`] : []),
  ];
}

const NAMED = 5;
/** A repository of a million refs has less. */
const MOST_PACKED_BYTES = defaultPolicy.files.packedRefsBytes;

function hasRefs(commonDir: string): boolean {
  if (namesIn(path.join(commonDir, 'refs', 'copse')).length > 0) return true;
  const packed = readPlainBytes(path.join(commonDir, 'packed-refs'), { mostBytes: MOST_PACKED_BYTES });
  return packed?.includes(' refs/copse/') === true;
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
