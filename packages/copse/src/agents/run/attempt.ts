/**
 * One attempt, as its runner runs it. Modes and transitions:
 *
 *   identifying   record our process on the board, then keep the lease                     → preparing
 *   preparing     end earlier attempts, prepare the workspace, rescue, write the context   → working
 *                   it cannot succeed before a person changes something                    → ended (stuck)
 *   working       one turn of the agent, then end the processes that it left behind, and wait for those that the runner
 *                 started for it: an end is recorded only when the runner has none in the worktree; then bring the
 *                 objects that the agent wrote
 *                   it stopped or reported finished                                        → at the gate
 *                   its context is nearly full                                             → handing over
 *                   stuck, rate limited or over budget                                     → ended
 *                   its program failed or exceeded limits.time                             → crashed
 *   at the gate   passed                                                                   → ended (finished)
 *                   refused: the reason is the next prompt                                 → working
 *                   refused for good, or too often                                         → ended (needs_attention)
 *                   refused, and its settings fail it                                      → ended (failed)
 *   handing over  one last turn, in which the agent writes a handoff entry                 → ended (parked)
 *   ended         the hook on_error unless it finished, end the services, then task, session and attempt in one transaction (end.ts)
 *   crashed       the hook on_error, rescue, then the same in one transaction (act/recover.ts)
 *
 * Processes that set-up and `before_run` leave running, a database for example, are services of the attempt: they serve all
 * turns and accept commands, and end before the end of the attempt is recorded.
 *
 * From every mode: a lost lease, or a runner that is told to stop, ends the agent and writes nothing more (`lost`). So does a
 * board that a newer Copse migrated (`outdated`), or that is away for too long (`cut_off`): the runner leaves a note, with
 * which the next orchestrator uses up no retry. A shorter outage is waited for (board/patient.ts). An exception is a crash of
 * the attempt, unless it says that a program or a sandbox is missing (`stuck`), or that the worktree or branch is beyond what
 * Copse reads (`needs_attention`).
 */

import { decided } from '../../kernel/decision.ts';
import { type ProcessIdentity, processList } from '../../kernel/process.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Orders } from '../ports/runners.ts';
import { type RunningTurn, RuntimeUnavailable } from '../ports/runtime.ts';
import {
  type MidwayHandback,
  type WrittenContext,
  handbackPrompt,
  handoffPrompt,
  loadBriefing,
  writeContext,
} from './briefing/agent-context.ts';
import { answerCommands } from './answer-commands.ts';
import type { AttemptContext } from './context.ts';
import { type AttemptEnding, endAttemptWith } from './end.ts';
import type { GateLook } from './finish.ts';
import { keepBringing } from './bring-objects.ts';
import { GateAsks, askGate, handBack, mergeFor } from './handback.ts';
import { CutOff, type LeaseKeeper, keepLease } from './keep-lease.ts';
import { prepareAttempt, settleWorktree } from './prepare.ts';
import { pushFinished } from './share/push-finished.ts';
import { SessionRecorder } from './session-recorder.ts';
import { openTravel } from './share/travel.ts';
import { type RunningAttempt, attemptEnvironment, watchMainCheckout } from './surroundings.ts';
import {
  type HookedAttempt,
  outcomeOf,
  outcomeOfCrash,
  runAfter,
  runBefore,
  runOnError,
} from './attempt-hooks.ts';
import { type TurnEnd, decideAfterTurn, watchTurn } from './turn.ts';
import { change } from '../../board/context.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { counted } from '../../kernel/text.ts';
import { excerpt } from '../rules/briefing/briefing.ts';
import { BoardTooNew, BoardUnavailable } from '../../board/port.ts';
import { Unavailable, isBeyondLimits } from '../../kernel/unavailable.ts';
import { NotConfined, ProgramMissing } from '../../processes/ports/programs.ts';
import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import { closeStore } from '../act/close-store.ts';
import { type Crash, recordCrash } from '../act/recover.ts';
import { reportFolder } from '../act/report.ts';
import { terminalName } from '../../workspaces/rules/naming.ts';

