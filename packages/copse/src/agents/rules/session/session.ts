/**
 * A session: one agent conversation about one task. It may span several attempts (processes) and survives a
 * removed worktree.
 *
 *   registered → planning → planning_complete → working → shipping → reviews_in_progress → pr_ready → complete
 *
 * with stuck and cancelled from anywhere. An agent may skip phases, but never goes back; only a handback or a resume
 * returns a session to `working`. A stuck session continues in two ways: `restart` opens a new session at `working` that
 * names the one it follows; or a person pauses it and later resumes the same conversation.
 */

import { type Decision, decided, refused } from '../../../kernel/decision.ts';
import { unreachable } from '../../../kernel/unreachable.ts';
import { type EventHead, existing, mustBeNew } from '../../../kernel/evolution.ts';
import { type Usage, addUsage, noUsage } from '../../../kernel/usage.ts';
import type { AgentName, SessionId, TaskId, Timestamp } from '../../../kernel/ids.ts';
import {
  type GiveBackCause,
  type TakeOverEvent,
  type TerminalTakeOver,
  decideGiveBack,
  decideTakeOver,
  givenBack,
} from './take-over.ts';

export const openPhases = [
  'registered',
  'planning',
  'planning_complete',
  'working',
  'shipping',
  'reviews_in_progress',
  'pr_ready',
] as const;

export type OpenPhase = (typeof openPhases)[number];

/** For people: null until the agent has reported one. */
export function reportedPhase(phase: Phase | undefined): Phase | null {
  return phase === undefined || phase === 'registered' ? null : phase;
}

type Phase = OpenPhase | 'complete' | 'stuck' | 'cancelled';

/** The agent's process is alive and waits for a person. */
export type Attention = 'permission' | 'idle';

export const interruptions = ['crashed', 'paused', 'timed_out', 'over_budget', 'rate_limited'] as const;
type Interruption = (typeof interruptions)[number];

export type EndReason = 'completed' | 'stuck' | 'cancelled' | Interruption;

export type SessionState =
  | { readonly life: 'live'; readonly phase: OpenPhase; readonly attention: Attention | null }
  | {
      readonly life: 'interrupted';
      readonly phase: OpenPhase;
      readonly because: Interruption;
      readonly at: Timestamp;
    }
  | { readonly life: 'stuck'; readonly phase: 'stuck'; readonly reason: string; readonly at: Timestamp }
  | { readonly life: 'complete'; readonly phase: 'complete'; readonly at: Timestamp }
  | { readonly life: 'cancelled'; readonly phase: 'cancelled'; readonly at: Timestamp };

export type SessionLife = SessionState['life'];

export interface Session {
  readonly id: SessionId;
  readonly task: TaskId;
  readonly agent: AgentName;
  /** The same agent on the same work item resumes; another work item begins a new session. */
  readonly workItem: string | null;
  readonly follows: SessionId | null;
  /** The runtime's id of the conversation, as soon as it is known. */
  readonly conversation: string | null;
  /** The sum over all attempts. */
  readonly usage: Usage;
  /** The agent's last request for a permission. */
  readonly question: Question | null;
  readonly startedAt: Timestamp;
  readonly state: SessionState;
  /** How it finished the last time. */
  readonly finish?: FinishWords;
  /** A person types into its terminal. It ends with the session's live state. */
  readonly takenOver?: TerminalTakeOver;
}

/** What was said when a session finished. */
interface FinishWords {
  /** The agent's own words. */
  readonly summary?: string;
  /** Warnings that did not keep it from finishing. */
  readonly notes?: readonly string[];
}

/** An agent waits for a person's permission. */
export interface Question {
  readonly id: string;
  /** The program's name of the tool. */
  readonly tool: string;
  readonly what: string;
  readonly answer: PermissionAnswer | null;
}

export interface PermissionAnswer {
  readonly isAllowed: boolean;
  /** Passed on to the agent. */
  readonly message: string | null;
}

export const sessionTransitions = {
  advance: { live: ['live'] },
  attend: { live: ['live'] },
  converse: { live: ['live'] },
  use: { live: ['live'] },
  ask: { live: ['live'] },
  answer: { live: ['live'] },
  take_over: { live: ['live'] },
  give_back: { live: ['live'] },
  complete: { live: ['complete'] },
  stick: { live: ['stuck'], interrupted: ['stuck'], complete: ['stuck'] },
  interrupt: { live: ['interrupted'], stuck: ['interrupted'] },
  cancel: {
    live: ['cancelled'],
    interrupted: ['cancelled'],
    stuck: ['cancelled'],
    complete: ['cancelled'],
  },
  reopen: { interrupted: ['live'], complete: ['live'] },
  handback: { live: ['live'], complete: ['live'] },
} as const satisfies Readonly<Record<string, Partial<Readonly<Record<SessionLife, readonly SessionLife[]>>>>>;

