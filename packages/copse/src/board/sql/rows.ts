/** Converts records to rows and back. */

import type { Insertable } from 'kysely';

import { type AnyRecord, type RecordKind, type Records, readRecord } from '../rules/event.ts';
import { type TaskSummary, type WorkItem, isFinished, jobOf } from '../../tasks/rules/task.ts';
import type { BoardTables, tableOf } from './schema.ts';

type RowOf<K extends RecordKind> = Insertable<BoardTables[(typeof tableOf)[K]]>;

type ToRow = { readonly [K in RecordKind]: (record: Records[K]) => RowOf<K> };

const toRowByKind: ToRow = {
  task({ body, ...summary }) {
    const { state } = summary;
    return {
      ...document(summary),
      body: JSON.stringify(body),
      status: state.status,
      finished: isFinished(state.status) ? 1 : 0,
      priority: summary.priority,
      plan: summary.plan,
      agent: summary.agent,
      work_item: summary.workItem && workItemKey(summary.workItem),
      not_before: state.status === 'ready' && state.delay !== null ? state.delay.until : 0,
      move_to: summary.moveTo?.node ?? null,
      job: jobOf(summary.origin),
      created_at: summary.createdAt,
      updated_at: summary.updatedAt,
    };
  },
  plan: (plan) => ({ ...document(plan), created_at: plan.createdAt }),
  session: (session) => ({
    ...document(session),
    task: session.task,
    agent: session.agent,
    work_item: session.workItem,
    life: session.state.life,
    created_at: session.startedAt,
  }),
  attempt: (attempt) => ({
    ...document(attempt),
    task: attempt.task,
    session: attempt.session,
    ended: attempt.end === null ? 0 : 1,
    created_at: attempt.startedAt,
  }),
  workspace: (workspace) => ({
    ...document(workspace),
    task: workspace.task,
    disposition: workspace.disposition.is,
    created_at: workspace.preparedAt,
  }),
  landing: (landing) => ({
    ...document(landing),
    task: landing.task,
    target: landing.target,
    status: landing.state.status,
    created_at: landing.queuedAt,
  }),
  check: (check) => ({
    ...document(check),
    tree: check.tree,
    command: check.command,
    environment: check.environment,
    verdict: check.end?.verdict ?? null,
    created_at: check.startedAt,
  }),
  queue: (queue) => ({ ...document(queue), created_at: 0 }),
  ledger: (entry) => ({ ...document(entry), task: entry.task, created_at: entry.at }),
  artifact: (artifact) => ({ ...document(artifact), task: artifact.task, created_at: artifact.at }),
  node: (node) => ({ ...document(node), created_at: node.joinedAt }),
  resource: (resource) => ({
    ...document(resource),
    holder: resource.holder,
    held_until: resource.heldUntil,
    created_at: resource.since,
  }),
  schedule: (schedule) => ({
    ...document(schedule),
    agent: schedule.agent,
    next_at: schedule.nextAt,
    created_at: 0,
  }),
  delivery: (delivery) => ({ ...document(delivery), created_at: delivery.at }),
  item: (item) => ({ ...document(item), task: item.task, source: item.source, created_at: item.takenAt }),
};

export function toRow<K extends RecordKind>(kind: K, record: Records[K]): RowOf<K> {
  return toRowByKind[kind](record);
}

export function fromRow<K extends RecordKind>(kind: K, row: { data: string; body?: string }): Records[K] {
  const record = JSON.parse(row.data) as Records[K];
  if (kind === 'task') return { ...record, body: JSON.parse(row.body ?? '""') as string };
  return readRecord(kind, record);
}

/** One work item becomes one task: the column is unique. */
export function workItemKey({ source, id }: Pick<WorkItem, 'source' | 'id'>): string {
  return JSON.stringify([source, id]);
}

/** Parses all rows at once, which is several times faster than one by one. */
export function summariesFromRows(rows: readonly { data: string }[]): readonly TaskSummary[] {
  return JSON.parse(`[${rows.map((row) => row.data).join(',')}]`) as readonly TaskSummary[];
}

/** The task of a record; for a task, its own id. */
export function taskOf(kind: RecordKind, record: AnyRecord | undefined): string | null {
  if (record === undefined) return null;
  if (kind === 'task') return record.id;
  return 'task' in record ? record.task : null;
}

function document(record: { readonly id: string }): { id: string; data: string } {
  return { id: record.id, data: JSON.stringify(record) };
}
