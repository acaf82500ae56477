/** Starts the upkeep that nobody should wait for (workspaces/act/tend.ts) as a process of its own. */

import { startBackground } from '../../compose/open.ts';
import { needsTending } from '../../workspaces/act/tend.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import type { Cli } from '../invocation.ts';

/** `filesMade`: how many files a worktree has that was just made. */
export async function tendLater(cli: Cli, context: WorkspaceContext, filesMade?: number): Promise<void> {
  if (cli.env['COPSE_BACKGROUND'] === '0') return;
  if (await needsTending(context, filesMade)) await startBackground(['tend'], { ...cli, cwd: context.root });
}
