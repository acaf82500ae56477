/**
 * Migrations for both engines. A board's version is the number of migrations applied. A released migration is never
 * edited; a new one corrects it, and comes with sample data of the version before it
 * (test/board/contract/migrations.test.ts).
 */

import type { Kysely } from 'kysely';

import type { ColumnTypes } from '../sql/schema.ts';
import * as records from './0001-records.ts';
import * as queueAndFleet from './0002-queue-and-fleet.ts';
import * as whatIsOpen from './0003-what-is-open.ts';
import * as whatSessionsUse from './0004-what-sessions-use.ts';
import * as mergeQueues from './0005-merge-queues.ts';
import * as nodes from './0006-nodes.ts';
import * as schedules from './0007-schedules.ts';
import * as items from './0008-items.ts';
import * as keptAnswers from './0009-kept-answers.ts';
import type { migratedVersion } from './version.ts';

type Migration = (db: Kysely<unknown>, types: ColumnTypes) => Promise<void>;

const all = [
  records.up,
  queueAndFleet.up,
  whatIsOpen.up,
  whatSessionsUse.up,
  mergeQueues.up,
  nodes.up,
  schedules.up,
  items.up,
  keptAnswers.up,
] as const;

export const migrations: readonly Migration[] = all satisfies { readonly length: typeof migratedVersion };
