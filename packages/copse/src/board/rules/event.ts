/**
 * All events of the board in one union, and the function that applies an event to its record.
 *
 * An event's type is `<kind>.<verb>`: the kind of its record; `id` names the record. A record is the result of `evolve`
 * over its events, in order; `replay` uses nothing else.
 */

import { type Attempt, type AttemptEvent, evolveAttempt } from '../../tasks/rules/attempt.ts';
import { type CheckEvent, type Check, evolveCheck } from '../../queue/rules/check.ts';
import { type Delivery, type DeliveryEvent, evolveDelivery } from '../../intake/rules/delivery.ts';
import { type Resource, type ResourceEvent, evolveResource } from '../../machines/rules/fleet.ts';
import { type Schedule, type ScheduleEvent, evolveSchedule } from '../../intake/rules/schedule.ts';
import { type Item, type ItemEvent, evolveItem } from '../../intake/rules/item.ts';
import { type Node, type NodeEvent, evolveNode, readNode } from '../../machines/rules/node.ts';
import type { EventNumber, FencingToken, NodeId, SessionId } from '../../kernel/ids.ts';
import { type Landing, type LandingEvent, evolveLanding, readLanding } from '../../queue/rules/landing.ts';
import {
  type Artifact,
  type ArtifactEvent,
  type LedgerEntry,
  type LedgerEvent,
  evolveArtifact,
  evolveLedger,
} from '../../tasks/rules/ledger.ts';
import {
  type MergeQueue,
  type MergeQueueEvent,
  evolveQueue,
  readQueue,
} from '../../queue/rules/merge-queue.ts';
import { type Plan, type PlanEvent, evolvePlan } from '../../tasks/rules/plan.ts';
import { type Session, type SessionEvent, evolveSession } from '../../agents/rules/session/session.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { type TaskEvent, evolveTask } from '../../tasks/rules/events.ts';
import { type Workspace, type WorkspaceEvent, evolveWorkspace } from '../../workspaces/rules/workspace.ts';

export interface Records {
  readonly task: Task;
  readonly plan: Plan;
  readonly session: Session;
  readonly attempt: Attempt;
  readonly workspace: Workspace;
  readonly landing: Landing;
  readonly check: Check;
  readonly queue: MergeQueue;
  readonly ledger: LedgerEntry;
  readonly artifact: Artifact;
  readonly node: Node;
  readonly resource: Resource;
  readonly schedule: Schedule;
  readonly delivery: Delivery;
  readonly item: Item;
}

interface Events {
  readonly task: TaskEvent;
  readonly plan: PlanEvent;
  readonly session: SessionEvent;
  readonly attempt: AttemptEvent;
  readonly workspace: WorkspaceEvent;
  readonly landing: LandingEvent;
  readonly check: CheckEvent;
  readonly queue: MergeQueueEvent;
  readonly ledger: LedgerEvent;
  readonly artifact: ArtifactEvent;
  readonly node: NodeEvent;
  readonly resource: ResourceEvent;
  readonly schedule: ScheduleEvent;
  readonly delivery: DeliveryEvent;
  readonly item: ItemEvent;
}

export type RecordKind = keyof Records;
export type AnyRecord = Records[RecordKind];
export type BoardEvent = Events[RecordKind];
export type EventType = BoardEvent['type'];

type Evolve = {
  readonly [K in RecordKind]: (record: Records[K] | undefined, event: Events[K]) => Records[K] | undefined;
};

const evolveByKind: Evolve = {
  task: evolveTask,
  plan: evolvePlan,
  session: evolveSession,
  attempt: evolveAttempt,
  workspace: evolveWorkspace,
  landing: evolveLanding,
  check: evolveCheck,
  queue: evolveQueue,
  ledger: evolveLedger,
  artifact: evolveArtifact,
  node: evolveNode,
  resource: evolveResource,
  schedule: evolveSchedule,
  delivery: evolveDelivery,
  item: evolveItem,
};

/** Records whose stored fields once had another shape. */
const readByKind: { readonly [K in RecordKind]?: (stored: Records[K]) => Records[K] } = {
  landing: readLanding,
  node: readNode,
  queue: readQueue,
};

/** A record as a board stores it, in its present shape. */
export function readRecord<K extends RecordKind>(kind: K, stored: Records[K]): Records[K] {
  return readByKind[kind]?.(stored) ?? stored;
}

export const recordKinds = Object.keys(evolveByKind) as readonly RecordKind[];

export function isRecordKind(text: string): text is RecordKind {
  return Object.hasOwn(evolveByKind, text);
}

export function kindOf(event: BoardEvent): RecordKind {
  const kind = event.type.slice(0, event.type.indexOf('.'));
  if (!isRecordKind(kind)) throw new Error(`${event.type} has no kind of record`);
  return kind;
}

/** Applies an event to its record; undefined when the event deletes it. */
export function evolve(record: AnyRecord | undefined, event: BoardEvent): AnyRecord | undefined {
  // The kinds of event and record agree, which the type checker cannot see.
  const evolveOne = evolveByKind[kindOf(event)] as (
    record: AnyRecord | undefined,
    event: BoardEvent,
  ) => AnyRecord | undefined;
  return evolveOne(record, event);
}

/** Who caused an event. */
export type Author =
  | { readonly kind: 'person'; readonly name: string | null }
  | { readonly kind: 'session'; readonly session: SessionId; readonly token: FencingToken }
  | { readonly kind: 'node'; readonly node: NodeId };

/** A stored event. Numbers have no gaps and grow in the order of commits. */
export interface RecordedEvent {
  readonly number: EventNumber;
  readonly by: Author;
  readonly event: BoardEvent;
}

/** Every record, by kind and id, computed from the events alone. */
export type World = { readonly [K in RecordKind]: ReadonlyMap<string, Records[K]> };

export function replay(events: Iterable<BoardEvent>): World {
  const world = Object.fromEntries(recordKinds.map((kind) => [kind, new Map<string, AnyRecord>()])) as Record<
    RecordKind,
    Map<string, AnyRecord>
  >;
  for (const event of events) {
    const records = world[kindOf(event)];
    const next = evolve(records.get(event.id), event);
    if (next === undefined) records.delete(event.id);
    else records.set(event.id, next);
  }
  return world as unknown as World;
}
