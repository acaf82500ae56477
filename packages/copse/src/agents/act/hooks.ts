/**
 * Runs the hooks of an attempt, in its runner or in a process that recovers it:
 *
 *   record that the hook begins → its commands and calls, until one fails → record how it ended
 *
 * The first record is refused if the hook already began for this attempt, or if the attempt lost its task, so it runs at most
 * once. A kill after the first record leaves a hook without an end: it is not repeated, and the recovery says so.
 */

import { refused, decided } from '../../kernel/decision.ts';
import { type AgentName, type AttemptId, type FencingToken, type TaskId, brand } from '../../kernel/ids.ts';
import { change } from '../../board/context.ts';
import type { EffectiveAgent } from '../../config/effective.ts';
import { refuseUnlessHeld } from '../../tasks/rules/claim.ts';
import { type Attempt, type HookName, decideHookStart } from '../../tasks/rules/attempt.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { RunContext } from '../../queue/context.ts';
import { agentNamed } from '../../queue/context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { agentEnvironment } from '../../workspaces/rules/environment.ts';
import { type HookFacts, type HookOutcome, hookVariables, hookView } from '../rules/session/hook-outcome.ts';
import type { HookCommands } from '../ports/hooks.ts';

export interface HookRequest {
  readonly hook: HookName;
  readonly task: TaskId;
  readonly attempt: AttemptId;
  readonly token: FencingToken;
  readonly agent: Pick<EffectiveAgent, 'name' | 'hooks' | 'env'>;
  readonly outcome: HookOutcome | null;
  /** Absent: the worktree of the task, if it is here. */
  readonly place?: HookPlace;
  /** The worktree is on another machine: only addresses are called. */
  readonly isElsewhere?: boolean;
  /** For a process that waits for no service of the hook. */
  readonly leavesNothing?: boolean;
  /** Refused if the runner has registered since it was looked at. */
  readonly isUnregistered?: boolean;
}

interface HookPlace {
  /** Null: an empty one, because there is no worktree. */
  readonly folder: string | null;
  readonly environment: Readonly<Record<string, string>>;
}

export type HookResult =
  /** None is configured, or it is not for this process to run. */
  | { readonly kind: 'none' }
  | { readonly kind: 'ran'; readonly problem: string | null }
  /** Another process runs it now. */
  | { readonly kind: 'running' }
  /** It began in a process that is gone. */
  | { readonly kind: 'cut_off'; readonly note: string };

export async function runHook(context: RunContext, request: HookRequest): Promise<HookResult> {
  const { hook, agent, attempt: id } = request;
  const steps = agent.hooks[hook];
  if (steps.length === 0 || context.hooks === undefined) return { kind: 'none' };
  const attempt = await context.board.get('attempt', id);
  const task = await context.board.get('task', request.task);
  if (attempt === undefined || task === undefined) return { kind: 'none' };
  const earlier = await lookEarlier(context, attempt, hook);
  if (earlier !== null) return earlier;
  if (!(await begin(context, request))) return { kind: 'none' };
  const problem = await runSteps(context, request, { attempt, task }).catch(
    (error: unknown) => `hook ${hook} failed: ${error instanceof Error ? error.message : String(error)}`,
  );
  await change(context, (change) =>
    change.apply(decided({ type: 'attempt.hook_ended', id, at: change.at, hook, problem })),
  );
  return { kind: 'ran', problem };
}

/** Null: it has not begun. */
async function lookEarlier(
  { node, occupancy, pid }: RunContext,
  { hooks }: Attempt,
  hook: HookName,
): Promise<HookResult | null> {
  const run = hooks?.[hook];
  if (run === undefined) return null;
  if (run.end !== undefined) return { kind: 'none' };
  // This process runs one at a time for each task: one of its own that has no end could not be recorded.
  const isAnother = run.by.node === node && run.by.pid !== pid;
  if (isAnother && (await occupancy.isAlive(run.by))) return { kind: 'running' };
  return {
    kind: 'cut_off',
    note: `The hook ${hook} began and its process ended before it: it is not run again.`,
  };
}

/** False: it is another process's, or the attempt lost its task. */
async function begin(
  context: RunContext,
  { hook, task: id, attempt, token, isUnregistered }: HookRequest,
): Promise<boolean> {
  const self = await context.occupancy.identify(context.pid);
  if (self === undefined) throw new Error('A process could not find itself among the processes');
  const by = { node: context.node, pid: self.pid, startTime: self.startTime };
  const begun = await change(context, async (change) => {
    const refusal = refuseUnlessHeld(await change.require('task', id), token);
    if (refusal) change.refuse(refusal);
    const record = await change.require('attempt', attempt);
    if (isUnregistered && record.process)
      change.refuse(refused('too_early', `The runner of ${id} started meanwhile.`, `copse show ${id}`));
    await change.apply(decideHookStart(record, hook, by, change.at));
  });
  return begun.kind === 'done';
}

interface HookRecords {
  readonly attempt: Attempt;
  readonly task: Task;
}

/** Why it failed, or null. */
async function runSteps(
  context: RunContext,
  request: HookRequest,
  { attempt, task }: HookRecords,
): Promise<string | null> {
  const { hook, agent, outcome } = request;
  const workspace = await workspaceOf(context, task.id);
  const facts: HookFacts = {
    hook,
    at: context.clock.now(),
    task: { id: task.id, title: task.title },
    agent: brand<AgentName>(agent.name),
    session: attempt.session,
    attempt: attempt.id,
    node: attempt.node,
    worktree: workspace?.worktree
      ? {
          path: workspace.worktree.path,
          branch: workspace.worktree.branch,
          baseBranch: workspace.worktree.baseBranch,
        }
      : null,
    outcome,
  };
  const input = `${JSON.stringify(hookView(facts))}\n`;
  let problem: string | null = null;
  let unrun: string | null = null;
  for (const step of grouped(agent.hooks[hook])) {
    if ('url' in step) problem = await call(context, hook, step, input);
    else if (request.isElsewhere) unrun = `hook ${hook} did not run here: the worktree is on another machine`;
    else
      problem = await runCommands(context, request, { attempt, task }, { facts, input, lines: step.lines });
    if (problem !== null) break;
  }
  return problem ?? unrun;
}

