import { agentEnvironment } from '../rules/environment.ts';
import type { AgentName, BranchName, SessionId, TaskId } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { DismantleRequest } from '../ports/furnishing.ts';
import type { WorkspaceContext } from './context.ts';

/** Who works on what. */
export interface Worker {
  readonly task: Task;
  readonly agent: AgentName | null;
  readonly session: SessionId | null;
}

/** What set-up and teardown both have to know. */
export function furnishingOf(
  context: WorkspaceContext,
  { task, agent, session }: Worker,
  of: {
    readonly path: string;
    readonly branch: BranchName;
    readonly base: BranchName;
    readonly ports: readonly number[];
  },
): Omit<DismantleRequest, 'base' | 'sparse'> {
  const { root, home, settings, git } = context;
  const gitDir = git.gitDirOf(of.path);
  if (gitDir === undefined) throw new Error(`${of.path} is not a worktree that git knows`);
  return {
    task: task.id,
    agent,
    source: context.mainGitDir === null ? null : { folder: root, gitDir: context.mainGitDir },
    target: { folder: of.path, gitDir },
    home,
    settings: {
      copy: settings.copy,
      link: settings.link,
      setup: settings.setup ?? null,
      teardown: settings.teardown ?? null,
      commandTimeoutMs: settings.command_timeout,
    },
    never: [context.worktreeFolder],
    env: agentEnvironment({
      task: task.id,
      session,
      agent,
      workItem: task.workItem && { ...task.workItem, title: task.title },
      repositoryRoot: root,
      strategy: settings.strategy,
      worktree: { path: of.path, branch: of.branch, baseBranch: of.base },
      ports: of.ports,
    }),
    record: furnishRecord(context, task.id),
  };
}

/** Outside of everything that an agent in a sandbox can write. */
export function furnishRecord({ home }: Pick<WorkspaceContext, 'home'>, task: TaskId): string {
  return `${home}/.copse/furnished/${task}.json`;
}
