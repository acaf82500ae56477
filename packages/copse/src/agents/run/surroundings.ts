/** What surrounds the turns of an attempt: its workspace, its variables, and the watch on the main checkout. */

import type { CommitId } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import { agentEnvironment } from '../../workspaces/rules/environment.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Orders } from '../ports/runners.ts';
import type { BriefedImport } from '../rules/briefing/briefing.ts';
import type { AttemptContext } from './context.ts';
import type { Prepared } from '../../workspaces/act/prepare.ts';
import { lookAtCheckout } from '../../workspaces/discard/watch-checkout.ts';

export type PreparedWorkspace = Extract<Prepared, { kind: 'prepared' }>;

/** An attempt whose workspace is prepared. Nothing of it changes from turn to turn. */
export interface RunningAttempt {
  readonly context: AttemptContext;
  readonly orders: Orders;
  /** Aborts when the lease is lost or the runner is told to stop. */
  readonly lost: AbortSignal;
  readonly task: Task;
  readonly prepared: PreparedWorkspace;
  /** Null for a task without a worktree. */
  readonly worktree: string | null;
  /** What an import brings into the repository. */
  readonly imports: readonly BriefedImport[];
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of the agent's report. */
  readonly reported: string;
  /** Sentences for the person who looks at the finished task. */
  readonly warnings: string[];
  /** Processes that set-up and `before_run` left running. */
  readonly services: ProcessIdentity[];
  /** Processes that could not be ended, another user's for example: trying again costs seconds. */
  readonly unendable: ProcessIdentity[];
  /** Null where work does not travel to other machines. */
  readonly travel: WorkTravel | null;
}

/** How the work of an attempt reaches other machines; share/travel.ts does it. */
export interface WorkTravel {
  /** A snapshot within this time, if something changed. Never throws. */
  now(timeoutMs: number): Promise<void>;
  /** Waits until the remote has the finished commit. */
  finished(head: CommitId): Promise<FinishedHead>;
}

export type FinishedHead =
  /** `note`: other machines cannot land it. */
  { readonly kind: 'travelled'; readonly note: string | null } | { readonly kind: 'lost' };

/** Writes as the node: ports belong to it, and a change to the main checkout may concern other tasks than the session's. */
export function asNode<C extends AttemptContext>(context: C): C {
  return { ...context, by: { kind: 'node', node: context.node } };
}

export function attemptEnvironment(
  { environment, agent, root }: AttemptContext,
  { attempt, session, token, agent: name }: Orders,
  task: Task,
  { path, ports, workspace }: PreparedWorkspace,
  reported: string,
): Readonly<Record<string, string>> {
  const { worktree, strategy } = workspace;
  const facts = agentEnvironment({
    task: task.id,
    session,
    agent: name,
    workItem: task.workItem && { ...task.workItem, title: task.title },
    repositoryRoot: root,
    strategy,
    worktree: worktree && { path, branch: worktree.branch, baseBranch: worktree.baseBranch },
    ports,
  });
  return {
    ...environment,
    ...agent.env,
    ...facts,
    COPSE_ATTEMPT_ID: attempt,
    COPSE_TOKEN: String(token),
    COPSE_RUNNER_FOLDER: reported,
  };
}

/** Only reports: a failure of the watch does not fail the attempt. */
export async function watchMainCheckout(
  context: AttemptContext,
  { session, task }: Orders,
  moment: 'begin' | 'end',
): Promise<void> {
  if (context.mainGitDir === null) return;
  try {
    await lookAtCheckout(asNode(context), moment, { session, task });
  } catch (error) {
    context.log(`The main checkout could not be checked: ${String(error)}`);
  }
}