export type SessionAction = keyof typeof sessionTransitions;

type Of<T extends string> = EventHead<T, SessionId>;

export type SessionEvent =
  | (Of<'session.opened'> &
      Pick<Session, 'task' | 'agent' | 'workItem' | 'follows'> & { readonly phase: OpenPhase })
  | (Of<'session.advanced'> & { readonly phase: OpenPhase })
  | (Of<'session.attention'> & { readonly attention: Attention | null; readonly message?: string })
  | (Of<'session.conversation_known'> & { readonly conversation: string })
  /** Used since the last such event. */
  | (Of<'session.used'> & { readonly usage: Usage })
  | (Of<'session.asked'> & { readonly question: Omit<Question, 'answer'> })
  | (Of<'session.answered'> & { readonly question: string; readonly answer: PermissionAnswer })
  | TakeOverEvent
  /** The agent's report could not be parsed; nothing else follows. */
  | (Of<'session.misreported'> & { readonly problem: string })
  | (Of<'session.completed'> & FinishWords)
  | (Of<'session.stuck'> & { readonly reason: string })
  | (Of<'session.interrupted'> & { readonly because: Interruption })
  | Of<'session.cancelled'>
  | (Of<'session.reopened'> & { readonly phase: OpenPhase });

export type SessionRequest =
  | { readonly action: 'advance'; readonly phase: OpenPhase }
  | { readonly action: 'attend'; readonly attention: Attention | null; readonly message?: string }
  | { readonly action: 'converse'; readonly conversation: string }
  | { readonly action: 'use'; readonly usage: Usage }
  | { readonly action: 'ask'; readonly question: Omit<Question, 'answer'> }
  | ({ readonly action: 'answer' } & PermissionAnswer)
  | ({ readonly action: 'take_over' } & Omit<TerminalTakeOver, 'at'>)
  | { readonly action: 'give_back'; readonly because: GiveBackCause }
  | ({ readonly action: 'complete' } & FinishWords)
  | { readonly action: 'stick'; readonly reason: string }
  | { readonly action: 'interrupt'; readonly because: Interruption }
  | { readonly action: 'cancel' }
  | { readonly action: 'reopen' }
  | { readonly action: 'handback' };

export function decideSession(
  session: Session,
  request: SessionRequest,
  at: Timestamp,
): Decision<SessionEvent> {
  const { life, phase } = session.state;
  const from: Partial<Record<SessionLife, readonly SessionLife[]>> = sessionTransitions[request.action];
  if (from[life] === undefined) {
    return refused(
      'wrong_status',
      `Cannot ${request.action.replace('_', ' ')} session ${session.id} of ${session.task}: it is ${life}.`,
      `copse show ${session.task}`,
    );
  }
  const of = { id: session.id, at };
  switch (request.action) {
    case 'advance':
      if (rank(request.phase) < rank(phase)) {
        return refused(
          'backward',
          `Session ${session.id} cannot go back from ${phase} to ${request.phase}.`,
          phase === openPhases.at(-1) ? 'copse finish' : `copse phase ${nextPhase(phase)}`,
        );
      }
      return decided({ type: 'session.advanced', ...of, phase: request.phase });
    case 'attend': {
      const { attention, message } = request;
      return decided({
        type: 'session.attention',
        ...of,
        attention,
        ...(message !== undefined && { message }),
      });
    }
    case 'converse':
      return decided({ type: 'session.conversation_known', ...of, conversation: request.conversation });
    case 'use':
      return decided({ type: 'session.used', ...of, usage: request.usage });
    case 'ask':
      return decided({ type: 'session.asked', ...of, question: request.question });
    case 'answer': {
      const { isAllowed, message } = request;
      const { question } = session;
      if (question === null || question.answer !== null) {
        const reason = `Session ${session.id} of ${session.task} has no open question.`;
        return refused('wrong_status', reason, `copse show ${session.task}`);
      }
      return decided({
        type: 'session.answered',
        ...of,
        question: question.id,
        answer: { isAllowed, message },
      });
    }
    case 'take_over':
      return decideTakeOver(session, request, at);
    case 'give_back':
      return decideGiveBack(session, request.because, at);
    case 'complete': {
      const { summary, notes = [] } = request;
      const words = { ...(summary && { summary }), ...(notes.length > 0 && { notes }) };
      return decided({ type: 'session.completed', ...of, ...words });
    }
    case 'stick':
      if (request.reason.trim() === '') {
        return refused(
          'invalid',
          `Session ${session.id} cannot be stuck without a reason: name the decision that a person has to make.`,
          'copse stuck --reason "…"',
        );
      }
      return decided({ type: 'session.stuck', ...of, reason: request.reason });
    case 'interrupt':
      return decided({ type: 'session.interrupted', ...of, because: request.because });
    case 'cancel':
      return decided({ type: 'session.cancelled', ...of });
    case 'reopen':
      return decided({ type: 'session.reopened', ...of, phase: reopenedPhase(session.state) });
    case 'handback':
      return decided({ type: 'session.reopened', ...of, phase: 'working' });
    default:
      return unreachable(request);
  }
}

