/**
 * Answers that a person is typing, by need. A text is bound to what was on the page when its field was opened, and stays until it
 * is sent or the person leaves it: also while another line is open, or another page.
 */

import { type AnswerKind, keyOf } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import type { ShownNeed } from './answering.ts';

export interface Field {
  readonly about: ShownNeed;
  readonly answer: AnswerKind;
  readonly text: string;
}

export type FieldMap = ReadonlyMap<string, Field>;

export function withField(fields: FieldMap, about: ShownNeed, answer: AnswerKind): FieldMap {
  return new Map(fields).set(keyOf(about.need), { about, answer, text: '' });
}

export function withText(fields: FieldMap, key: string, text: string): FieldMap {
  const field = fields.get(key);
  return field === undefined ? fields : new Map(fields).set(key, { ...field, text });
}

export function withoutField(fields: FieldMap, key: string): FieldMap {
  return new Map([...fields].filter(([other]) => other !== key));
}

/** When the line of `key` is opened, fields of other lines in which nothing was typed are closed. */
export function withoutEmptyFields(fields: FieldMap, key: string): FieldMap {
  return new Map([...fields].filter(([other, { text }]) => other === key || text.trim() !== ''));
}

export function hasTypedText(fields: FieldMap): boolean {
  return [...fields.values()].some(({ text }) => text.trim() !== '');
}
