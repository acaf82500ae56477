/**
 * How statements of a connection are sent.
 *
 * Repeated statements get a name, so that the server parses and plans them once. Two answers are awaited later, which
 * halves the round trips of a claim: that of `begin`, and that of the last write, which is sent together with the commit.
 * They are awaited with the answer to the next statement, whose caller then sees their failure.
 *
 * A last write that the server refuses makes the commit a rollback. One that the driver refuses never reaches the server,
 * which would commit without it; so the commit first makes sure that the write was sent.
 *
 * Every transaction learns its id with the answer to its first statement. If the connection is lost between the commit and
 * its answer, the server is asked what became of that id (settle.ts).
 */

import { setImmediate } from 'node:timers/promises';

import type pg from 'pg';

import { BoardAway } from '../port.ts';
import { type BoardClient, type Clients, socketOf } from './clients.ts';
import { explainedLoss } from './errors.ts';
import { BRING_TO_DISK, CommitLost, type LostCommit } from './settle.ts';

const TRANSACTION_ID = 'select txid_current()::text as id';

/**
 * A lock that is held for very long is reported, not waited for; a client that vanished holds none for long.
 *
 * A commit holds the lock on the board's row while the server waits for its disk. Without standbys that must confirm, the
 * commit is asynchronous and releases the lock first; one statement sent with it flushes the log to disk. The commit is
 * reported as done only after both are answered.
 *
 * Behind a pooler nothing is set before it is known to keep connections apart: the settings would reach other clients.
 */
const SETTINGS = `
  select pg_backend_pid() as pid, case when $6::bool or pg_backend_pid() = $7::int then concat(
    set_config('lock_timeout', $1, false), set_config('statement_timeout', $2, false),
    set_config('idle_in_transaction_session_timeout', $3, false),
    set_config('tcp_keepalives_idle', $4, false), set_config('tcp_keepalives_interval', '5', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', $5, false)) end,
    case when ($6::bool or pg_backend_pid() = $7::int)
      and current_setting('server_version_num')::int >= 170000
      and current_setting('synchronous_commit') = 'on' and current_setting('synchronous_standby_names') = ''
    then set_config('synchronous_commit', 'off', false) end as later`;

interface ServerSession {
  readonly pid: number;
  readonly later: string | null;
}

/** Sent first in a transaction that may take long: a migration. */
export const TAKES_LONG = `select set_config('statement_timeout', '0', true)`;

interface KnownStatement {
  readonly name: string;
  readonly isLast: boolean;
}

export type KnownStatements = Map<string, KnownStatement>;

export function newKnownStatements(): KnownStatements {
  return new Map([
    [BRING_TO_DISK, { name: 'copse_disk', isLast: false }],
    [TRANSACTION_ID, { name: 'copse_id', isLast: false }],
  ]);
}

/** Whether something between this process and the server hands out connections, and may go on doing so. */
export interface Pooler {
  isSeen: boolean;
  isFine: boolean;
}

export interface Sending {
  readonly clients: Clients;
  readonly known: KnownStatements;
  readonly location: string;
  readonly pooler: Pooler;
}

export function sendBriskly(client: BoardClient, { clients, known, location, pooler }: Sending): void {
  const query = client.query.bind(client) as (
    config: string | pg.QueryConfig,
    values?: unknown[],
  ) => Promise<pg.QueryResult>;
  const stream = socketOf(client);
  const { limits } = clients;
  let held: HeldAnswer[] = [];
  let isCorked = false;
  let transaction: Promise<string> | undefined;
  let transactionId: string | undefined;
  let answerMs: number = limits.answerMs;

  const submit = (text: string, values?: unknown[]): Promise<pg.QueryResult> => {
    const statement = known.get(text);
    const answer = statement
      ? query({ name: statement.name, text, values: values ?? [] })
      : query(text, values);
    return clients.watch(client, answer, answerMs).catch((error: unknown) => {
      throw explainedLoss(error, location);
    });
  };
  const { lockMs, statementMs, idleInTransactionMs, keepAliveSeconds, clientGoneMs } = limits;
  const settings = [lockMs, statementMs, idleInTransactionMs, keepAliveSeconds, clientGoneMs].map(String);
  const { processID } = client as unknown as { processID: number };
  const asked = submit(SETTINGS, [...settings, pooler.isFine, processID]);
  const session = asked.then(({ rows }) => rows[0] as ServerSession);
  session.then(
    ({ pid }) => (pooler.isSeen ||= pid !== processID),
    () => {},
  );

  const hold = (answer: Promise<unknown>): void => {
    if (!isCorked) stream.cork();
    isCorked = true;
    held.push(new HeldAnswer(answer));
  };
  const release = (): void => {
    if (isCorked) stream.uncork();
    isCorked = false;
  };
  const submitAndRelease = async (text: string, values?: unknown[]): Promise<pg.QueryResult> => {
    const answer = submit(text, values);
    release();
    const before = held;
    held = [];
    answer.catch(() => {});
    for (const one of before) await one.answer;
    return answer;
  };
  const begin = (): void => {
    hold(submit('begin'));
    const asked = submit(TRANSACTION_ID);
    transactionId = undefined;
    transaction = asked.then(({ rows }) => (transactionId = (rows[0] as { id: string }).id));
    transaction.catch(() => {});
    hold(asked);
  };
  const commit = async (): Promise<pg.QueryResult> => {
    if ((await session).later === null) return submitAndRelease('commit');
    const committed = submit('commit');
    hold(committed);
    await submitAndRelease(BRING_TO_DISK);
    return committed;
  };
  const commitOrSettle = async (): Promise<pg.QueryResult> => {
    const { pid, later } = await session;
    if (held.length > 0) {
      await setImmediate();
      if (held.some((one) => one.hasFailed)) return submitAndRelease('rollback');
    }
    // Without a statement before the commit, its id was not even asked for.
    if (transactionId === undefined) release();
    const id = transactionId ?? (await transaction);
    try {
      return await commit();
    } catch (error) {
      if (!(error instanceof BoardAway) || id === undefined) throw error;
      const lost: LostCommit = {
        transaction: id,
        pid,
        name: client.label,
        isAsynchronous: later !== null,
      };
      throw new CommitLost(error, lost);
    }
  };
  const send = async (text: string, values?: unknown[]): Promise<unknown> => {
    if (text === 'begin') return (begin(), nothingYet);
    if (known.get(text)?.isLast) return (hold(submit(text, values)), nothingYet);
    if (text === TAKES_LONG) answerMs = limits.longMs;
    if (text !== 'commit' && text !== 'rollback') return submitAndRelease(text, values);
    try {
      return await (text === 'commit' ? commitOrSettle() : submitAndRelease(text));
    } catch (error) {
      // The server rolls back what a lost connection began; the caller has the error of the loss.
      if (text === 'rollback' && error instanceof BoardAway) return nothingYet;
      throw error;
    } finally {
      answerMs = limits.answerMs;
      transaction = transactionId = undefined;
    }
  };
  Object.assign(client, { query: send });
}

class HeldAnswer {
  readonly answer: Promise<unknown>;
  hasFailed = false;

  constructor(answer: Promise<unknown>) {
    this.answer = answer;
    answer.catch(() => {
      this.hasFailed = true;
    });
  }
}

const nothingYet = { command: 'SELECT', rowCount: 0, rows: [] } as const;
