/**
 * Answers that a person is typing, in the storage of the tab: they outlive a reload, such as the one after an upgrade, and the
 * end of access. Another tab has its own.
 */

import { keyOf } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import type { Field, FieldMap } from './fields.ts';

const KEY = 'copse.answers';

type TextStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** `storage` throws where the browser gives none; then the fields are kept as long as the page. */
export function keepFields(fields: FieldMap, storage: () => TextStorage): void {
  const typed = [...fields.values()].filter(({ text }) => text.trim() !== '');
  try {
    if (typed.length === 0) storage().removeItem(KEY);
    else storage().setItem(KEY, JSON.stringify(typed));
  } catch {
    // The page asks before it is closed.
  }
}

export function keptFields(storage: () => TextStorage): FieldMap {
  try {
    const kept = JSON.parse(storage().getItem(KEY) ?? '[]') as readonly Field[];
    return new Map(kept.map((field) => [keyOf(field.about.need), field]));
  } catch {
    // What another version wrote may have another shape.
    return new Map();
  }
}