export type AttemptEnd =
  | { readonly kind: 'lost' }
  /** The board is of a newer Copse, and cannot be told. */
  | { readonly kind: 'outdated'; readonly reason: string }
  /** The board was away for longer than the lease and its grace: the agent was stopped, and its work is in the worktree. */
  | { readonly kind: 'cut_off'; readonly reason: string }
  | { readonly kind: 'crashed'; readonly reason: string }
  | { readonly kind: AttemptEnding['kind'] };

/** The next turn of the agent. */
interface NextTurn {
  readonly mode: 'working' | 'handing_over';
  readonly number: number;
  readonly prompt: string;
  readonly written: WrittenContext;
}

export async function runAttempt(context: AttemptContext, orders: Orders): Promise<AttemptEnd> {
  if (!(await recordProcess(context, orders))) return { kind: 'lost' };
  const kept = await keepLease(context, orders.task, orders.token);
  // What still waits for the board would keep the agent from being stopped.
  kept.lost.addEventListener('abort', () => kept.lost.reason instanceof CutOff && context.onCutOff(), {
    once: true,
  });
  // A runner that is told to stop decides nothing more, as if the lease were lost; the orchestrator sees that it is gone.
  const lease = { ...kept, lost: AbortSignal.any([kept.lost, context.stop]) };
  const known: { attempt: HookedAttempt } = { attempt: { context, orders } };
  try {
    const ended = await work(context, orders, lease, known);
    return ended.kind === 'lost' ? lostBy(lease) : ended;
  } catch (error) {
    context.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    if (error instanceof BoardTooNew) return { kind: 'outdated', reason: error.message };
    if (lease.lost.aborted) return lostBy(lease);
    // Trying again would read the same.
    if (isBeyondLimits(error))
      return await end(
        known.attempt,
        { kind: 'needs_attention', because: 'unreadable', reason: error.message },
        null,
      );
    const reason = error instanceof Error ? error.message : String(error);
    if (isPermanent(error)) return await end(known.attempt, { kind: 'stuck', reason, isByCopse: true }, null);
    return await crash(known.attempt, { reason, because: 'crashed', exitCode: null });
  } finally {
    await kept.stop();
  }
}

function lostBy({ lost }: LeaseKeeper): AttemptEnd {
  const reason: unknown = lost.reason;
  if (reason instanceof CutOff) return { kind: 'cut_off', reason: reason.message };
  return reason instanceof BoardTooNew ? { kind: 'outdated', reason: reason.message } : { kind: 'lost' };
}

/** A retry would fail in the same way, until a person installs a program or changes a setting. An unreachable board passes. */
function isPermanent(error: unknown): boolean {
  if (error instanceof BoardUnavailable || (error instanceof Unavailable && error.mayPass)) return false;
  return [RuntimeUnavailable, ProgramMissing, NotConfined, Unavailable].some((kind) => error instanceof kind);
}

/** False when the task is no longer ours. */
async function recordProcess(context: AttemptContext, { attempt, task }: Orders): Promise<boolean> {
  const self = await context.occupancy.identify(context.pid);
  if (self === undefined) throw new Error('A runner could not find itself among the processes');
  const recorded = await change(context, async (change) => {
    await change.requireMine(task);
    await change.apply(decided({ type: 'attempt.process_known', id: attempt, at: change.at, ...self }));
  });
  if (recorded.kind === 'refused') context.log(recorded.refusal.reason);
  return recorded.kind === 'done';
}

/** `known`: what its hooks need if it fails. */
async function work(
  context: AttemptContext,
  orders: Orders,
  lease: LeaseKeeper,
  known: { attempt: HookedAttempt },
): Promise<AttemptEnd> {
  const task = await context.board.get('task', orders.task);
  if (task === undefined) return { kind: 'lost' };
  const place = await prepareAttempt(context, orders, task, lease.lost);
  switch (place.kind) {
    case 'lost':
      return { kind: 'lost' };
    case 'busy':
      return end({ context, orders }, { kind: 'parked', until: place.until, because: 'taken' }, null);
    case 'impossible': {
      const { reason, lacks } = place;
      const stuck = { kind: 'stuck', reason, isByCopse: true, ...(lacks && { lacks }) } as const;
      return end({ context, orders }, stuck, null);
    }
    case 'failed':
      return crash({ context, orders }, { reason: place.reason, because: 'crashed', exitCode: null });
    case 'prepared': {
      await watchMainCheckout(context, orders, 'begin');
      const { workspace: prepared, worktree, imports } = place;
      const reported = reportFolder(context, task.id, worktree);
      const environment = attemptEnvironment(context, orders, task, prepared, reported);
      const of = {
        task,
        prepared,
        worktree,
        imports,
        environment,
        reported,
        warnings: [],
        services: [],
        unendable: [],
      };
      const attempt = { context, orders, lost: lease.lost, ...of };
      known.attempt = { context, orders, prepared, environment };
      const travel = await openTravel(attempt);
      try {
        travel?.start();
        const ended = await takeTurns({ ...attempt, travel });
        if (ended.kind === 'lost') await travel?.last();
        return ended;
      } finally {
        await travel?.stop();
        // Accept commands run in the sandbox too.
        await closeStore(context, orders).catch((error: unknown) => context.log(String(error)));
      }
    }
    default:
      throw new Error(`A workspace cannot be ${String(place satisfies never)}`);
  }
}

