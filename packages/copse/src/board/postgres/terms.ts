/**
 * Which server a board on PostgreSQL is on: its system identifier, its timeline, which grows when a standby is promoted, and the
 * number of a table, which a restored dump gets anew. Any user may read them. Every write compares them with those of the
 * current term.
 */

import { type RawBuilder, sql } from 'kysely';

import { timestamp } from '../../kernel/ids.ts';
import type { BoardServer, BoardTerm } from '../rules/term.ts';
import type { Terms } from '../sql/engine.ts';
import type { Queries } from '../sql/schema.ts';
import { sqlState } from './errors.ts';

/** A checkpoint tells a new timeline only later; the log's file name tells it with the first write. */
function identityOf(schema: string): RawBuilder<string> {
  const table = sql.lit(`"${schema}".terms`);
  return sql<string>`(select system_identifier::text from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || '/' || ${table}::regclass::oid`;
}

/** Undefined where the server does not tell which one it is. */
export async function openTerms(
  db: Queries,
  schema: string,
  { hasTable }: { readonly hasTable: boolean },
): Promise<Terms | undefined> {
  const table = sql`${sql.id(schema, 'terms')}`;
  const identity = identityOf(schema);
  if (!hasTable && !(await makeTable(db, table, identity))) return undefined;
  return {
    isCurrent: sql<boolean>`(select server from ${table} order by term desc limit 1) = ${identity}`,
    list: async (on) =>
      (
        await sql<BoardTerm>`select term, after_event as after, began_at as at from ${table} order by term`.execute(
          on,
        )
      ).rows,
    async begin(transaction, after, at) {
      const { rows } = await sql`
        insert into ${table} (term, server, after_event, began_at)
        select coalesce(max(term), 0) + 1, ${identity}, ${sql.lit(after)}, ${sql.lit(at)} from ${table}
        having (select server from ${table} order by term desc limit 1) is distinct from ${identity}
        returning term`.execute(transaction);
      return rows.length > 0;
    },
  };
}

async function makeTable(
  db: Queries,
  table: RawBuilder<unknown>,
  identity: RawBuilder<string>,
): Promise<boolean> {
  try {
    await sql`select system_identifier, pg_walfile_name(pg_current_wal_insert_lsn()) from pg_control_system()`.execute(
      db,
    );
    await sql`create table if not exists ${table} (term integer primary key, server text not null, after_event bigint not null, began_at bigint not null)`.execute(
      db,
    );
    const at = timestamp(Date.now());
    await sql`insert into ${table} (term, server, after_event, began_at) select 1, ${identity}, 0, ${sql.lit(at)} on conflict do nothing`.execute(
      db,
    );
    return true;
  } catch (error) {
    const state = sqlState(error) ?? '';
    // Two processes make it at once; then it exists.
    if (['23505', '42P07', '42P06'].includes(state)) return true;
    if (/^(0A|42)/.test(state)) return false;
    throw error;
  }
}

export async function serverFacts(
  db: Queries,
  schema: string,
  terms: Terms | undefined,
): Promise<Omit<BoardServer, 'term'>> {
  const { rows } = await sql<{ commit: string; names: string; standbys: number }>`
    select current_setting('synchronous_standby_names') as names,
      (select reset_val from pg_settings where name = 'synchronous_commit') as commit,
      (select count(*)::int from pg_stat_replication) as standbys`.execute(db);
  const { commit = '', names = '', standbys = 0 } = rows[0] ?? {};
  const told =
    terms && (await sql<{ identity: string }>`select ${identityOf(schema)} as identity`.execute(db)).rows[0];
  return {
    identity: told?.identity ?? null,
    isSynchronous: names.trim() !== '' && ['on', 'remote_apply'].includes(commit),
    standbys,
  };
}
