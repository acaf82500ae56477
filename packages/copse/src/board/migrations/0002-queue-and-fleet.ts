/** The merge queue, and the tables for several machines. */

import type { Kysely } from 'kysely';

import type { ColumnTypes } from '../sql/schema.ts';

export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  const records = (name: string) =>
    db.schema
      .createTable(name)
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('data', text, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull());

  await records('landings')
    .addColumn('task', text, (column) => column.notNull())
    .addColumn('target', text, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('landings_task').on('landings').columns(['task', 'created_at']).execute();
  await db.schema.createIndex('landings_queue').on('landings').columns(['target', 'status']).execute();

  await records('checks')
    .addColumn('tree', text, (column) => column.notNull())
    .addColumn('command', text, (column) => column.notNull())
    .addColumn('environment', text, (column) => column.notNull())
    .addColumn('verdict', text)
    .execute();
  await db.schema.createIndex('checks_tree').on('checks').column('tree').execute();

  await records('nodes').addColumn('seen_at', 'bigint').execute();
  await records('resources').addColumn('holder', text).addColumn('held_until', 'bigint').execute();
  await records('schedules')
    .addColumn('agent', text, (column) => column.notNull())
    .addColumn('next_at', 'bigint')
    .execute();
}