async function takeTurns(attempt: RunningAttempt): Promise<AttemptEnd> {
  const { context, orders, lost } = attempt;
  const first = await brief(attempt);
  await runBefore(attempt);
  attempt.services.push(...(await context.runners.processesOf(orders.attempt)));
  const startedMs = context.clock.elapsedMs();
  const recorder = await SessionRecorder.open(context, orders);
  let next: NextTurn = { mode: 'working', number: 1, prompt: first.prompt, written: first };
  for (;;) {
    if (lost.aborted) return { kind: 'lost' };
    const ended = await takeTurn(attempt, next, recorder, startedMs);
    if (ended.kind === 'lost' || lost.aborted) return { kind: 'lost' };
    // The successor has the worktree, the ledger and a fresh context, however the handover went.
    if (next.mode === 'handing_over' && ended.kind !== 'timed_out') return handOver(attempt, ended);
    const after = decideAfterTurn(context, ended, context.reports.read(attempt.reported));
    switch (after.kind) {
      case 'crashed':
        return crash(attempt, after.crash);
      case 'ended':
        return end(attempt, after.ending, after.exitCode);
      case 'context_full':
        context.log('Its context is nearly full: it is asked to hand over');
        next = {
          mode: 'handing_over',
          number: next.number + 1,
          prompt: handoffPrompt(),
          written: next.written,
        };
        break;
      case 'stopped': {
        const gate = await passGate(attempt, after.exitCode);
        if (gate.kind !== 'handed_back') return gate;
        const { prompt, written } = gate;
        next = { mode: 'working', number: next.number + 1, prompt, written };
        break;
      }
      default:
        throw new Error(`A turn cannot be followed by ${String(after satisfies never)}`);
    }
  }
}

/** Writes the context for every turn anew, because commits and files change from turn to turn. */
async function brief(attempt: RunningAttempt, handback?: MidwayHandback): Promise<WrittenContext> {
  const { context, orders, prepared, task, worktree, imports } = attempt;
  const loaded = await loadBriefing(context, orders, prepared, rulesOf(context.agent, task));
  const briefing = { ...loaded, imports };
  return writeContext(context, { ...briefing, ...(handback && { handback }) }, worktree);
}

function rulesOf({ finish }: AttemptContext['agent'], task: Task): Parameters<typeof loadBriefing>[3] {
  return { accept: [...task.accept, ...finish.accept], commitConvention: finish.commit_convention };
}

/** One turn, until the program, all processes that it started, and those that this runner started for it are gone. */
async function takeTurn(
  attempt: RunningAttempt,
  next: NextTurn,
  recorder: SessionRecorder,
  startedMs: number,
): Promise<TurnEnd> {
  const { context, orders, lost, prepared, worktree, reported } = attempt;
  const { agent, clock } = context;
  const over = new AbortController();
  const asks = new GateAsks(attempt);
  const commands = answerCommands(attempt);
  const bringing = keepBringing(attempt);
  try {
    const turn = await startTurn(attempt, next, { recorder, over: over.signal, asks });
    const { time } = agent.limits;
    const ended = await watchTurn(context, orders, turn, {
      lost,
      limitMs: time === undefined ? null : time - (clock.elapsedMs() - startedMs),
      recorder: next.mode === 'handing_over' ? null : recorder,
      reported,
    });
    over.abort();
    await endLeftovers(attempt, turn);
    await recorder.settled();
    await asks.settled();
    await commands.end();
    await bringing.stop();
    await closeStore(context, orders);
    if (worktree !== null) await settleWorktree(context, prepared.workspace);
    await watchMainCheckout(context, orders, 'end');
    if (!lost.aborted) await attempt.travel?.now(context.policy.workspace.fetchTimeoutMs);
    return ended;
  } finally {
    await commands.end();
    await bringing.stop();
  }
}

