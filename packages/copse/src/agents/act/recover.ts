/**
 * After a crash, seen by the runner whose agent failed or by an orchestrator that finds a runner gone:
 *
 *   end the remaining processes → push a snapshot for other machines → the hook on_error → bring the objects of a sandbox
 *   → rescue → one transaction: ledger, task, session, attempt
 *
 * Every write carries the token of the crashed attempt, so a crash that is seen late or twice changes nothing. `decideCrash` in
 * tasks/rules/outcomes.ts decides when the task is retried (the backoff).
 */

import type { Attempt } from '../../tasks/rules/attempt.ts';
import { type Refused, decided, refused } from '../../kernel/decision.ts';
import {
  type AttemptId,
  type FencingToken,
  type LedgerEntryId,
  type TaskId,
  brand,
  drawId,
  timestamp,
} from '../../kernel/ids.ts';
import { terminalName } from '../../workspaces/rules/naming.ts';
import type { Recovery } from '../../orchestrator/rules/reconcile.ts';
import { decideSession } from '../rules/session/session.ts';
import type { TaskStatus } from '../../tasks/rules/task.ts';
import { afterLostMachine, decideCrash, decideGiveUp, decidePark } from '../../tasks/rules/outcomes.ts';
import { type NamedProcess, processList } from '../../kernel/process.ts';
import { listed } from '../../kernel/text.ts';
import { Unavailable, isBeyondLimits } from '../../kernel/unavailable.ts';
import { type Outcome, change } from '../../board/context.ts';
import { rescueFirst } from '../../workspaces/discard/rescue-first.ts';
import type { RunContext } from '../../queue/context.ts';
import type { StoppedRunner } from '../ports/runners.ts';
import type { StoreId } from '../../git/port.ts';
import { closeStore } from './close-store.ts';
import { hookOfLost, isRecovering } from './hooks.ts';
import { sentence } from '../../explain/rules/status.ts';
import { shareLeft } from './share/share-left.ts';
import { leaveCheckout, lookAtLeft } from '../../workspaces/act/checkout/prepare-elsewhere.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { whereText } from '../../workspaces/act/shared/elsewhere.ts';

export interface Crash {
  readonly task: TaskId;
  readonly attempt: AttemptId;
  readonly token: FencingToken;
  readonly reason: string;
  readonly because: 'crashed' | 'timed_out' | 'over_budget' | 'paused';
  readonly exitCode: number | null;
  /** Not the fault of the attempt: the task goes back without using up a retry. */
  readonly parkedAs?: StoppedRunner['because'] | 'drained' | 'moved';
  /** It ran on a machine that is lost. */
  readonly isElsewhere?: boolean;
  /** Why its last changes are not on the remote. */
  readonly notShared?: string | null;
  /** What became of the hook on_error, if that is worth a line. */
  readonly hookNote?: string | null;
  /** The runner's process before it was ended; null: not recorded. One that is recorded since then was late, and lives. */
  readonly runner?: Attempt['process'];
}

/** For an orchestrator that finds a runner gone or its lease stale. */
export async function recover(
  context: RunContext,
  { task, token, attempt, where, reason: why }: Recovery,
): Promise<Outcome<TaskStatus>> {
  // Ending the processes of the attempt would end its hook.
  if (where === 'here' && (await isRecovering(context, attempt))) return refuseHooked(task);
  const runner = where === 'here' ? await runnerOf(context, attempt) : undefined;
  // It ended before it could tell the board why.
  const words = runner === null ? await context.runners.lastWordsOf(task, attempt) : undefined;
  const reason = words === undefined ? why : `${why}; its log ends with: ${words}`;
  const stopped = where === 'here' ? await context.runners.stoppedOf(attempt) : undefined;
  let notShared: string | null = null;
  if (where === 'here') {
    const remaining = await endProcesses(context, task, attempt);
    if (remaining.length > 0) return refuseUnended(context, task, `crashed (${reason})`, remaining);
    notShared = await shareLeft(context, { task, attempt, token });
  }
  const seen = { notShared, ...(runner !== undefined && { runner }) };
  const of = { task, token, attempt, exitCode: null, isElsewhere: where === 'elsewhere', ...seen } as const;
  const lost = { task, token, attempt, isElsewhere: where === 'elsewhere', isUnregistered: runner === null };
  const hooked =
    stopped === undefined ? await hookOfLost(context, lost, reason) : ({ kind: 'over', note: null } as const);
  if (hooked.kind === 'running') return refuseHooked(task);
  const crash: Crash =
    stopped === undefined
      ? { ...of, reason, because: 'crashed', hookNote: hooked.note }
      : { ...of, ...stopped, because: 'paused', parkedAs: stopped.because };
  const recorded = await recordCrash(context, crash);
  // Only now: if this is interrupted, the next orchestrator still reads why the runner stopped.
  const isLate = recorded.kind === 'refused' && recorded.refusal.code === 'too_early';
  if (where === 'here' && !isLate) await context.runners.forget(attempt);
  return recorded;
}

