/** Tasks, their ledger, sessions and workspaces, and the events. */

import { type Kysely, sql } from 'kysely';

import type { ColumnTypes } from '../sql/schema.ts';

export async function up(db: Kysely<unknown>, { text, counter, keyed }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('board')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_event', 'bigint', (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('tasks')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('data', text, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('finished', 'integer', (column) => column.notNull())
    .addColumn('priority', 'integer', (column) => column.notNull())
    .addColumn('plan', text)
    .addColumn('agent', text)
    .addColumn('work_item', text)
    .addColumn('not_before', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('tasks_ready')
    .on('tasks')
    .columns(['priority desc', 'created_at', 'id'])
    .where(sql.ref('status'), '=', sql.lit('ready'))
    .execute();
  await db.schema
    .createIndex('tasks_live')
    .on('tasks')
    .columns(['priority desc', 'created_at', 'id'])
    .where(sql.ref('finished'), '=', sql.lit(0))
    .execute();
  await db.schema
    .createIndex('tasks_finished')
    .on('tasks')
    .columns(['updated_at desc', 'id'])
    .where(sql.ref('finished'), '=', sql.lit(1))
    .execute();
  await db.schema
    .createIndex('tasks_plan')
    .on('tasks')
    .column('plan')
    .where(sql.ref('plan'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('tasks_work_item')
    .unique()
    .on('tasks')
    .column('work_item')
    .where(sql.ref('work_item'), 'is not', null)
    .execute();

  await db.schema
    .createTable('dependencies')
    .addColumn('task', text, (column) => column.notNull())
    .addColumn('depends_on', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('dependencies_pkey', ['task', 'depends_on'])
    .modifyEnd(keyed)
    .execute();
  await db.schema.createIndex('dependencies_reverse').on('dependencies').column('depends_on').execute();

  await db.schema
    .createTable('requirements')
    .addColumn('task', text, (column) => column.notNull())
    .addColumn('capability', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('requirements_pkey', ['task', 'capability'])
    .modifyEnd(keyed)
    .execute();

  await db.schema
    .createTable('leases')
    .addColumn('task', text, (column) => column.primaryKey())
    .addColumn('token', 'bigint', (column) => column.notNull())
    .addColumn('renewed_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .modifyEnd(keyed)
    .execute();

  await db.schema
    .createTable('plans')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('data', text, (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();

  const ofTask = (name: string) =>
    db.schema
      .createTable(name)
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('data', text, (column) => column.notNull())
      .addColumn('task', text, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull());

  await ofTask('sessions')
    .addColumn('agent', text, (column) => column.notNull())
    .addColumn('work_item', text)
    .addColumn('life', text, (column) => column.notNull())
    .execute();
  await ofTask('attempts')
    .addColumn('session', text, (column) => column.notNull())
    .addColumn('ended', 'integer', (column) => column.notNull())
    .execute();
  await ofTask('workspaces')
    .addColumn('disposition', text, (column) => column.notNull())
    .execute();
  await ofTask('ledger').execute();
  await ofTask('artifacts').execute();
  for (const table of ['sessions', 'attempts', 'workspaces', 'ledger', 'artifacts']) {
    await db.schema.createIndex(`${table}_task`).on(table).columns(['task', 'created_at']).execute();
  }

  await db.schema
    .createTable('events')
    .addColumn('number', counter, (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('type', text, (column) => column.notNull())
    .addColumn('subject', text, (column) => column.notNull())
    .addColumn('task', text)
    .addColumn('data', text, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('events_task').on('events').columns(['task', 'number']).execute();
  await db.schema
    .createIndex('events_subject')
    .on('events')
    .column('subject')
    .where(sql.ref('task'), 'is', null)
    .execute();
}
