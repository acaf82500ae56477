/** What `copse doctor` says about the connection. */

import { sql } from 'kysely';

import type { ConnectionFacts } from '../port.ts';
import type { Queries } from '../sql/schema.ts';

interface Row {
  readonly version: string;
  readonly tls: string | null;
  readonly used: number;
  readonly most: number;
}

const QUESTIONS = 3;

export async function connectionFacts(db: Queries): Promise<ConnectionFacts> {
  const asked = await sql<Row>`
    select current_setting('server_version') as version,
      (select version from pg_stat_ssl where pid = pg_backend_pid() and ssl) as tls,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
      current_setting('max_connections')::int as most`.execute(db);
  const [row] = asked.rows;
  if (row === undefined) throw new Error('The server said nothing about itself');
  let latencyMs = Infinity;
  // The first one may wait for something else.
  for (let count = 0; count < QUESTIONS; count += 1) {
    const began = performance.now();
    await sql`select 1`.execute(db);
    latencyMs = Math.min(latencyMs, performance.now() - began);
  }
  return {
    version: `PostgreSQL ${row.version.split(' ', 1)[0] ?? ''}`,
    latencyMs,
    tls: row.tls,
    connections: { used: row.used, most: row.most },
  };
}