/**
 * Ends a healthy attempt so that another node goes on with its task: the work is saved, the task becomes ready, and no retry
 * is used up. The claim is held until the work is saved.
 */
export async function handOver(
  context: RunContext,
  { task, token, attempt }: Pick<Recovery, 'task' | 'token' | 'attempt'>,
  { because, reason }: { readonly because: 'drained' | 'moved'; readonly reason: string },
): Promise<Outcome<TaskStatus>> {
  const remaining = await endProcesses(context, task, attempt);
  if (remaining.length > 0) return refuseUnended(context, task, `was stopped (${reason})`, remaining);
  const notShared = await shareLeft(context, { task, attempt, token });
  const of = { task, token, attempt, exitCode: null, notShared } as const;
  const recorded = await recordCrash(context, { ...of, reason, because: 'paused', parkedAs: because });
  await context.runners.forget(attempt);
  return recorded;
}

function refuseHooked(task: TaskId): Refused {
  return refused('too_early', `Another process runs a hook of ${task}.`, `copse why ${task}`);
}

async function refuseUnended(
  context: RunContext,
  task: TaskId,
  what: string,
  remaining: readonly NamedProcess[],
): Promise<Refused> {
  const left = `and is not retried before these processes end: ${processList(remaining)}`;
  await noteOnce(context, task, `The attempt ${what} ${left}. Copse cannot end them.`);
  return refused('wrong_status', `${task} ${what} ${left}.`, `copse why ${task}`);
}

async function runnerOf({ board }: RunContext, attempt: AttemptId): Promise<Attempt['process']> {
  return (await board.get('attempt', attempt))?.process ?? null;
}

/** The orchestrator tries again and again: the ledger has each reason once. */
async function noteOnce(context: RunContext, task: TaskId, text: string): Promise<void> {
  const [before] = (await context.board.list('ledger', { task }))
    .filter(({ kind }) => kind === 'crash')
    .slice(-1);
  if (before?.text === text) return;
  await change(context, async (change) => {
    const { session } = await change.require('task', task);
    const id = brand<LedgerEntryId>(drawId('le-', context.random));
    await change.apply(
      decided({ type: 'ledger.added', id, task, session, kind: 'crash', text, at: change.at }),
    );
  });
}

/** Ends the runner and all processes of the attempt, and removes its files. Returns those that could not be ended. */
export async function endAttempt(
  context: RunContext,
  task: TaskId,
  attempt: AttemptId,
): Promise<readonly NamedProcess[]> {
  const left = await endProcesses(context, task, attempt);
  if (left.length === 0) await context.runners.forget(attempt);
  return left;
}

async function endProcesses(
  context: RunContext,
  task: TaskId,
  attempt: AttemptId,
): Promise<readonly NamedProcess[]> {
  const { occupancy, runners, board, policy } = context;
  const record = await board.get('attempt', attempt);
  const known = await runners.processesOf(attempt);
  const runner = record?.process ?? (await runners.runnerOf(attempt));
  await occupancy.killTmuxSession(terminalName(task));
  const graceMs = policy.session.stopGraceMs;
  const { remaining } = await occupancy.end([...(runner ? [runner] : []), ...known], { graceMs });
  // Processes that were started while the others were being ended.
  const tried = new Set([...known, ...remaining].map(({ pid }) => pid));
  const late = (await runners.processesOf(attempt)).filter(({ pid }) => !tried.has(pid));
  const second = late.length === 0 ? undefined : await occupancy.end(late, { graceMs });
  const left = [...remaining, ...(second?.remaining ?? [])];
  if (left.length > 0) await runners.remember(attempt, left);
  return left;
}

/**
 * Ends the processes of an attempt that is over, when its cleanup was interrupted. Another attempt may hold the task by now, so
 * only processes with this attempt's mark are ended.
 */
export async function endLeftBehind(
  context: RunContext,
  attempt: AttemptId,
): Promise<readonly NamedProcess[]> {
  const { board, occupancy, runners, policy } = context;
  const left = await runners.processesOf(attempt);
  const { remaining } =
    left.length === 0
      ? { remaining: [] }
      : await occupancy.end(left, { graceMs: policy.session.stopGraceMs });
  if (remaining.length > 0) {
    await runners.remember(attempt, remaining);
    return remaining;
  }
  const task = (await board.get('attempt', attempt))?.task;
  // What cannot be brought is reported when the task is looked at.
  if (task !== undefined)
    await context.git.stores.close({ task, attempt }).catch((error: unknown) => {
      if (!isBeyondLimits(error)) throw error;
    });
  await runners.forget(attempt);
  return [];
}

/** No time by the clock of this machine: the next attempt may be on a machine whose clock is behind. */
const AT_ONCE = timestamp(0);

