/**
 * An index by event type, for the usage of sessions. Older sessions have no known usage and no question.
 */

import type { Kysely } from 'kysely';

import type { BoardTables } from '../sql/schema.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('events_type').on('events').columns(['type', 'number']).execute();
  const sessions = db as Kysely<Pick<BoardTables, 'sessions'>>;
  for (const { id, data } of await sessions.selectFrom('sessions').select(['id', 'data']).execute()) {
    const session = JSON.parse(data) as Readonly<Record<string, unknown>>;
    if ('usage' in session && 'question' in session) continue;
    const usage = { input: 0, cached: 0, output: 0, dollars: null };
    const filled = JSON.stringify({ usage, question: null, ...session });
    await sessions.updateTable('sessions').set({ data: filled }).where('id', '=', id).execute();
  }
}
