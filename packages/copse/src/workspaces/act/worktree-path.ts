import type { TaskId } from '../../kernel/ids.ts';
import type { Workspace } from '../rules/workspace.ts';
import type { WorkspaceContext } from './context.ts';

/**
 * Where the worktree of a task is: where it was made, unless the repository was moved since. A missing one belongs in the
 * usual place, unless git still has it registered at the old one. A broken one at the old place may belong to another
 * repository: a copied repository has the same records as the original.
 */
export async function worktreePath(
  { git, worktreeFolder }: Pick<WorkspaceContext, 'git' | 'worktreeFolder'>,
  task: TaskId,
  workspace: Workspace | undefined,
): Promise<string> {
  const usual = `${worktreeFolder}/${task}`;
  const recorded = workspace?.worktree?.path ?? usual;
  if (recorded === usual) return usual;
  const there = await git.look(recorded);
  if (there.state === 'healthy') return recorded;
  if ((await git.look(usual)).state !== 'absent') return usual;
  return there.state === 'absent' && there.isRegistered ? recorded : usual;
}
