/**
 * Records and data of events as programs read them, and back: times are ISO 8601, priorities p1 to p5. Times are recognised by
 * their names (`at`, `since`, `until`, `…At`, `…Until`), which is a rule of the product.
 */

import type { BoardEvent } from '../../board/rules/event.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { time } from '../../kernel/time.ts';
import { type Priority, formatPriority, parsePriority } from '../../tasks/rules/priority.ts';

const TIME = /^(at|until|since)$|(At|Until)$/;
const ISO = /^[+-]?\d{4,6}-\d\d-\d\dT[\d:.]+Z$/;

export function dataView(value: unknown, key = ''): unknown {
  if (typeof value !== 'number') return within(value, dataView);
  if (key === 'priority') return formatPriority(value as Priority);
  return TIME.test(key) ? time(value as Timestamp) : value;
}

/** The reverse of `dataView`. */
export function readDataView(value: unknown, key = ''): unknown {
  if (typeof value !== 'string') return within(value, readDataView);
  if (key === 'priority') return parsePriority(value) ?? value;
  return TIME.test(key) && ISO.test(value) ? Date.parse(value) : value;
}

/** An event as streams and pages of events have it. */
export interface ViewedEvent {
  readonly type: string;
  readonly id: string;
  readonly at: string;
  readonly data: object;
}

export function readEventView({ type, id, at, data }: ViewedEvent): BoardEvent {
  return { ...(readDataView(data) as object), type, id, at: Date.parse(at) } as BoardEvent;
}

function within(value: unknown, convert: (value: unknown, key?: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => convert(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, convert(inner, name)]));
}
