/** Reads the context file that was written for the agent of a task. */

import path from 'node:path';

import { furnishingGit } from '../workspaces/files/furnish-git.ts';
import { openTrustedDir } from '../git/directory/trusted-dir.ts';
import { openContextFiles } from '../agents/files/context-files.ts';
import { readInside } from '../workspaces/files/read-inside.ts';
import { type WorkspaceContext, workspaceOf } from '../workspaces/act/context.ts';
import { type Surroundings, requireRepository } from './open.ts';
import type { TaskId } from '../kernel/ids.ts';

export interface ContextRead {
  readonly file: string;
  /** Undefined without such a file. */
  readonly read: { readonly text: string; readonly isCut: boolean } | undefined;
}

export async function readContext(
  surroundings: Surroundings,
  context: WorkspaceContext,
  { task, mostBytes }: { readonly task: TaskId; readonly mostBytes: number },
): Promise<ContextRead> {
  const { git, home } = context;
  const files = openContextFiles({
    git: furnishingGit(openTrustedDir(requireRepository(surroundings))),
    gitDirOf: (worktree) => git.gitDirOf(worktree),
    home,
  });
  const worktree = (await workspaceOf(context, task))?.worktree?.path ?? null;
  const place = (await files.choose(task, worktree)).context;
  return { file: path.join(place.root, place.file), read: readInside(place, mostBytes) };
}
