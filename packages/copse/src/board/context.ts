/**
 * The context that every act gets, and the one way in which acts change the board.
 *
 * An act calls `change(context, work)`. Inside, it reads records, asks a `decide…` function of some room's rules, and
 * applies the decision: its events are recorded in the same transaction as the records that they change. A refusal
 * anywhere rolls the whole transaction back and becomes the outcome.
 */

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
  /** The numbers of copse.yml, or their defaults. */
  readonly policy: Policy;
  /** Who acts: a person, an agent's session, or this machine. */
  readonly by: Author;
}

export type Outcome<T> = { readonly kind: 'done'; readonly value: T } | Refused;

export async function change<T>(context: Context, work: (change: Change) => Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await context.board.transact((transaction) => work(new Change(context, transaction)));
    return { kind: 'done', value };
  } catch (error) {
    if (error instanceof RolledBack) return { kind: 'refused', refusal: error.refusal };
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
    if (decision.kind === 'refused') this.refuse(decision);
    await this.board.record(this.#by, decision.events);
  }

  /** For consequences that a session may not record itself, because they are about other tasks. */
  async applyAs<E extends BoardEvent>(by: Author, decision: Decision<E>): Promise<void> {
    if (decision.kind === 'refused') this.refuse(decision);
    await this.board.record(by, decision.events);
  }

  refuse({ refusal }: Refused): never {
    throw new RolledBack(refusal);
  }

  async require<K extends RecordKind>(kind: K, id: string): Promise<Records[K]> {
    return (await this.board.get(kind, id)) ?? notFound(kind, id);
  }

  /** For additions to a task: a session must hold the task, a person may add to any task that exists. */
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
  throw new RolledBack(refused('not_found', `The board has no ${kind} ${id}.`, 'copse list').refusal);
}

/** Thrown to roll a transaction back; `change` turns it into an outcome. */
class RolledBack extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}
