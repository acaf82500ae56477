/**
 * An agent that waits for a person: its open question, a person's answer to it, and other reports that it waits.
 *
 * A session keeps its last question. It is open while the session is live and the question has no answer. A session that was
 * reopened since (after a crash or a handback) no longer waits for it. Its age comes from the event.
 */

import { type Refused, refused } from '../../kernel/decision.ts';
import { type EventNumber, type SessionId, type TaskId, type Timestamp, brand } from '../../kernel/ids.ts';
import { type Attention, type Question, decideSession } from '../rules/session/session.ts';
import { type TaskSummary, statusPredicate, refusedFor } from '../../tasks/rules/task.ts';
import { checkBody } from '../../kernel/text.ts';
import type { BoardReader } from '../../board/port.ts';
import { type Context, type Outcome, change } from '../../board/context.ts';
import { invalid } from '../../tasks/act/definition.ts';
import { refuseForeignTask } from '../../tasks/act/own-task.ts';
import { eventsSoFar } from '../../board/events-so-far.ts';

export interface OpenQuestion extends Omit<Question, 'answer'> {
  readonly task: TaskId;
  readonly session: SessionId;
  readonly since: Timestamp;
}

export async function openQuestionOf(
  board: BoardReader,
  { id: task, state }: Pick<TaskSummary, 'id' | 'state'>,
): Promise<OpenQuestion | undefined> {
  if (state.status !== 'in_progress') return undefined;
  const { session: id } = state.claim;
  const session = await board.get('session', id);
  if (session?.state.life !== 'live' || session.question === null) return undefined;
  const { answer, ...question } = session.question;
  if (answer !== null) return undefined;
  let since: Timestamp | undefined;
  const types = ['session.asked', 'session.reopened'] as const;
  for await (const { event } of eventsSoFar(board, { after: brand<EventNumber>(0), task, types })) {
    if (event.id === id) since = event.type === 'session.asked' ? event.at : undefined;
  }
  return since === undefined ? undefined : { ...question, task, session: id, since };
}

/** What the agent said when it began to wait: the text of `copse notify --message`. */
export async function lastMessageOf(
  board: BoardReader,
  task: TaskId,
  session: SessionId | undefined,
): Promise<string | null> {
  let message: string | null = null;
  const types = ['session.attention'] as const;
  for await (const { event } of eventsSoFar(board, { after: brand<EventNumber>(0), task, types }))
    if (event.type === 'session.attention' && event.id === session) message = event.message ?? null;
  return message;
}

export interface AnswerRequest {
  readonly isAllowed: boolean;
  readonly message: string | null;
  /** The question's id: refuses the answer when another question is open by now. */
  readonly question?: string | undefined;
}

export async function answerQuestion(
  context: Context,
  id: TaskId,
  { isAllowed, message, question }: AnswerRequest,
): Promise<Outcome<OpenQuestion>> {
  if (context.by.kind === 'session') {
    const reason = `Session ${context.by.session} cannot answer questions: only a person can.`;
    return refused('not_this_session', reason, 'Wait for the answer.');
  }
  const text = checkBody(message ?? '');
  if (text.kind === 'refused') return invalid(text.reason, 'copse answer --help');
  return change(context, async (change) => {
    const task = await change.require('task', id);
    const open = await openQuestionOf(change.board, task);
    if (open === undefined) return change.refuse(await noQuestion(change.board, task));
    if (question !== undefined && question !== open.id) {
      const reason = `The open question of ${id} is ${open.id}, no longer ${question}.`;
      return change.refuse(refused('wrong_status', reason, `copse answer ${id}`));
    }
    const session = await change.require('session', open.session);
    const answer = { isAllowed, message: text.body.trim() === '' ? null : text.body };
    await change.apply(decideSession(session, { action: 'answer', ...answer }, change.at));
    return open;
  });
}

/** An agent may wait for a person without a question that Copse can answer: only a new turn reaches it. */
export async function noQuestion(board: BoardReader, { id, state }: TaskSummary): Promise<Refused> {
  const session =
    state.status === 'in_progress' ? await board.get('session', state.claim.session) : undefined;
  if (session?.state.life !== 'live' || session.state.attention === null)
    return refusedFor({ id, state }, `${id} does not ask for permission: ${insteadOf(state)}.`);
  const reason = `Copse cannot pass an answer to this agent (${session.agent}).`;
  return refused('wrong_status', reason, `copse pause ${id} && copse resume ${id} --message "…"`);
}

function insteadOf(state: TaskSummary['state']): string {
  const isAsking = state.status === 'stuck' && !state.isByCopse && !state.isByHand;
  return isAsking ? 'its agent stopped with a question' : `it ${statusPredicate(state.status)}`;
}

export interface Raising {
  /** Null: the agent no longer waits. */
  readonly attention: Attention | null;
  readonly message: string | null;
}

/** `unchanged`: nothing was recorded, because it is known, or because an open question says more. */
export type Raised = 'raised' | 'unchanged';

/**
 * `copse notify`: a hook of an agent program, or a person, reports that an agent waits for a person. It is recorded as the
 * session's attention, and so announced like every other event.
 */
export async function raiseAttention(
  context: Context,
  id: TaskId,
  { attention, message }: Raising,
): Promise<Outcome<Raised>> {
  const foreign = await refuseForeignTask(context, id);
  if (foreign) return foreign;
  const text = checkBody(message?.trim() ?? '');
  if (text.kind === 'refused') return invalid(text.reason, 'copse notify --help');
  return change(context, async (change) => {
    await change.requireMine(id);
    const task = await change.require('task', id);
    const session =
      task.state.status === 'in_progress'
        ? await change.board.get('session', task.state.claim.session)
        : undefined;
    if (session?.state.life !== 'live') {
      const reason = `${id} ${statusPredicate(task.state.status)}: no agent is working on it.`;
      return change.refuse(refusedFor(task, reason));
    }
    const isKnown = session.state.attention === attention && text.body === '';
    if (isKnown || (await openQuestionOf(change.board, task)) !== undefined) return 'unchanged';
    const more = text.body === '' ? {} : { message: text.body };
    await change.apply(decideSession(session, { action: 'attend', attention, ...more }, change.at));
    return 'raised';
  });
}
