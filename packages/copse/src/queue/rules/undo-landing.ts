/**
 * Undoing a landing: a new task reverts it, with a branch that is finished when the task is created. History keeps the
 * landed commits; the undo lands like any other task and can be undone in turn.
 */

import { type Decision, type Refused, refused } from '../../kernel/decision.ts';
import type { LandingId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Landing, LandingEvent } from './landing.ts';
import type { LedgerEntry } from '../../tasks/rules/ledger.ts';
import type { Task, TaskDefinition, TaskOrigin, TaskStatus } from '../../tasks/rules/task.ts';
import { decideCreate } from '../../tasks/rules/decisions.ts';
import type { TaskEvent } from '../../tasks/rules/events.ts';
import { type Submission, decideSubmit } from '../../tasks/rules/outcomes.ts';

/** How far the undo of a landing is. */
export type Undoing =
  | { readonly kind: 'none' }
  /** In review, in the queue, or waiting for a person. */
  | { readonly kind: 'begun'; readonly by: TaskId; readonly status: TaskStatus }
  | { readonly kind: 'undone'; readonly by: TaskId };

export type UndoingOf = (landing: LandingId) => Undoing;

type Found = { readonly kind: 'found'; readonly landing: Landing } | Refused;

/** The last landing that is not undone: each undo reverts one. */
export function findUndoable(
  task: Pick<Task, 'id' | 'state'>,
  landings: readonly Landing[],
  undoingOf: UndoingOf,
): Found {
  const landed = landings.filter(({ state }) => state.status === 'landed');
  const landing = landed.findLast(({ id }) => undoingOf(id).kind !== 'undone') ?? landed.at(-1);
  const { state } = task;
  if (landing === undefined || state.status !== 'done' || state.how !== 'landed') return notLanded(task);
  const undoing = undoingOf(landing.id);
  return undoing.kind === 'none' ? { kind: 'found', landing } : alreadyUndone(task, undoing);
}

function notLanded({ id, state }: Pick<Task, 'id' | 'state'>): Refused {
  if (state.status === 'done' && state.how === 'pull_request') {
    const reason = `${id} was merged by its pull request: revert it there.`;
    return refused('wrong_status', reason, `copse show ${id}`, `copse add "Undo: …"`);
  }
  const reason =
    state.status === 'done'
      ? `${id} landed no commit, so there is nothing to undo.`
      : `Cannot undo ${id}: it is ${state.status}, and only landed tasks can be undone.`;
  return refused('wrong_status', reason, `copse why ${id}`);
}

function alreadyUndone({ id }: Pick<Task, 'id'>, undoing: Exclude<Undoing, { kind: 'none' }>): Refused {
  const { by } = undoing;
  if (undoing.kind === 'begun') {
    const reason = `${id} is being undone by ${by}, which is ${undoing.status}.`;
    return refused('wrong_status', reason, `copse why ${by}`);
  }
  return refused('wrong_status', `${id} was undone by ${by}.`, `copse undo ${by} # to bring it back`);
}

/** The task that undoes a landing. The latest entry counts: an earlier undo may be cancelled. */
export function undoneBy(ledger: readonly LedgerEntry[], landing: LandingId): TaskId | undefined {
  return ledger.findLast((entry) => entry.undone?.landing === landing)?.undone?.by;
}

/** A task that is finished when it is created. */
export function decideFinished(
  task: {
    readonly id: TaskId;
    readonly definition: TaskDefinition;
    readonly to: Submission;
    readonly origin?: TaskOrigin;
  },
  at: Timestamp,
): Decision<TaskEvent | LandingEvent> {
  const created = decideCreate(task.id, task.definition, () => undefined, at, { origin: task.origin });
  if (created.kind === 'refused') return created;
  const [first, ...rest] = created.events;
  return { kind: 'decided', events: [first, ...rest, ...decideSubmit(task.id, task.to, at)] };
}

export function undoDefinition(task: Task, limit: number): TaskDefinition {
  const title = Array.from(`Undo: ${task.title}`).slice(0, limit).join('');
  const body = `Reverts what ${task.id} landed.`;
  const { priority, areas, plan } = task;
  const nothing = { dependsOn: [], requires: [], accept: [], agent: null, workItem: null };
  return { title, body, priority, kind: 'code', areas, plan, ...nothing };
}
