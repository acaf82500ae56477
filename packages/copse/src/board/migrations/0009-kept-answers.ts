/** Answers to requests that carry a key. They are no records: old ones are deleted, and no export has them. */

import type { Kysely } from 'kysely';

import type { ColumnTypes } from '../sql/schema.ts';

export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('answers')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('input', text, (column) => column.notNull())
    .addColumn('owner', text, (column) => column.notNull())
    .addColumn('begun_at', 'bigint', (column) => column.notNull())
    .addColumn('used', 'integer', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('body', text)
    .addColumn('bytes', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('answers_begun_at').on('answers').column('begun_at').execute();
}
