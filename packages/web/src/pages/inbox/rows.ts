/**
 * Which lines the inbox has, in which order, and which of them is open.
 *
 * - What comes meanwhile is appended, so that nothing moves under a hand.
 * - A need that was answered here is hidden, as long as the list may be older than the answer.
 * - A need that was answered elsewhere keeps its line while a person types an answer to it.
 * - The open line stays open while it is there. Then another line of its task is opened, or the one in its place.
 */

import { keyOf } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import type { Need } from './answering.ts';
import type { FieldMap } from './fields.ts';

export interface Row {
  readonly key: string;
  readonly need: Need;
  /** It was answered elsewhere; the text that was typed is what is left of it. */
  readonly isGone: boolean;
}

interface RowFacts {
  readonly listed: readonly Need[];
  /** The keys of before. */
  readonly order: readonly string[];
  readonly fields: FieldMap;
}

/** With those that are hidden, which keep their place. */
export function allRows({ listed, order, fields }: RowFacts): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const need of listed) rows.set(keyOf(need), { key: keyOf(need), need, isGone: false });
  for (const [key, { about }] of fields)
    if (!rows.has(key)) rows.set(key, { key, need: about.need, isGone: true });
  const known = order.flatMap((key) => rows.get(key) ?? []);
  const isKnown = new Set(order);
  return [...known, ...[...rows.values()].filter(({ key }) => !isKnown.has(key))];
}

export interface Selection {
  readonly key: string | undefined;
  readonly place: number;
  /** The task that a link asked for, until a list of now was seen. */
  readonly wanted: string | undefined;
}

interface SelectionFacts {
  readonly rows: readonly Row[];
  /** The list was asked for after the page was opened. */
  readonly isCurrent: boolean;
  /** It was answered here, so the next line was to be opened. */
  readonly isAnsweredHere: (key: string) => boolean;
}

export interface Selected {
  readonly selection: Selection;
  /** -1 if no line is open. */
  readonly index: number;
  /** What to say: the page opened another line than the person did. */
  readonly said?: string;
}

export function decideSelection(
  before: Selection,
  { rows, isCurrent, isAnsweredHere }: SelectionFacts,
): Selected {
  const { key, place } = before;
  const of = (task: string | undefined) => rows.findIndex(({ need }) => need.task === task);
  const at = (index: number, said?: string): Selected => ({
    index,
    selection: {
      key: rows[index]?.key,
      place: Math.max(0, index),
      wanted: isCurrent ? undefined : before.wanted,
    },
    ...(said !== undefined && { said }),
  });
  const isSame = rows.findIndex((row) => row.key === key);
  if (before.wanted !== undefined) {
    const found = isSame !== -1 ? isSame : of(before.wanted);
    if (found !== -1 || !isCurrent) return at(found);
    return at(rows.length === 0 ? -1 : 0, `${before.wanted} does not wait for you now.`);
  }
  if (isSame !== -1) return at(isSame);
  const inPlace = Math.min(place, rows.length - 1);
  if (key === undefined || isAnsweredHere(key)) return at(inPlace);
  const task = key.split(' ', 1)[0];
  const again = of(task);
  return at(again === -1 ? inPlace : again, `${task} was answered elsewhere.`);
}
