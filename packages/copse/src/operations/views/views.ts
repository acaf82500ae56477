/** What `--json` prints about tasks, plans and events. Times are ISO 8601, priorities p1 to p5. */

import { unreachable } from '../../kernel/unreachable.ts';
import type { Author, RecordedEvent } from '../../board/rules/event.ts';
import type { Artifact, LedgerEntry } from '../../tasks/rules/ledger.ts';
import type { Plan } from '../../tasks/rules/plan.ts';
import { formatPriority } from '../../tasks/rules/priority.ts';
import { type PullRequest, addressOf } from '../../review/rules/pull-request.ts';
import type { Task, TaskStatus, TaskSummary } from '../../tasks/rules/task.ts';
import { time } from '../../kernel/time.ts';
import { dataView } from './data-view.ts';

/** `waiting`: why it does not land, if the caller looked that up. */
export function taskView(task: TaskSummary | Task, waiting: string | null = null) {
  const { state } = task;
  return {
    id: task.id,
    title: task.title,
    ...('body' in task && { body: task.body }),
    status: state.status,
    since: time(state.since),
    reason: 'reason' in state ? state.reason : null,
    waiting,
    pullRequest: state.status === 'in_review' ? pullRequestView(state.pullRequest) : null,
    worker: workerView(state),
    priority: formatPriority(task.priority),
    kind: task.kind,
    dependsOn: task.dependsOn,
    areas: task.areas,
    requires: task.requires,
    plan: task.plan,
    agent: task.agent,
    accept: task.accept,
    workItem: task.workItem,
    session: task.session,
    addedBy: task.addedBy?.task ?? null,
    origin: task.origin ?? null,
    moveTo: task.moveTo?.name ?? null,
    retries: task.retries,
    notBefore: state.status === 'ready' && state.delay ? time(state.delay.until) : null,
    createdAt: time(task.createdAt),
    updatedAt: time(task.updatedAt),
  };
}

function pullRequestView(pullRequest: PullRequest | null) {
  if (pullRequest === null) return null;
  const { is: state, branch, target, note } = pullRequest;
  const isOpen = pullRequest.is === 'open';
  return {
    state,
    url: addressOf(pullRequest),
    branch,
    target,
    review: isOpen ? pullRequest.review : null,
    conflicts: isOpen && pullRequest.hasConflict,
    note,
  };
}

/** Who is working on it. */
function workerView(state: TaskSummary['state']) {
  if (state.status !== 'in_progress') return null;
  const { agent, node, isByHand = false } = state.claim;
  return { agent, node, isByHand };
}

interface PlanProgress {
  readonly total: number;
  readonly byStatus: Readonly<Partial<Record<TaskStatus, number>>>;
}

function progressOf(tasks: readonly TaskSummary[]): PlanProgress {
  const byStatus: Partial<Record<TaskStatus, number>> = {};
  for (const { state } of tasks) byStatus[state.status] = (byStatus[state.status] ?? 0) + 1;
  return { total: tasks.length, byStatus };
}

export function planView(plan: Plan, tasks: readonly TaskSummary[]) {
  return {
    id: plan.id,
    title: plan.title,
    body: plan.body,
    progress: progressOf(tasks),
    landed: tasks.flatMap(landedView),
    tasks: tasks.map((task) => taskView(task)),
    createdAt: time(plan.createdAt),
    updatedAt: time(plan.updatedAt),
  };
}

function landedView({ id, state }: TaskSummary) {
  return state.status === 'done' && state.commit !== null
    ? [{ task: id, commit: state.commit, at: time(state.since) }]
    : [];
}

export function ledgerView(entry: LedgerEntry) {
  return { ...entry, at: time(entry.at) };
}

export function artifactView(artifact: Artifact) {
  return { ...artifact, at: time(artifact.at) };
}

export function eventView({ number, by, event }: RecordedEvent) {
  const { type, id, at, ...data } = event;
  return { number, at: time(at), type, id, by: authorView(by), data: dataView(data) as typeof data };
}

function authorView(by: Author): string {
  switch (by.kind) {
    case 'person':
      return by.name === null ? 'person' : `person:${by.name}`;
    case 'session':
      return `session:${by.session}`;
    case 'node':
      return `node:${by.node}`;
    default:
      return unreachable(by);
  }
}