function startTurn(
  attempt: RunningAttempt,
  { mode, number, prompt, written }: NextTurn,
  {
    recorder,
    over,
    asks,
  }: { readonly recorder: SessionRecorder; readonly over: AbortSignal; readonly asks: GateAsks },
): Promise<RunningTurn> {
  const { context, orders, task, prepared, environment } = attempt;
  return context.runtime.start({
    task: task.id,
    session: orders.session,
    attempt: orders.attempt,
    number,
    folder: prepared.path,
    environment,
    prompt,
    promptFile: written.promptFile,
    systemPrompt: written.systemPrompt,
    conversation: recorder.conversation,
    used: recorder.used,
    log: `${context.home}/.copse/logs/${task.id}/${orders.attempt}.log`,
    terminal: context.agent.terminal === 'tmux' ? terminalName(task.id) : null,
    on: recorder.on,
    beforeStop: () => (mode === 'handing_over' ? Promise.resolve({ kind: 'allowed' }) : asks.beforeStop()),
    mayUse: (permission) => recorder.mayUse(permission, over),
  });
}

/** Ends processes that the agent's program started to outlive it; the services stay. */
async function endLeftovers(attempt: RunningAttempt, turn: RunningTurn): Promise<void> {
  await endProcesses(attempt, attempt.services);
  await turn.ended;
}

/** Those of the attempt, without this runner, what descends from `except`, and what could not be ended before. */
async function endProcesses(
  { context, orders, warnings = [], unendable = [] }: EndingAttempt,
  except: readonly ProcessIdentity[],
): Promise<void> {
  const { runners, occupancy, policy, pid } = context;
  const stay = [...(except.length === 0 ? [] : await occupancy.below(except)), ...unendable];
  const spared = new Set([pid, ...stay.map((one) => one.pid)]);
  const left = (await runners.processesOf(orders.attempt)).filter((one) => !spared.has(one.pid));
  if (left.length === 0) return;
  context.log(
    `Ending ${counted(left.length, 'process', 'es')} that ${left.length === 1 ? 'was' : 'were'} left behind`,
  );
  const { remaining } = await occupancy.end(left, { graceMs: policy.session.stopGraceMs });
  if (remaining.length === 0) return;
  unendable.push(...remaining);
  const text = `Still running, cannot be ended: ${processList(remaining)}`;
  await warn(context, orders.task, warnings, text);
}

/** One that fails before its workspace is prepared has neither warnings nor services. */
type EndingAttempt = HookedAttempt & Partial<Pick<RunningAttempt, 'warnings' | 'unendable' | 'travel'>>;

/** What cannot be ended is part of what the attempt leaves: people and the next agent are told. */
async function warn(
  context: AttemptContext,
  task: Task['id'],
  warnings: string[],
  text: string,
): Promise<void> {
  warnings.push(text);
  context.log(text);
  const added = await addLedgerEntry(context, task, { kind: 'learning', text });
  if (added.kind === 'refused') context.log(added.refusal.reason);
}

type AfterGate =
  | AttemptEnd
  | { readonly kind: 'handed_back'; readonly prompt: string; readonly written: WrittenContext };

