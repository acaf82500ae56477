/**
 * A work item of a source that became a task: one item, one task. Its id is made of the source's name and the item's own id,
 * so that two machines that see one item write one record.
 *
 *   taken → (changed | linked | closed ⇄ reopened | reported)*
 *
 * The task's own events are the wish to report: a report is due as long as the task's phase is not the reported one
 * (report.ts). The record says which phase was reported last, and in which comment.
 */

import { type EventHead, existing, mustBeNew } from '../../kernel/evolution.ts';
import { type ItemId, type TaskId, type Timestamp, brand } from '../../kernel/ids.ts';
import { unreachable } from '../../kernel/unreachable.ts';

export type ReportPhase = 'queued' | 'working' | 'waiting' | 'review' | 'done' | 'cancelled';

interface ItemReport {
  readonly phase: ReportPhase;
  readonly at: Timestamp;
  /** The id of the comment at the source; null: the source has none. */
  readonly comment: string | null;
}

export interface Item {
  readonly id: ItemId;
  readonly source: string;
  /** Its id at the source. */
  readonly item: string;
  readonly url: string | null;
  /** As last seen at the source. */
  readonly title: string;
  /** Of the title and the text as last seen: see `textMark`. */
  readonly mark: string;
  /** Of the title and the text that its task was given. */
  readonly given: string;
  readonly isClosed: boolean;
  /** Who asked for the work there, such as the person who set the label; null: unknown. */
  readonly by: string | null;
  readonly author: string | null;
  /** Items of the same source whose tasks its task was made to depend on. */
  readonly dependsOn: readonly string[];
  readonly task: TaskId;
  readonly takenAt: Timestamp;
  /** When the text changed at the source and its task did not follow; null: its task has the text. */
  readonly changedAt: Timestamp | null;
  readonly report: ItemReport | null;
}

type Of<T extends string> = EventHead<T, ItemId>;

export type ItemEvent =
  | (Of<'item.taken'> &
      Pick<Item, 'source' | 'item' | 'url' | 'title' | 'mark' | 'by' | 'author' | 'dependsOn' | 'task'>)
  /** `isGiven`: its task has the new text. */
  | (Of<'item.changed'> & Pick<Item, 'title' | 'mark'> & { readonly isGiven: boolean })
  | (Of<'item.linked'> & Pick<Item, 'dependsOn'>)
  | Of<'item.closed'>
  | Of<'item.reopened'>
  | (Of<'item.reported'> & Pick<ItemReport, 'phase' | 'comment'>);

export function evolveItem(item: Item | undefined, event: ItemEvent): Item {
  if (event.type === 'item.taken') {
    mustBeNew(item, event);
    const { type: _, at, mark, ...seen } = event;
    const nothing = { isClosed: false, changedAt: null, report: null };
    return { ...seen, mark, given: mark, ...nothing, takenAt: at };
  }
  return { ...existing(item, event), ...changed(event) };
}

function changed(event: Exclude<ItemEvent, { type: 'item.taken' }>): Partial<Item> {
  switch (event.type) {
    case 'item.changed': {
      const { title, mark, isGiven, at } = event;
      return { title, mark, changedAt: isGiven ? null : at, ...(isGiven && { given: mark }) };
    }
    case 'item.linked':
      return { dependsOn: event.dependsOn };
    case 'item.closed':
      return { isClosed: true };
    case 'item.reopened':
      return { isClosed: false };
    case 'item.reported':
      return { report: { phase: event.phase, at: event.at, comment: event.comment } };
    default:
      return unreachable(event);
  }
}

/** Only characters that ids may have: every other one becomes `_` and the digits of its UTF-8 bytes. */
export function itemKey(source: string, item: string): ItemId {
  return brand<ItemId>(`${encoded(source)}:${encoded(item)}`);
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll(/[_!~*'()]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
    .replaceAll('%', '_');
}

/** Tells texts apart that differ by accident. Nothing is trusted because of it. */
export function textMark(title: string, body: string): string {
  let [high, low] = [0xde_ad_be_ef, 0x41_c6_ce_57];
  const text = `${title}\0${body}`;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
