/**
 * The life of one attempt, as its runner lives it.
 *
 *   tell the board who we are → keep the lease → prepare the workspace → save what a predecessor left → write the context
 *   → ( a turn of the agent → nothing of it is left running → the gate )*  → end, in one transaction
 *
 * The gate decides after every turn whether the agent may stop; if not, it hears why and has another turn. A lost lease ends
 * everything at once: the agent is stopped, and nothing is written any more. Whatever throws is a crash of the attempt.
 */

import { decided } from '../../kernel/decision.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { decideHandback } from '../../tasks/rules/outcomes.ts';
import type { Orders } from '../ports/runners.ts';
import type { RunningTurn, StopAnswer } from '../ports/runtime.ts';
import { afterTurn } from './after-turn.ts';
import {
  type MidwayHandback,
  handbackPrompt,
  handoffPrompt,
  loadBriefing,
  writeContext,
} from './agent-context.ts';
import type { AttemptContext } from './context.ts';
import { type Ending, endAttemptWith } from './end.ts';
import { type PreparedWorkspace, asNode, environmentOf, runHook, watchMainCheckout } from './surroundings.ts';
import { change } from '../../board/context.ts';
import { type GateLook, lookAtGate } from './finish.ts';
import { Hearing } from './hear-turn.ts';
import { type LeaseKeeper, keepLease } from './keep-lease.ts';
import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import { type Prepared, prepareWorkspace } from '../../workspaces/act/prepare.ts';
import { type Crash, endAttempt, recordCrash } from '../act/recover.ts';
import { terminalName } from '../../workspaces/rules/naming.ts';
import { pushFinished } from './push-finished.ts';
import { reportFolder } from '../act/report.ts';
import { rescueFirst } from '../../workspaces/discard/rescue-first.ts';
import { settleWorktree } from './settle-worktree.ts';
import { syncTask } from '../../workspaces/act/sync.ts';
import { type Watched, watchTurn } from './watch-turn.ts';

export type AttemptEnd =
  | { readonly end: 'lost' }
  | { readonly end: 'crashed'; readonly reason: string }
  | { readonly end: Ending['to'] };

export async function runAttempt(context: AttemptContext, orders: Orders): Promise<AttemptEnd> {
  if (!(await tellWhoWeAre(context, orders))) return { end: 'lost' };
  const kept = await keepLease(context, orders.task, orders.token);
  // Being told to go is like having lost the task: nothing is decided any more, and the loop sees who is gone.
  const lease = { ...kept, lost: AbortSignal.any([kept.lost, context.stop]) };
  try {
    return await work(context, orders, lease);
  } catch (error) {
    context.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    if (lease.lost.aborted) return { end: 'lost' };
    const reason = error instanceof Error ? error.message : String(error);
    return await crash(context, orders, { reason, because: 'crashed', exitCode: null });
  } finally {
    await kept.stop();
  }
}

async function tellWhoWeAre(context: AttemptContext, { attempt, task }: Orders): Promise<boolean> {
  const self = await context.occupancy.identify(context.pid);
  if (self === undefined) throw new Error('A runner could not find itself among the processes');
  const told = await change(context, async (change) => {
    await change.requireMine(task);
    await change.apply(decided({ type: 'attempt.process_known', id: attempt, at: change.at, ...self }));
  });
  if (!told.ok) context.log(told.refusal.reason);
  return told.ok;
}

async function work(context: AttemptContext, orders: Orders, lease: LeaseKeeper): Promise<AttemptEnd> {
  const { board, reports } = context;
  const task = await board.get('task', orders.task);
  if (task === undefined) return { end: 'lost' };
  await endEarlier(context, orders);
  const prepared = await prepare(context, orders, task, lease);
  if (prepared === 'lost') return { end: 'lost' };
  if (prepared.kind !== 'prepared') return notPrepared(context, orders, prepared);
  const worktree = prepared.branch === null && prepared.base === null ? null : prepared.path;
  if (worktree !== null) {
    await rescueFirst(context, { task: task.id, worktree, why: 'retry', at: context.clock.now() });
    await settleWorktree(context, task.id, worktree);
  }
  reports.clear(reportFolder(context, task.id, worktree));
  await watchMainCheckout(context, orders, 'begin');
  return takeTurns(context, orders, lease, task, prepared, worktree);
}

