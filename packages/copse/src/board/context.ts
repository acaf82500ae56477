/** What every use of the board needs: the board itself, the time, chance, the rules, and on whose behalf. */

import { refuseUnlessHeld } from '../tasks/rules/claim.ts';
import { type Decision, type Refusal, type Refused, refused } from '../kernel/decision.ts';
import type { Author, BoardEvent, RecordKind, Records } from './rules/event.ts';
import type { TaskId, Timestamp } from '../kernel/ids.ts';
import type { Policy } from '../kernel/policy.ts';
import type { Board, BoardTransaction } from './port.ts';
import type { Clock, Random } from '../kernel/clock.ts';

export interface Context {
  readonly board: Board;
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  readonly by: Author;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

export function refusal(refused: { readonly refusal: Refusal }): {
  readonly ok: false;
  readonly refusal: Refusal;
} {
  return { ok: false, refusal: refused.refusal };
}

/** A transaction in which a refusal, wherever it comes up, undoes everything before it. */
export async function change<T>(context: Context, work: (change: Change) => Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await context.board.transact((transaction) => work(new Change(context, transaction)));
    return { ok: true, value };
  } catch (error) {
    if (error instanceof RolledBack) return refusal(error);
    throw error;
  }
}

export class Change {
  readonly board: BoardTransaction;
  readonly at: Timestamp;
  readonly #by: Author;

  constructor(context: Context, board: BoardTransaction) {
    this.board = board;
    this.at = context.clock.now();
    this.#by = context.by;
  }

  async apply<E extends BoardEvent>(decision: Decision<E>): Promise<void> {
    if (!decision.decided) this.refuse(decision);
    await this.board.record(this.#by, decision.events);
  }

  /** For what follows from a session's work without being its own: a session may write about its own task only. */
  async applyAs<E extends BoardEvent>(by: Author, decision: Decision<E>): Promise<void> {
    if (!decision.decided) this.refuse(decision);
    await this.board.record(by, decision.events);
  }

  refuse({ refusal }: Refused): never {
    throw new RolledBack(refusal);
  }

  async require<K extends RecordKind>(kind: K, id: string): Promise<Records[K]> {
    return (await this.board.get(kind, id)) ?? notFound(kind, id);
  }

  /**
   * For what is only added to a task. A session may add to the task it holds, and to no other; people may add to any,
   * many at once, as long as nobody deletes it meanwhile.
   */
  async requireMine(task: TaskId): Promise<void> {
    if (this.#by.kind === 'session') {
      const refused = refuseUnlessHeld(await this.require('task', task), this.#by.token);
      if (refused) this.refuse(refused);
    } else if (!(await this.board.statuses([task])).has(task)) {
      notFound('task', task);
    }
  }
}

function notFound(kind: RecordKind, id: string): never {
  throw new RolledBack(refused('not_found', `There is no ${kind} ${id} on the board.`, 'copse list').refusal);
}

/** Only ever seen by `change`: leaving a transaction by throwing is what rolls it back. */
class RolledBack extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}
