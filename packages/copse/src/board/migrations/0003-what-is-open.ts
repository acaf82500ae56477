/** Partial indexes, so that the orchestrator's queries do not slow down with finished tasks. */

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