/**
 * Another node may have given up an attempt whose runner here was only asleep, and whoever stopped one may have been killed
 * before it was gone. None of them works beside this one.
 */
async function endEarlier(context: AttemptContext, { task, attempt }: Orders): Promise<void> {
  const { board, node, occupancy, runners } = context;
  for (const { id, node: where, process } of await board.list('attempt', { task })) {
    if (id === attempt || where !== node) continue;
    const isAlive = process !== null && (await occupancy.isAlive(process));
    if (!isAlive && (await runners.processesOf(id)).length === 0) continue;
    const remaining = await endAttempt(context, task, id);
    if (remaining > 0) throw new Error(`${remaining} processes of an earlier attempt cannot be ended`);
  }
}

/** Somebody may be removing or preparing the same worktree right now; that passes. */
async function prepare(
  context: AttemptContext,
  { agent, session, token }: Orders,
  task: Task,
  { lost }: LeaseKeeper,
): Promise<Prepared | 'lost'> {
  const until = context.clock.elapsedMs() + context.policy.session.workspaceBusyMs;
  for (;;) {
    const prepared = await prepareWorkspace(asNode(context), { task, agent, session, token });
    if (lost.aborted) return 'lost';
    const isBusy = prepared.kind !== 'prepared' && prepared.because === 'busy';
    if (!isBusy || context.clock.elapsedMs() >= until) return prepared;
    await context.clock.sleep(context.policy.session.workspaceBusyLookMs, lost);
  }
}

async function notPrepared(
  context: AttemptContext,
  orders: Orders,
  { because, reason }: Extract<Prepared, { kind: 'refused' }>,
): Promise<AttemptEnd> {
  context.log(reason);
  if (WAITS.has(because)) {
    const until = (context.clock.now() + context.policy.session.takenDelayMs) as Timestamp;
    return end(context, orders, { to: 'parked', until, because: 'taken' }, null);
  }
  return crash(context, orders, { reason, because: 'crashed', exitCode: null });
}

/** What somebody else has now and will give back. */
const WAITS: ReadonlySet<string> = new Set(['taken', 'busy', 'occupied', 'no_ports']);

