/** What only this machine knows about a task: its process, and the size of its worktree. Loaded when it is shown. */

import { readRunner } from '../agents/files/attempt-files.ts';
import type { AttemptProcess } from '../operations/access.ts';
import { isAlive } from '../processes/identity.ts';
import type { Attempt } from '../tasks/rules/attempt.ts';
import { type Repository, nodeHere } from './open.ts';

export async function processOf(
  repository: Repository,
  { id, node, process }: Attempt,
  nodeName: string | null,
): Promise<AttemptProcess> {
  const isHere = node === nodeHere(repository);
  if (!isHere) return { node, nodeName, isHere, pid: process?.pid ?? null, isAlive: null };
  const runner = process ?? readRunner(repository.home, id) ?? null;
  return {
    node,
    nodeName,
    isHere,
    pid: runner?.pid ?? null,
    isAlive: runner !== null && (await isAlive(runner)),
  };
}

export { folderSize } from '../workspaces/files/folder-size.ts';
