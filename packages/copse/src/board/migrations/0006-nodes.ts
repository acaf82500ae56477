/** Nodes tell what they can do, drain and have names; a task may be moved to one of them. */

import type { Kysely } from 'kysely';

import type { BoardTables, ColumnTypes } from '../sql/schema.ts';

export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('tasks').addColumn('move_to', text).execute();
  const nodes = db as Kysely<Pick<BoardTables, 'nodes'>>;
  for (const { id, data } of await nodes.selectFrom('nodes').select(['id', 'data']).execute()) {
    const node = JSON.parse(data) as object;
    const filled = JSON.stringify({ facts: null, clockOffsetMs: null, drain: null, ...node });
    await nodes.updateTable('nodes').set({ data: filled }).where('id', '=', id).execute();
  }
}
