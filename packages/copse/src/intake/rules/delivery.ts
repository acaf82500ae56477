/** A delivery to a trigger from outside: recorded with what it caused, so that a replay causes nothing. */

import { type EventHead, mustBeNew } from '../../kernel/evolution.ts';
import type { DeliveryId, TaskId, Timestamp } from '../../kernel/ids.ts';

export interface Delivery {
  readonly id: DeliveryId;
  readonly trigger: string;
  readonly at: Timestamp;
  /** The task that it made; null: it only woke the source. */
  readonly task: TaskId | null;
  /** The source that is read at once because of it. */
  readonly source: string | null;
}

export type DeliveryEvent = EventHead<'delivery.received', DeliveryId> &
  Pick<Delivery, 'trigger' | 'task' | 'source'>;

export function evolveDelivery(delivery: Delivery | undefined, event: DeliveryEvent): Delivery {
  mustBeNew(delivery, event);
  const { id, trigger, at, task, source } = event;
  return { id, trigger, at, task, source };
}
