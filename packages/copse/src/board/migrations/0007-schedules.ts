/** Tasks know the run of a schedule or a trigger that made them; deliveries of triggers count once. */

import type { Kysely } from 'kysely';

import type { ColumnTypes } from '../sql/schema.ts';

export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('tasks').addColumn('job', text).execute();
  await db.schema.createIndex('tasks_job').on('tasks').columns(['job', 'created_at']).execute();
  await db.schema
    .createTable('deliveries')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('data', text, (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
}
