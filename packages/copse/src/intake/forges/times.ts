/** Times in answers. */

import { type Timestamp, timestamp } from '../../kernel/ids.ts';
import { stringIn } from '../../review/forges/api.ts';

/** Null: there is none that can be read. */
export function timeIn(value: unknown, name: string): Timestamp | null {
  const ms = Date.parse(stringIn(value, name) ?? '');
  return Number.isFinite(ms) ? timestamp(ms) : null;
}
