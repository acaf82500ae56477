import type { TaskId } from '../../kernel/ids.ts';
import type { Workspace } from '../rules/workspace.ts';
import type { WorkspaceContext } from './context.ts';

/**
 * Where the worktree of a task is: where it was made, unless the repository was moved with it since. One that is nowhere
 * belongs in the usual place, unless git still knows it at the old one. What is broken there may be somebody else's: a copy
 * of a repository has the same records as the original.
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
