/** Starts `copse tend` in the background, if it is due. */

import { startBackground } from '../../../compose/on-demand.ts';
import { needsTending } from '../../../workspaces/act/tend.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import type { Cli } from '../../invocation.ts';

/** `filesMade`: the number of files of a worktree that was just created. */
export async function tendLater(cli: Cli, context: WorkspaceContext, filesMade?: number): Promise<void> {
  if (cli.env['COPSE_BACKGROUND'] === '0') return;
  if (await needsTending(context, filesMade)) await startBackground(['tend'], { ...cli, cwd: context.root });
}