/** A new conversation in the same worktree: after a restart, a crash or a context handoff. */
export function decideFollowUp(previous: Session, id: SessionId, at: Timestamp): Decision<SessionEvent> {
  const { task, agent, workItem } = previous;
  return decided({
    type: 'session.opened',
    id,
    at,
    task,
    agent,
    workItem,
    follows: previous.id,
    phase: 'working',
  });
}

/** Why the session is not running, or null while it is. */
export function endReason(state: SessionState): EndReason | null {
  switch (state.life) {
    case 'live':
      return null;
    case 'interrupted':
      return state.because;
    case 'complete':
      return 'completed';
    case 'stuck':
    case 'cancelled':
      return state.life;
    default:
      return unreachable(state);
  }
}

export function evolveSession(session: Session | undefined, event: SessionEvent): Session {
  if (event.type === 'session.opened') {
    mustBeNew(session, event);
    const { id, task, agent, workItem, follows, phase, at } = event;
    const state = { life: 'live', phase, attention: null } as const;
    const nothing = { conversation: null, usage: noUsage, question: null };
    return { id, task, agent, workItem, follows, ...nothing, startedAt: at, state };
  }
  const before = existing(session, event);
  switch (event.type) {
    case 'session.conversation_known':
      return { ...before, conversation: event.conversation };
    case 'session.misreported':
      return before;
    case 'session.used':
      return { ...before, usage: addUsage(before.usage, event.usage) };
    case 'session.asked': {
      const question = { ...event.question, answer: null };
      return { ...before, question, state: attended(before.state, 'permission') };
    }
    case 'session.answered': {
      const { question, answer } = event;
      if (before.question?.id !== question) throw new Error(`${before.id} did not ask ${question}`);
      return {
        ...before,
        question: { ...before.question, answer },
        state: attended(before.state, null),
      };
    }
    case 'session.taken_over': {
      const { person, isKept, at } = event;
      return { ...before, takenOver: { person, isKept, at } };
    }
    case 'session.given_back':
      return givenBack(before);
    case 'session.completed': {
      const { finish: _, ...rest } = givenBack(before);
      const { summary, notes } = event;
      const finish = { ...(summary !== undefined && { summary }), ...(notes && { notes }) };
      const hasWords = summary !== undefined || notes !== undefined;
      return { ...rest, ...(hasWords && { finish }), state: nextState(before.state, event) };
    }
    case 'session.advanced':
    case 'session.attention':
      return { ...before, state: nextState(before.state, event) };
    default:
      return { ...givenBack(before), state: nextState(before.state, event) };
  }
}

function attended(state: SessionState, attention: Attention | null): SessionState {
  return { life: 'live', phase: openPhase(state), attention };
}

function nextState(
  state: SessionState,
  event: Exclude<
    SessionEvent,
    {
      type:
        | 'session.opened'
        | 'session.conversation_known'
        | 'session.misreported'
        | 'session.used'
        | 'session.asked'
        | 'session.answered'
        | 'session.taken_over'
        | 'session.given_back';
    }
  >,
): SessionState {
  const { at } = event;
  switch (event.type) {
    case 'session.advanced':
    case 'session.reopened':
      return { life: 'live', phase: event.phase, attention: null };
    case 'session.attention':
      return attended(state, event.attention);
    case 'session.completed':
      return { life: 'complete', phase: 'complete', at };
    case 'session.stuck':
      return { life: 'stuck', phase: 'stuck', reason: event.reason, at };
    case 'session.interrupted':
      return { life: 'interrupted', phase: openPhase(state), because: event.because, at };
    case 'session.cancelled':
      return { life: 'cancelled', phase: 'cancelled', at };
    default:
      return unreachable(event);
  }
}

/** A stuck session that is paused continues at `working`. */
function openPhase(state: SessionState): OpenPhase {
  return state.life === 'live' || state.life === 'interrupted' ? state.phase : 'working';
}

function reopenedPhase(state: SessionState): OpenPhase {
  return state.life === 'interrupted' ? state.phase : 'working';
}

function rank(phase: Phase): number {
  return (openPhases as readonly Phase[]).indexOf(phase);
}

function nextPhase(phase: Phase): Phase {
  return openPhases[rank(phase) + 1] ?? phase;
}