export async function recordCrash(context: RunContext, crash: Crash): Promise<Outcome<TaskStatus>> {
  const { task: id, token, attempt } = crash;
  const rescue = await rescueIfReadable(context, { task: id, attempt });
  const left = await lookAtLeft(context, id);
  return change(context, async (change) => {
    const task = await change.require('task', id);
    if (crash.runner === null && (await change.board.get('attempt', attempt))?.process)
      change.refuse(refused('too_early', `The runner of ${id} started meanwhile.`, `copse show ${id}`));
    if ('unreadable' in rescue) {
      const cause = { because: 'unreadable', reason: rescue.unreadable } as const;
      await change.apply(decideGiveUp(task, { token }, cause, change.at));
      await keepWorkspace(change, { task: id, node: context.node }, cause);
    } else if (crash.parkedAs !== undefined)
      await change.apply(decidePark(task, token, { until: AT_ONCE, because: crash.parkedAs }, change.at));
    else {
      const { retry } = context.policy;
      const policy = crash.isElsewhere ? afterLostMachine(retry) : retry;
      await change.apply(decideCrash(task, token, crash.reason, change.at, policy));
    }
    await leaveCheckout(change, { task: id, node: context.node, left });
    const session = task.session === null ? undefined : await change.board.get('session', task.session);
    if (session?.state.life === 'live') {
      await change.apply(decideSession(session, { action: 'interrupt', because: crash.because }, change.at));
    }
    const { because: reason, exitCode } = crash;
    await change.apply(decided({ type: 'attempt.ended', id: attempt, at: change.at, reason, exitCode }));
    const entry = {
      id: brand<LedgerEntryId>(drawId('le-', context.random)),
      task: id,
      session: task.session,
      kind: 'crash',
      text: crashText(crash, rescue),
      at: change.at,
    } as const;
    await change.apply(decided({ type: 'ledger.added', ...entry }));
    return (await change.require('task', id)).state.status;
  });
}

interface Rescued {
  readonly ref: string | null;
  /** What is known instead, if its worktree is not here. */
  readonly known?: string;
  /** Null when they cannot be listed. */
  readonly uncommitted: readonly string[] | null;
  /** How many commits its branch has, if that is known. */
  readonly ownCommits?: number;
  /** Why they are not saved. */
  readonly problem?: string;
}

/** Work that cannot be read is not tried again: the next attempt would change it. */
async function rescueIfReadable(
  context: RunContext,
  of: StoreId,
): Promise<Rescued | (Rescued & { readonly unreadable: string })> {
  try {
    await closeStore(context, of);
    return await rescueWork(context, of.task);
  } catch (error) {
    if (!isBeyondLimits(error)) throw error;
    return { ref: null, uncommitted: null, unreadable: error.message };
  }
}

async function rescueWork(context: RunContext, task: TaskId): Promise<Rescued> {
  const { git, clock } = context;
  const worktree = (await workspaceOf(context, task))?.worktree;
  if (!worktree) return { ref: null, uncommitted: null, known: await whereText(context, task, clock.now()) };
  const facts = await git.look(worktree.path);
  if (facts.state !== 'healthy') return { ref: null, uncommitted: null, known: UNUSABLE };
  const { changed, untracked } = await git.uncommitted(worktree.path);
  const request = { task, worktree: worktree.path, why: 'retry', at: clock.now() } as const;
  const uncommitted = [...changed, ...untracked];
  try {
    const ref = await rescueFirst(context, request);
    return { ref, uncommitted, ownCommits: await git.countCommits(worktree.baseCommit, facts.head) };
  } catch (error) {
    // Recording a crash changes no file. The next attempt does not start before its files are saved.
    if (isBeyondLimits(error)) throw error;
    if (!(error instanceof Unavailable)) throw error;
    return { ref: null, uncommitted, problem: error.message };
  }
}

const UNUSABLE = 'Its worktree is gone or unusable, so nothing is known about uncommitted files.';

function crashText({ reason, parkedAs, notShared = null, hookNote = null }: Crash, rescued: Rescued): string {
  const { ref, uncommitted, problem, known, ownCommits } = rescued;
  const lines =
    known !== undefined
      ? [known]
      : uncommitted === null
        ? ['Its worktree cannot be read; nothing in it was changed.']
        : uncommitted.length === 0
          ? [ownCommits === 0 ? 'Its worktree has no changes.' : 'All changes were committed.']
          : ['Uncommitted files, still in the worktree:', listed(uncommitted)];
  const [first, ...output] = reason.split('\n');
  const said = output.length === 0 ? [] : ['Its last output:', ...output.map((line) => `  ${line}`)];
  const saved = ref === null ? (problem === undefined ? [] : [problem]) : [`Saved as ${ref}.`];
  return [
    `The attempt ${parkedAs === undefined ? 'crashed' : 'was stopped'}: ${first}${first?.endsWith('.') ? '' : '.'}`,
    ...said,
    ...lines,
    ...saved,
    ...(hookNote === null ? [] : [sentence(hookNote)]),
    ...(notShared === null ? [] : [`Its last changes are not on the remote: ${notShared}`]),
  ].join('\n');
}
