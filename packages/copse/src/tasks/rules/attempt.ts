/** An attempt: one process life inside a session. */

import { existing, mustBeNew } from '../../kernel/evolution.ts';
import type { AttemptId, FencingToken, NodeId, SessionId, TaskId, Timestamp } from '../../kernel/ids.ts';
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
}

interface Of<T extends string> {
  readonly type: T;
  readonly id: AttemptId;
  readonly at: Timestamp;
}

export type AttemptEvent =
  | (Of<'attempt.started'> & Pick<Attempt, 'session' | 'task' | 'node' | 'token'>)
  | (Of<'attempt.process_known'> & { readonly pid: number; readonly startTime: number })
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
  return { ...before, end: { at: event.at, reason: event.reason, exitCode: event.exitCode } };
}
