/**
 * A pooler between Copse and PostgreSQL that gives every transaction another connection (pgbouncer with pool_mode =
 * transaction) loses named statements, session settings and LISTEN. It is found out and refused. One that keeps a connection
 * for as long as the client has it (pool_mode = session) is fine.
 *
 * A pooler shows by the process id: the client is told one of the pooler, the server knows another. Then a second connection
 * begins a transaction: if it gets the server process that the first one just used, or the first one gets another, the
 * pooler hands connections around.
 */

import type pg from 'pg';

import { BoardUnavailable } from '../port.ts';
import type { Clients } from './clients.ts';

export async function refuseTransactionPooler(clients: Clients, location: string): Promise<void> {
  const ask = async (client: pg.Client): Promise<number> => {
    const { rows } = await clients.watch(client, client.query('select pg_backend_pid() as pid'));
    return (rows[0] as { pid: number }).pid;
  };
  const first = await clients.connect('copse');
  const second = await clients.connect('copse');
  try {
    const before = await ask(first);
    await clients.watch(second, second.query('begin'));
    const taken = await ask(second);
    const after = await ask(first);
    if (taken !== before && after === before) return;
  } finally {
    void first.end();
    void second.end();
  }
  throw new BoardUnavailable(
    `The board at ${location} is behind a pooler that gives every transaction another connection (pgbouncer with pool_mode = transaction or statement). Prepared statements, LISTEN and session settings, which Copse needs, do not survive that.`,
    'Name PostgreSQL itself in COPSE_BOARD, or set pool_mode = session in pgbouncer for this database.',
  );
}
