/**
 * The tables of a board, the same on SQLite and PostgreSQL.
 *
 * `data` holds a record as JSON text; the other columns repeat the values that queries need. JSON text keeps every string
 * exactly (NUL and lone surrogates are escaped), which neither PostgreSQL's `text` nor its `jsonb` does.
 */

import type { Expression, Kysely } from 'kysely';

import type { RecordKind } from '../rules/event.ts';

interface Row {
  id: string;
  data: string;
}

interface TaskRow extends Row {
  /** JSON text; apart from `data` so that lists need not read it. */
  body: string;
  status: string;
  /** 1 when done or cancelled. */
  finished: number;
  priority: number;
  plan: string | null;
  agent: string | null;
  work_item: string | null;
  not_before: number;
  /** The only node that may take it. */
  move_to: string | null;
  /** Of a task that a schedule or a trigger made. */
  job: string | null;
  created_at: number;
  updated_at: number;
}

interface OfTask extends Row {
  task: string;
  created_at: number;
}

export interface BoardTables {
  /** One row. `last_event` numbers events without gaps, in the order of commits. */
  board: { id: string; version: number; created_at: number; last_event: number };
  tasks: TaskRow;
  dependencies: { task: string; depends_on: string };
  requirements: { task: string; capability: string };
  leases: { task: string; token: number; renewed_at: number; expires_at: number };
  plans: Row & { created_at: number };
  sessions: OfTask & { agent: string; work_item: string | null; life: string };
  attempts: OfTask & { session: string; ended: number };
  workspaces: OfTask & { disposition: string };
  ledger: OfTask;
  artifacts: OfTask;
  events: { number: number; at: number; type: string; subject: string; task: string | null; data: string };
  landings: OfTask & { target: string; status: string };
  checks: Row & {
    tree: string;
    command: string;
    environment: string;
    verdict: string | null;
    created_at: number;
  };
  queues: Row & { created_at: number };
  nodes: Row & { created_at: number; seen_at: number | null };
  resources: Row & { holder: string | null; held_until: number | null; created_at: number };
  items: OfTask & { source: string };
  schedules: Row & { agent: string; next_at: number | null; created_at: number };
  deliveries: Row & { created_at: number };
  answers: {
    /** The digest of the key. */
    id: string;
    /** The digest of the operation and its input. */
    input: string;
    /** The request that carries it out. */
    owner: string;
    begun_at: number;
    /** 1 when a transaction of the request was committed. */
    used: number;
    status: number | null;
    body: string | null;
    bytes: number;
  };
}

export type Queries = Kysely<BoardTables>;
/** The queries of a transaction. */
export type WriteTransaction = Queries;

export const tableOf = {
  task: 'tasks',
  plan: 'plans',
  session: 'sessions',
  attempt: 'attempts',
  workspace: 'workspaces',
  landing: 'landings',
  check: 'checks',
  queue: 'queues',
  ledger: 'ledger',
  artifact: 'artifacts',
  node: 'nodes',
  resource: 'resources',
  schedule: 'schedules',
  delivery: 'deliveries',
  item: 'items',
} as const satisfies Record<RecordKind, keyof BoardTables>;

/** Column types that differ between the engines. */
export interface ColumnTypes {
  /** Compared byte by byte on both engines, so that order never depends on a locale. */
  readonly text: Expression<unknown>;
  /** A primary key that counts; on SQLite this wording makes it the table's own order. */
  readonly counter: Expression<unknown>;
  /** Added to tables that consist only of their key. */
  readonly keyed: Expression<unknown>;
}
