/** What the orchestrator asks for on every pass must not cost more the more is finished. */

import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('landings_open')
    .on('landings')
    .columns(['status', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('workspaces_open')
    .on('workspaces')
    .columns(['disposition', 'created_at', 'id'])
    .execute();
}
