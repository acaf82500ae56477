/** An attempt: one process life inside a session. */

import { type EventHead, existing, mustBeNew } from '../../kernel/evolution.ts';
import { type Decision, decided, refused } from '../../kernel/decision.ts';
import type {
  AttemptId,
  CommitId,
  FencingToken,
  NodeId,
  SessionId,
  TaskId,
  Timestamp,
} from '../../kernel/ids.ts';
import type { EndReason } from '../../agents/rules/session/session.ts';

export interface Attempt {
  readonly id: AttemptId;
  readonly session: SessionId;
  readonly task: TaskId;
  readonly node: NodeId;
  readonly token: FencingToken;
  readonly startedAt: Timestamp;
  /** A pid alone proves nothing; with the kernel's start time it names one process. */
  readonly process: { readonly pid: number; readonly startTime: number } | null;
  readonly end: {
    readonly at: Timestamp;
    readonly reason: EndReason;
    readonly exitCode: number | null;
  } | null;
  /** What other machines can go on from; none before the first push that the remote acknowledged. */
  readonly lastSnapshot?: WorkSnapshot;
  /** Why its work does not reach the remote now. */
  readonly travelProblem?: string;
  /** Hooks that began; each begins at most once. */
  readonly hooks?: { readonly [H in HookName]?: HookRun };
}

export type HookName = 'before_run' | 'after_run' | 'on_error';

interface HookRun {
  readonly startedAt: Timestamp;
  /** The process that runs it: the attempt's runner, or one that recovers the attempt. */
  readonly by: HookRunner;
  /** Absent while it runs, and for ever if its process was killed. */
  readonly end?: { readonly at: Timestamp; readonly problem: string | null };
}

export interface HookRunner {
  readonly node: NodeId;
  readonly pid: number;
  readonly startTime: number;
}

/** A snapshot on the remote, under the ref of the attempt's token. */
export interface WorkSnapshot {
  readonly commit: CommitId;
  /** The commit of HEAD; the rest of the snapshot was uncommitted. */
  readonly head: CommitId;
  /** When the files were read. */
  readonly at: Timestamp;
}

type Of<T extends string> = EventHead<T, AttemptId>;

export type AttemptEvent =
  | (Of<'attempt.started'> & Pick<Attempt, 'session' | 'task' | 'node' | 'token'>)
  | (Of<'attempt.process_known'> & { readonly pid: number; readonly startTime: number })
  | (Of<'attempt.snapshotted'> & Pick<WorkSnapshot, 'commit' | 'head'> & { readonly readAt: Timestamp })
  /** Null: it reaches the remote again. */
  | (Of<'attempt.travel_problem'> & { readonly problem: string | null })
  | (Of<'attempt.hook_started'> & { readonly hook: HookName; readonly by: HookRunner })
  /** Null: it succeeded. */
  | (Of<'attempt.hook_ended'> & { readonly hook: HookName; readonly problem: string | null })
  | (Of<'attempt.ended'> & { readonly reason: EndReason; readonly exitCode: number | null });

export function evolveAttempt(attempt: Attempt | undefined, event: AttemptEvent): Attempt {
  if (event.type === 'attempt.started') {
    mustBeNew(attempt, event);
    const { id, session, task, node, token, at } = event;
    return { id, session, task, node, token, startedAt: at, process: null, end: null };
  }
  const before = existing(attempt, event);
  if (event.type === 'attempt.process_known') {
    return { ...before, process: { pid: event.pid, startTime: event.startTime } };
  }
  if (event.type === 'attempt.snapshotted') {
    const { commit, head, readAt } = event;
    return { ...before, lastSnapshot: { commit, head, at: readAt } };
  }
  if (event.type === 'attempt.travel_problem') {
    const { travelProblem: _, ...rest } = before;
    return event.problem === null ? rest : { ...rest, travelProblem: event.problem };
  }
  if (event.type === 'attempt.hook_started') {
    const run = { startedAt: event.at, by: event.by };
    return { ...before, hooks: { ...before.hooks, [event.hook]: run } };
  }
  if (event.type === 'attempt.hook_ended') {
    const run = before.hooks?.[event.hook];
    if (run === undefined)
      throw new Error(`The hook ${event.hook} of ${before.id} ended without a beginning`);
    const ended = { ...run, end: { at: event.at, problem: event.problem } };
    return { ...before, hooks: { ...before.hooks, [event.hook]: ended } };
  }
  return { ...before, end: { at: event.at, reason: event.reason, exitCode: event.exitCode } };
}

/** At most once for each attempt, by any process: a kill may leave a hook that began and did not end. */
export function decideHookStart(
  attempt: Attempt,
  hook: HookName,
  by: HookRunner,
  at: Timestamp,
): Decision<AttemptEvent> {
  const { id, task, end, hooks } = attempt;
  const isOver = end !== null;
  if (isOver || hooks?.[hook] !== undefined) {
    const why = isOver ? `${id} is over` : `it already began for ${id}`;
    return refused('wrong_status', `The hook ${hook} of ${task} does not run: ${why}.`, `copse show ${task}`);
  }
  return decided({ type: 'attempt.hook_started', id, at, hook, by });
}
