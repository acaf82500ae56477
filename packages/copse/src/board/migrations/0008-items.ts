/** Work items of sources: one item, one task. */

import type { Kysely } from 'kysely';

import type { ColumnTypes } from '../sql/schema.ts';

export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('items')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('data', text, (column) => column.notNull())
    .addColumn('task', text, (column) => column.notNull())
    .addColumn('source', text, (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('items_task').on('items').column('task').execute();
}
