/** Changes one row per durable transaction, with nothing in between: what the engine itself can do here. */

import { DatabaseSync } from 'node:sqlite';

import pg from 'pg';

import type { BoardAddress } from '../../packages/copse/src/board/open.ts';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import { say } from '../processes.ts';
import type { ClaimFor } from './claimer.ts';

export interface Committed {
  readonly commits: number;
}

const address = JSON.parse(process.argv[2]!) as BoardAddress;
const commit: () => unknown =
  address.engine === 'sqlite' ? onSqlite(address.file) : await onPostgres(address.url);

process.on('message', ({ ms }: ClaimFor) => {
  commitFor(ms).then(say, (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
say({ commits: 0 } satisfies Committed);

async function commitFor(ms: number): Promise<Committed> {
  const untilMs = performance.now() + ms;
  let commits = 0;
  for (; performance.now() < untilMs; commits += 1) await commit();
  return { commits };
}

function onSqlite(file: string): () => void {
  const database = new DatabaseSync(file, { timeout: defaultPolicy.board.busyTimeoutMs });
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  database.exec('create table if not exists counter (id integer primary key, count integer)');
  database.exec('insert or ignore into counter values (1, 0)');
  const statement = database.prepare('update counter set count = count + 1');
  return () => void statement.run();
}

async function onPostgres(connectionString: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('select pg_advisory_lock(1)');
  await client.query('create table if not exists public.counter (id integer primary key, count integer)');
  await client.query('insert into public.counter values (1, 0) on conflict do nothing');
  await client.query('select pg_advisory_unlock(1)');
  return async () => {
    await client.query({ name: 'count', text: 'update public.counter set count = count + 1' });
  };
}
