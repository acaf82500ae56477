/** The variables that every agent process gets, whatever its runtime, and that setup and teardown commands get too. */

import type { AgentName, BranchName, SessionId, TaskId } from '../../kernel/ids.ts';
import type { WorkItem } from '../../tasks/rules/task.ts';
import type { Workspace } from './workspace.ts';

export interface EnvironmentFacts {
  readonly task: TaskId;
  /** Null when a person works on the task by hand, as with the other two. */
  readonly session: SessionId | null;
  readonly agent: AgentName | null;
  readonly workItem: (WorkItem & { readonly title: string }) | null;
  readonly repositoryRoot: string;
  readonly strategy: Workspace['strategy'];
  /** Null for tasks without code. */
  readonly worktree: {
    readonly path: string;
    readonly branch: BranchName;
    readonly baseBranch: BranchName;
  } | null;
  readonly ports: readonly number[];
}

/** Unknown values are left out: an empty variable would look like a value. */
export function agentEnvironment(facts: EnvironmentFacts): Readonly<Record<string, string>> {
  const { worktree, workItem } = facts;
  const variables: Readonly<Record<string, string | null | undefined>> = {
    COPSE_TASK_ID: facts.task,
    COPSE_SESSION_ID: facts.session,
    COPSE_AGENT: facts.agent,
    COPSE_WORKTREE_PATH: worktree?.path,
    COPSE_WORKTREE_BRANCH: worktree?.branch,
    COPSE_WORKTREE_BASE_BRANCH: worktree?.baseBranch,
    COPSE_WORK_ITEM_ID: workItem?.id,
    COPSE_WORK_ITEM_TITLE: workItem?.title,
    COPSE_WORK_ITEM_SOURCE: workItem?.source,
    COPSE_WORK_ITEM_URL: workItem?.url,
    COPSE_REPO_ROOT: facts.repositoryRoot,
    COPSE_WORKSPACE_STRATEGY: facts.strategy,
    ...portVariables(facts.ports),
  };
  const known = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] != null);
  return Object.fromEntries(known);
}

/** `COPSE_PORT` is the first; further ones are `COPSE_PORT_2` and so on. */
function portVariables(ports: readonly number[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ports.map((port, index) => [index === 0 ? 'COPSE_PORT' : `COPSE_PORT_${index + 1}`, String(port)]),
  );
}

/** Variables that would make git in a command use another repository or its settings. */
export const REPOSITORY_VARIABLES =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|CEILING_DIRECTORIES|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|SHALLOW_FILE|GRAFT_FILE|QUARANTINE_PATH)$/;
