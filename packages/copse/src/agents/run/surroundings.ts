/** What surrounds the turns of an attempt: its workspace, its variables, its hooks, and the watch on the main checkout. */

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CommitId } from '../../kernel/ids.ts';
import { change } from '../../board/context.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import { decided } from '../../kernel/decision.ts';
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

export async function runHook(
  { commands, agent, home, policy, log }: AttemptContext,
  { task, attempt }: Orders,
  hook: 'before_run' | 'after_run' | 'on_error',
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  const lines = agent.hooks[hook];
  if (lines.length === 0) return null;
  const outcome = await commands.run({
    name: `${attempt}-${hook}`,
    commands: lines,
    folder,
    env,
    timeoutMs: policy.workspace.commandTimeoutMs,
    logFolder: `${home}/.copse/logs/${task}`,
  });
  if (outcome.kind === 'done') return null;
  const { command, because, code, tail } = outcome;
  const how =
    because === 'exit' ? `failed (exit code ${code})` : because === 'timeout' ? 'timed out' : 'did not start';
  const what = [`hook ${hook} ${how}: ${command}`, ...tail.slice(1)].join('\n');
  if (hook === 'before_run') throw new Error(what);
  log(what);
  return what;
}

/** After the gate: the files that `after_run` leaves do not keep the worktree from being removed once the work has landed. */
export async function runAfterHooks(
  context: AttemptContext,
  orders: Orders,
  { path, workspace }: PreparedWorkspace,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const note = await runHook(context, orders, 'after_run', path, env);
  const notes = note === null ? [] : [note];
  if (workspace.worktree === null || context.agent.hooks.after_run.length === 0) return notes;
  const { changed, untracked } = await context.git.uncommitted(path);
  const paths = [...changed, ...untracked];
  if (paths.length === 0 || paths.length > MOST_HOOK_FILES) return notes;
  const recorded = await change(context, async (change) => {
    await change.requireMine(orders.task);
    await change.apply(decided({ type: 'workspace.hooks_wrote', id: workspace.id, at: change.at, paths }));
  });
  if (recorded.kind === 'refused') context.log(recorded.refusal.reason);
  return notes;
}

const MOST_HOOK_FILES = defaultPolicy.commands.hookFiles;

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
