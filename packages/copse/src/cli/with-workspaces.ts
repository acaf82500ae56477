/** Opens the board and what worktrees need, and closes it when the command ends. */

import type { WorkspaceContext } from '../workspaces/act/context.ts';
import { openWorkspaceContext } from '../compose/open.ts';
import type { Cli } from './invocation.ts';

export async function withWorkspaces<T>(
  cli: Cli,
  work: (context: WorkspaceContext) => Promise<T>,
): Promise<T> {
  const context = await openWorkspaceContext(cli);
  try {
    return await work(context);
  } finally {
    await Promise.all([context.git.close(), context.board.close()]);
  }
}
