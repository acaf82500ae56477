/**
 * What became of a commit whose answer was lost.
 *
 * The commit may still be on its way to the server, so its connection is ended there first: after that the transaction is
 * either committed or it never will be. The server remembers which, under the id of the transaction. A server that was
 * killed gives the ids of transactions that it lost out again: an event that the transaction wrote has to be there too.
 */

import { setTimeout } from 'node:timers/promises';

import pg from 'pg';

import { BoardAway } from '../port.ts';
import type { EventRow } from '../sql/writes.ts';
import type { Clients } from './clients.ts';
import { explained, sqlState } from './errors.ts';

/** Flushes the log: for a commit that did not wait for the disk. PostgreSQL 17 and newer. */
export const BRING_TO_DISK = `select pg_logical_emit_message(false, 'copse', '', true)`;

export interface LostCommit {
  readonly transaction: string;
  /** The process of the server, and the name of the connection: a process id may be given out again. */
  readonly pid: number;
  readonly name: string;
  /** The commit did not wait for the disk. */
  readonly isAsynchronous: boolean;
}

/** Between the connection and the engine, which knows what the transaction was to return. */
export class CommitLost extends BoardAway {
  readonly lost: LostCommit;

  constructor(away: BoardAway, lost: LostCommit) {
    super(away.message, away.remedy, { cause: away });
    this.lost = lost;
  }
}

const END = `select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and application_name = $2`;
const ASK = `
  select txid_status($1::bigint) as status,
    exists (select 1 from pg_stat_activity where pid = $2 and application_name = $3) as alive`;

/** An event that the transaction wrote. */
export interface WrittenEvent {
  readonly schema: string;
  readonly event: EventRow;
}

const isThere = (schema: string) =>
  `select 1 from ${pg.escapeIdentifier(schema)}.events where subject = $1 and at = $2 and data = $3 limit 1`;

const LOOK_EVERY_MS = 20;
const INVALID_VALUE = '22023';

export async function settle(
  clients: Clients,
  { transaction, pid, name, isAsynchronous }: LostCommit,
  location: string,
  written: WrittenEvent | undefined,
): Promise<'committed' | 'rolled_back'> {
  const { settleMs, connectMs } = clients.limits;
  const giveUpAt = performance.now() + settleMs;
  try {
    const client = await clients.connect('copse (settling)', Math.min(connectMs, settleMs));
    try {
      const ask = async (text: string, values: unknown[]): Promise<unknown> => {
        const leftMs = Math.max(1, giveUpAt - performance.now());
        return (await clients.watch(client, client.query(text, values), leftMs)).rows[0];
      };
      await ask(END, [pid, name]);
      for (;;) {
        const found = (await ask(ASK, [transaction, pid, name])) as { status: string | null; alive: boolean };
        if (found.status === 'committed') {
          if (isAsynchronous) await ask(BRING_TO_DISK, []);
          if (written === undefined) return 'committed';
          const { subject, at, data } = written.event;
          const found = await ask(isThere(written.schema), [subject, at, data]);
          return found === undefined ? 'rolled_back' : 'committed';
        }
        if (!found.alive && found.status !== 'in progress') return 'rolled_back';
        await setTimeout(LOOK_EVERY_MS);
      }
    } finally {
      void client.end();
    }
  } catch (error) {
    // Another server took over, and never saw this transaction.
    if (sqlState(error) === INVALID_VALUE) return 'rolled_back';
    const away = explained(error, location);
    throw away instanceof BoardAway ? away : new BoardAway(String(away), 'copse doctor', { cause: error });
  }
}
