/**
 * A person takes over the terminal of an agent: from then on the server passes on what this person types, until they give it
 * back, the session is no longer live, or their page has been closed for a while. One person at a time.
 */

import { type Decision, decided, refused } from '../../../kernel/decision.ts';
import type { EventHead } from '../../../kernel/evolution.ts';
import type { SessionId, TaskId, Timestamp } from '../../../kernel/ids.ts';

export interface TerminalTakeOver {
  /** The name of the person; null when the system has none. */
  readonly person: string | null;
  /** It stays also while no page shows the terminal. */
  readonly isKept: boolean;
  readonly at: Timestamp;
}

export type GiveBackCause = 'asked' | 'page_closed';

export type TakeOverEvent =
  | (EventHead<'session.taken_over', SessionId> & Omit<TerminalTakeOver, 'at'>)
  | (EventHead<'session.given_back', SessionId> & { readonly because: GiveBackCause });

interface TakenSession {
  readonly id: SessionId;
  readonly task: TaskId;
  readonly takenOver?: TerminalTakeOver;
}

export function personName(person: string | null): string {
  return person ?? 'a person';
}

/** The same person may change `isKept`; another person is refused. */
export function decideTakeOver(
  { id, task, takenOver }: TakenSession,
  { person, isKept }: Omit<TerminalTakeOver, 'at'>,
  at: Timestamp,
): Decision<TakeOverEvent> {
  if (takenOver !== undefined && takenOver.person !== person) {
    const reason = `${personName(takenOver.person)} has taken over the terminal of ${task}.`;
    return refused('wrong_status', reason, `copse give-back ${task}`, `copse logs ${task} --follow`);
  }
  return decided({ type: 'session.taken_over', id, at, person, isKept });
}

export function decideGiveBack(
  { id, task, takenOver }: TakenSession,
  because: GiveBackCause,
  at: Timestamp,
): Decision<TakeOverEvent> {
  if (takenOver === undefined)
    return refused('wrong_status', `No person has taken over the terminal of ${task}.`, `copse why ${task}`);
  return decided({ type: 'session.given_back', id, at, because });
}

export function givenBack<T extends TakenSession>(session: T): Omit<T, 'takenOver'> {
  const { takenOver: _, ...rest } = session;
  return rest;
}