async function passGate(attempt: RunningAttempt, exitCode: number | null): Promise<AfterGate> {
  const { context, orders, lost, reported, warnings } = attempt;
  const look = await askGate(attempt);
  if (lost.aborted) return { kind: 'lost' };
  if (look.verdict.kind === 'passed') {
    const shared = await shareFinished(attempt, look);
    if (shared === 'lost') return { kind: 'lost' };
    const ending = await finishedBy(context, orders, look, [...shared, ...warnings]);
    if (ending.kind !== 'finished') return end(attempt, ending, exitCode);
    const notes = await runAfter(attempt, { summary: look.summary, exitCode });
    return end(attempt, { ...ending, notes: [...notes, ...(ending.notes ?? [])] }, exitCode);
  }
  const { because, reason, isFinal, fails } = look.verdict;
  const { summary } = look;
  if (fails) return end(attempt, { kind: 'failed', reason, summary }, exitCode);
  if (isFinal || !(await handBack(context, orders, look.verdict)))
    return end(attempt, { kind: 'needs_attention', because, reason, summary }, exitCode);
  context.log(`Handed back: ${reason}`);
  context.reports.clear(reported);
  const isMerged = because === 'conflict' && (await mergeFor(context, orders));
  const prompt = handbackPrompt(because, reason, isMerged);
  return { kind: 'handed_back', prompt, written: await brief(attempt, { because, reason }) };
}

/** Before the task is queued or in review: another machine may land it. Notes about what it cannot. */
async function shareFinished(
  { travel }: RunningAttempt,
  look: GateLook,
): Promise<readonly string[] | 'lost'> {
  const { head, verdict } = look;
  if (travel === null || head === null || verdict.kind !== 'passed' || !verdict.hasChanges) return [];
  const shared = await travel.finished(head);
  if (shared.kind === 'lost') return 'lost';
  return shared.note === null ? [] : [shared.note];
}

async function finishedBy(
  context: AttemptContext,
  { task }: Orders,
  gate: GateLook,
  warnings: readonly string[],
): Promise<AttemptEnding> {
  const { landing, workspace: settings } = context.agent;
  const { policy } = landing;
  const pushed = await pushFinished(context, task, gate, { policy, settings });
  if (pushed.kind === 'failed') return { kind: 'needs_attention', because: 'push', reason: pushed.reason };
  const notes = [...warnings, ...(pushed.note === null ? [] : [pushed.note])];
  return { kind: 'finished', gate, policy, push: pushed.push, notes };
}

/** Parks the task. An agent that wrote no handoff entry leaves its last message as one. */
async function handOver(attempt: RunningAttempt, ended: TurnEnd): Promise<AttemptEnd> {
  const { context, orders } = attempt;
  const { board, clock } = context;
  const record = await board.get('attempt', orders.attempt);
  const entries = await board.list('ledger', { task: orders.task });
  const hasWritten = entries.some(({ kind, at }) => kind === 'handoff' && at >= (record?.startedAt ?? 0));
  const lastWords =
    ended.kind === 'ended' && ended.outcome.kind === 'completed' ? ended.outcome.lastWords : undefined;
  if (!hasWritten && lastWords?.trim()) {
    const { text } = excerpt(lastWords, defaultPolicy.ledger.textLength);
    const added = await addLedgerEntry(context, orders.task, { kind: 'handoff', text });
    if (added.kind === 'refused') context.log(added.refusal.reason);
  }
  return end(attempt, { kind: 'parked', until: clock.now(), because: 'handoff' }, null);
}

async function end(
  attempt: EndingAttempt,
  ending: AttemptEnding,
  exitCode: number | null,
): Promise<AttemptEnd> {
  const { context, orders } = attempt;
  await runOnError(attempt, outcomeOf(ending, exitCode));
  await endProcesses(attempt, []);
  // What finished has travelled already.
  if (ending.kind !== 'finished') await attempt.travel?.now(context.policy.travel.lastMs);
  const outcome = await endAttemptWith(context, orders, ending, exitCode);
  if (outcome.kind === 'done') return { kind: ending.kind };
  context.log(outcome.refusal.reason);
  return { kind: 'lost' };
}

async function crash(
  running: EndingAttempt,
  of: Pick<Crash, 'reason' | 'because' | 'exitCode'>,
): Promise<AttemptEnd> {
  const { context, orders } = running;
  const { task, attempt, token } = orders;
  context.log(`Crashed: ${of.reason}`);
  await runOnError(running, outcomeOfCrash(of));
  await endProcesses(running, []);
  await running.travel?.now(context.policy.travel.lastMs);
  const outcome = await recordCrash(context, { task, attempt, token, ...of });
  if (outcome.kind === 'done') return { kind: 'crashed', reason: of.reason };
  context.log(outcome.refusal.reason);
  return { kind: 'lost' };
}