async function takeTurns(
  context: AttemptContext,
  orders: Orders,
  lease: LeaseKeeper,
  task: Task,
  prepared: PreparedWorkspace,
  worktree: string | null,
): Promise<AttemptEnd> {
  const { clock, agent, reports, runtime } = context;
  const reported = reportFolder(context, task.id, worktree);
  const environment = environmentOf(context, orders, task, prepared);
  // Anew for every turn: what is committed and what is not has changed meanwhile.
  const brief = async (handback?: MidwayHandback) => {
    const briefing = await loadBriefing(context, orders, prepared, rulesOf(agent, task));
    return writeContext(context, { ...briefing, ...(handback && { handback }) }, worktree);
  };
  let written = await brief();
  await runHook(context, orders, 'before_run', prepared.path, environment);
  const startedMs = clock.elapsedMs();
  const hearing = await Hearing.open(context, orders);
  let isHandingOver = false;
  let { prompt } = written;
  for (let number = 1; ; number += 1) {
    if (lease.lost.aborted) return { end: 'lost' };
    const gate = () => askGate(context, orders, prepared, worktree, environment);
    const over = new AbortController();
    const turn = await runtime.start({
      task: task.id,
      session: orders.session,
      attempt: orders.attempt,
      number,
      folder: prepared.path,
      environment,
      prompt,
      promptFile: written.promptFile,
      systemPrompt: written.systemPrompt,
      conversation: hearing.conversation,
      used: hearing.used,
      log: `${context.home}/.copse/logs/${task.id}/${orders.attempt}.log`,
      terminal: agent.terminal === 'tmux' ? terminalName(task.id) : null,
      on: hearing.on,
      beforeStop: () => (isHandingOver ? Promise.resolve({ may: true }) : beforeStop(context, orders, gate)),
      mayUse: (permission) => hearing.mayUse(permission, over.signal),
    });
    const limitMs =
      agent.limits.time === undefined ? null : agent.limits.time - (clock.elapsedMs() - startedMs);
    const watched = await watchTurn(context, orders, turn, {
      lost: lease.lost,
      limitMs,
      hearing: isHandingOver ? null : hearing,
      reported,
    });
    over.abort();
    await endLeftovers(context, orders, turn);
    await hearing.settled();
    if (worktree !== null) await settleWorktree(context, task.id, worktree);
    await watchMainCheckout(context, orders, 'end');
    if (watched.end === 'lost' || lease.lost.aborted) return { end: 'lost' };
    // However that went: the one who goes on has the worktree, the ledger and a fresh context.
    if (isHandingOver && watched.end !== 'timed_out') return handOver(context, orders, watched);
    const answer = afterTurn(context, watched, reports.read(reported));
    if (answer.next === 'crash') {
      await runHook(context, orders, 'on_error', prepared.path, environment);
      return crash(context, orders, answer.crash);
    }
    if (answer.next === 'end') return end(context, orders, answer.ending, answer.exitCode);
    if (answer.next === 'handoff') {
      context.log('Its context is nearly full: it is asked to hand over');
      isHandingOver = true;
      prompt = handoffPrompt();
      continue;
    }

    const look = await gate();
    if (lease.lost.aborted) return { end: 'lost' };
    if (look.verdict.gate === 'open') {
      await runHook(context, orders, 'after_run', prepared.path, environment);
      for (const note of look.verdict.notes) context.log(note);
      return end(context, orders, await finished(context, orders, look), answer.exitCode);
    }
    const { because, reason, isFinal } = look.verdict;
    if (isFinal || !(await handBack(context, orders, look.verdict)))
      return end(context, orders, { to: 'needs_attention', because, reason }, answer.exitCode);
    context.log(`Handed back: ${reason}`);
    reports.clear(reported);
    const isMerged = because === 'conflict' && (await mergeFor(context, orders));
    prompt = handbackPrompt(because, reason, isMerged);
    written = await brief({ because, reason });
  }
}

async function finished(context: AttemptContext, { task }: Orders, gate: GateLook): Promise<Ending> {
  const { landing, workspace: settings } = context.agent;
  const { policy } = landing;
  const pushed = await pushFinished(context, task, gate, { policy, settings });
  if (!pushed.goesOn) return { to: 'needs_attention', because: 'push', reason: pushed.reason };
  if (pushed.note !== null) context.log(pushed.note);
  return { to: 'finished', gate, policy, push: pushed.push };
}

function rulesOf({ finish }: AttemptContext['agent'], task: Task): Parameters<typeof loadBriefing>[3] {
  return { accept: [...task.accept, ...finish.accept], commitConvention: finish.commit_convention };
}

async function askGate(
  context: AttemptContext,
  orders: Orders,
  prepared: PreparedWorkspace,
  worktree: string | null,
  environment: Readonly<Record<string, string>>,
): Promise<GateLook> {
  const task = await context.board.get('task', orders.task);
  if (task === undefined) throw new Error(`${orders.task} is no longer on the board`);
  const seen = context.reports.read(reportFolder(context, task.id, worktree));
  const report = seen !== undefined && 'report' in seen ? seen.report : undefined;
  const baseBranch = prepared.workspace.worktree?.baseBranch;
  return lookAtGate(context, {
    task,
    worktree: worktree === null || baseBranch === undefined ? null : { path: worktree, baseBranch },
    agent: committing(context),
    saysNoChanges: report?.noChanges ?? false,
    summary: report?.summary ?? null,
    environment,
  });
}

/** A program that cannot commit would be asked for it in vain. */
function committing({ agent, runtime }: AttemptContext): AttemptContext['agent'] {
  const { finish } = agent;
  if (runtime.capabilities.commits) return agent;
  return { ...agent, finish: { ...finish, on_dirty: 'commit' } };
}

