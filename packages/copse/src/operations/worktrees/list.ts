import type { Timestamp } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import {
  type ListContext,
  type ListedWorktree,
  type SpareWorktree,
  listSpareWorktrees,
  listWorktrees,
} from '../../workspaces/act/worktree-list.ts';
import type { FolderSize } from '../../workspaces/ports/furnishing.ts';
import type { Access } from '../access.ts';
import { worktreeView } from '../views/workspace-views.ts';

interface Input {
  /** Also pooled worktrees and worktrees not created by Copse. */
  readonly all?: boolean | undefined;
  readonly size?: boolean | undefined;
}

export type SizedWorktree = ListedWorktree & { readonly size: FolderSize | undefined };

interface ListedWorktrees {
  readonly worktrees: readonly SizedWorktree[];
  /** Null if they were not asked for. */
  readonly spare: readonly SpareWorktree[] | null;
  readonly at: Timestamp;
}

export async function act(access: Access, { all = false, size = false }: Input): Promise<ListedWorktrees> {
  const load = async (context: ListContext, spare: ListedWorktrees['spare']): Promise<ListedWorktrees> => ({
    worktrees: await measured(access, await listWorktrees(context), size),
    spare,
    at: context.clock.now(),
  });
  // The pool is opened only when it is asked for.
  return all
    ? access.workspaces(async (context) => load(context, await listSpareWorktrees(context)))
    : access.worktreeList((context) => load(context, null));
}

export function view({ worktrees, spare }: ListedWorktrees) {
  return {
    worktrees: worktrees.map(({ size, ...one }) => worktreeView(one, size)),
    ...(spare && { others: spare.map(({ path, kind }) => ({ worktree: path, kind })) }),
  };
}

async function measured(
  { here }: Access,
  worktrees: readonly ListedWorktree[],
  isWanted: boolean,
): Promise<readonly SizedWorktree[]> {
  const untilMs = performance.now() + defaultPolicy.operations.sizesMs;
  const sized: SizedWorktree[] = [];
  for (const one of worktrees)
    sized.push({ ...one, size: isWanted ? await here.folderSize(one.path, untilMs) : undefined });
  return sized;
}