type HookStep = EffectiveAgent['hooks'][HookName][number];

/** Commands that follow each other have their logs numbered together. */
function grouped(
  steps: readonly HookStep[],
): readonly (Exclude<HookStep, string> | { readonly lines: readonly string[] })[] {
  const groups: (Exclude<HookStep, string> | { lines: string[] })[] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (typeof step !== 'string') groups.push(step);
    else if (last !== undefined && 'lines' in last) last.lines.push(step);
    else groups.push({ lines: [step] });
  }
  return groups;
}

async function call(
  { hooks }: RunContext,
  hook: HookName,
  { url, timeout }: Exclude<HookStep, string>,
  input: string,
): Promise<string | null> {
  const why = await hooks?.post(url, input, timeout);
  return why == null ? null : `hook ${hook} failed: ${why}`;
}

async function runCommands(
  context: RunContext,
  request: HookRequest,
  records: HookRecords,
  { facts, input, lines }: { facts: HookFacts; input: string; lines: readonly string[] },
): Promise<string | null> {
  const { hook, agent, attempt, leavesNothing = false } = request;
  const { home, hooks, policy } = context;
  if (hooks === undefined) return null;
  const commands = await hooks.commandsOf(brand<AgentName>(agent.name), attempt);
  try {
    const place = request.place ?? (await findPlace(context, request, records, commands));
    if (place === null) return `hook ${hook} did not run: there is no worktree that its sandbox could open`;
    const runIn = (folder: string) =>
      commands.run({
        name: `${attempt}-${hook}`,
        commands: lines,
        folder,
        env: { ...place.environment, ...hookVariables(facts) },
        timeoutMs: policy.workspace.commandTimeoutMs,
        logFolder: `${home}/.copse/logs/${records.task.id}`,
        input,
        leavesNothing,
      });
    const outcome = place.folder === null ? await commands.inScratch(runIn) : await runIn(place.folder);
    if (outcome.kind === 'done') return null;
    const { command, because, code, tail } = outcome;
    const how =
      because === 'exit'
        ? `failed (exit code ${code})`
        : because === 'timeout'
          ? 'timed out'
          : 'did not start';
    return [`hook ${hook} ${how}: ${command}`, ...tail.slice(1)].join('\n');
  } finally {
    commands.close();
  }
}

/**
 * For an attempt whose workspace was not prepared, or by another process. Never in the main checkout, unless the agent works
 * there: a hook may reset what it finds.
 */
async function findPlace(
  context: RunContext,
  { agent, token }: HookRequest,
  { attempt, task }: HookRecords,
  { environment, isConfined }: HookCommands,
): Promise<HookPlace | null> {
  const workspace = await workspaceOf(context, task.id);
  const worktree = workspace?.worktree ?? null;
  const isHere = worktree !== null && (await context.git.look(worktree.path)).state === 'healthy';
  if (!isHere && isConfined) return null;
  const facts = agentEnvironment({
    task: task.id,
    session: attempt.session,
    agent: brand<AgentName>(agent.name),
    workItem: task.workItem && { ...task.workItem, title: task.title },
    repositoryRoot: context.root,
    strategy: workspace?.strategy ?? context.settings.strategy,
    worktree: isHere ? worktree : null,
    ports: [],
  });
  return {
    folder: isHere ? worktree.path : workspace?.strategy === 'static' ? context.root : null,
    environment: {
      ...environment,
      ...agent.env,
      ...facts,
      COPSE_ATTEMPT_ID: attempt.id,
      COPSE_TOKEN: String(token),
    },
  };
}

/** Another live process than its runner runs a hook of the attempt. */
export async function isRecovering(context: RunContext, id: AttemptId): Promise<boolean> {
  const attempt = await context.board.get('attempt', id);
  const run = attempt?.hooks?.on_error;
  if (attempt === undefined || run === undefined || run.by.pid === attempt.process?.pid) return false;
  return (await lookEarlier(context, attempt, 'on_error'))?.kind === 'running';
}

/** `note`: a line for the ledger, or null. */
type LostHook = { readonly kind: 'over'; readonly note: string | null } | { readonly kind: 'running' };

/** `on_error` of an attempt whose runner is gone, or never began. */
export async function hookOfLost(
  context: RunContext,
  of: Pick<HookRequest, 'task' | 'attempt' | 'token' | 'isElsewhere' | 'isUnregistered'>,
  reason: string,
): Promise<LostHook> {
  const attempt = await context.board.get('attempt', of.attempt);
  const session = attempt && (await context.board.get('session', attempt.session));
  // Without the settings of its agent it is not known whether there are hooks.
  const agent = session && agentNamed(context, session.agent);
  if (agent === undefined) return { kind: 'over', note: null };
  const outcome = { kind: 'crashed', reason, exitCode: null } as const;
  const ran = await runHook(context, { ...of, hook: 'on_error', agent, outcome, leavesNothing: true });
  switch (ran.kind) {
    case 'running':
      return ran;
    case 'none':
      return { kind: 'over', note: null };
    case 'cut_off':
      return { kind: 'over', note: ran.note };
    case 'ran':
      return { kind: 'over', note: ran.problem };
    default:
      throw new Error(`A hook cannot be ${String(ran satisfies never)}`);
  }
}