/** For programs that ask before they stop. */
async function beforeStop(
  context: AttemptContext,
  orders: Orders,
  gate: () => Promise<GateLook>,
): Promise<StopAnswer> {
  const { verdict } = await gate();
  if (verdict.gate === 'open' || verdict.isFinal) return { may: true };
  return (await handBack(context, orders, verdict)) ? { may: false, because: verdict.reason } : { may: true };
}

/** False when it was handed back as often as may be. */
async function handBack(
  context: AttemptContext,
  { task: id, token }: Orders,
  { because, reason }: Extract<GateLook['verdict'], { gate: 'shut' }>,
): Promise<boolean> {
  const outcome = await change(context, async (change) => {
    const task = await change.require('task', id);
    const decision = decideHandback(
      task,
      { from: 'gate', token },
      { because, reason },
      change.at,
      context.policy,
    );
    const mayGoOn = decision.decided && decision.events.every(({ type }) => type === 'task.handed_back');
    if (mayGoOn || !decision.decided) await change.apply(decision);
    return mayGoOn;
  });
  if (!outcome.ok) throw new Error(outcome.refusal.reason);
  return outcome.value;
}

/** An agent that cannot commit cannot merge either: it gets the files with both sides in them. */
async function mergeFor(context: AttemptContext, { task }: Orders): Promise<boolean> {
  if (context.runtime.capabilities.commits) return false;
  const brought = await syncTask(context, { task, leaveConflict: true });
  if (brought.kind !== 'refused' || brought.because === 'in_progress') return true;
  context.log(`The target was not merged: ${brought.reason}`);
  return false;
}

/** A program may leave others behind that were to outlive it; none does. */
async function endLeftovers(context: AttemptContext, { attempt }: Orders, turn: RunningTurn): Promise<void> {
  const { runners, occupancy, policy, pid } = context;
  const graceMs = policy.session.stopGraceMs;
  const left = (await runners.processesOf(attempt)).filter((one) => one.pid !== pid);
  if (left.length > 0) {
    context.log(`Ending ${left.length} processes that the agent left behind`);
    await occupancy.end(left, { graceMs });
  }
  await turn.ended;
}

/** Whoever goes on begins with an empty context in the same worktree, and reads in the ledger what this one leaves. */
async function handOver(context: AttemptContext, orders: Orders, watched: Watched): Promise<AttemptEnd> {
  const { board, clock } = context;
  const attempt = await board.get('attempt', orders.attempt);
  const entries = await board.list('ledger', { task: orders.task });
  const hasWritten = entries.some(({ kind, at }) => kind === 'handoff' && at >= (attempt?.startedAt ?? 0));
  const lastWords =
    watched.end === 'ended' && watched.outcome.outcome === 'completed'
      ? watched.outcome.lastWords
      : undefined;
  if (!hasWritten && lastWords?.trim()) {
    const added = await addLedgerEntry(context, orders.task, { kind: 'handoff', text: lastWords });
    if (!added.ok) context.log(added.refusal.reason);
  }
  return end(context, orders, { to: 'parked', until: clock.now(), because: 'handoff' }, null);
}

async function end(
  context: AttemptContext,
  orders: Orders,
  ending: Ending,
  exitCode: number | null,
): Promise<AttemptEnd> {
  const outcome = await endAttemptWith(context, orders, ending, exitCode);
  if (outcome.ok) return { end: ending.to };
  context.log(outcome.refusal.reason);
  return { end: 'lost' };
}

async function crash(
  context: AttemptContext,
  { task, attempt, token }: Orders,
  of: Pick<Crash, 'reason' | 'because' | 'exitCode'>,
): Promise<AttemptEnd> {
  context.log(`Crashed: ${of.reason}`);
  const outcome = await recordCrash(context, { task, attempt, token, ...of });
  if (outcome.ok) return { end: 'crashed', reason: of.reason };
  context.log(outcome.refusal.reason);
  return { end: 'lost' };
}
