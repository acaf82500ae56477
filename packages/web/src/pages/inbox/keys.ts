/** What a key of an answer does. It answers only what the person saw when pressing it. */

import {
  type AnswerKey,
  type AnswerKind,
  answerFor,
  answerWords,
  isRepeat,
} from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { canBeSeen } from '../../parts/moment.ts';
import type { Toast } from '../../parts/shown-toasts.ts';
import type { Row } from './rows.ts';

interface KeyFacts {
  readonly key: AnswerKey;
  readonly last: AnswerKey | undefined;
  readonly row: Row | undefined;
  /** The task of a link, for which the list is read again. */
  readonly wanted: string | undefined;
  /** When the page opened a line in place of one that was answered elsewhere. */
  readonly movedAtMs: number | undefined;
}

type KeyDecision =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'pressed' }
  | { readonly kind: 'said'; readonly text: string };

export function decideKey({ key, last, row, wanted, movedAtMs }: KeyFacts): KeyDecision {
  if (isRepeat(last, key)) return { kind: 'ignored' };
  if (row === undefined)
    return wanted === undefined
      ? { kind: 'ignored' }
      : { kind: 'said', text: `The inbox is still being read for ${wanted}. Try again in a moment.` };
  if (movedAtMs !== undefined && !canBeSeen(movedAtMs, key.atMs))
    return { kind: 'said', text: `${row.need.task} is open now. Press ${key.key} again to answer it.` };
  return { kind: 'pressed' };
}

/** What is known of what an answer is about: `moved` if its branch has a newer commit than the one that was shown. */
export type Reading = 'reading' | 'moved' | 'ready';

interface ReadingFacts {
  /** The server said what the answer is about. */
  readonly isKnown: boolean;
  /** The commit that was shown first. */
  readonly readHead: string | undefined;
  readonly head: string | undefined;
}

export function readingOf({ isKnown, readHead, head }: ReadingFacts): Reading {
  if (!isKnown) return 'reading';
  return readHead !== undefined && head !== undefined && readHead !== head ? 'moved' : 'ready';
}

interface ChoiceFacts {
  readonly row: Row;
  readonly reading: Reading;
  /** The commit that is shown. */
  readonly head: string | undefined;
}

export type Choice =
  /** It takes a text, or a question before it. */
  | { readonly kind: 'asked'; readonly answer: AnswerKind }
  | { readonly kind: 'given'; readonly answer: AnswerKind }
  | { readonly kind: 'said'; readonly toast: Toast };

export function decideChoice(answer: AnswerKind, { row, reading, head }: ChoiceFacts): Choice {
  const { task, kind } = row.need;
  if (row.isGone) return said(`${task} was answered elsewhere.`);
  if (answer === 'cancel') return { kind: 'asked', answer };
  if (reading === 'reading') return said(`${task} is still being read. Try again in a moment.`);
  if (reading === 'moved') return said(`${task} has a newer commit. Look at it first.`);
  if (answer === 'approve' && kind === 'review' && head === undefined) {
    const text = `The change of ${task} cannot be shown, so it cannot be approved here.`;
    return { kind: 'said', toast: { text, isProblem: true } };
  }
  return { kind: answerWords[answer].asks === undefined ? 'given' : 'asked', answer };
}

interface PressFacts extends ChoiceFacts {
  /** A person is typing an answer to it. */
  readonly isTyped: boolean;
}

/** While there is a text, a key leads back to it. */
export function decidePress(key: string, facts: PressFacts): Choice | { readonly kind: 'back' } {
  if (facts.isTyped) return { kind: 'back' };
  const { need } = facts.row;
  const answer = answerFor(need, key);
  return answer === undefined ? said(`${key} is no answer to ${need.task}.`) : decideChoice(answer, facts);
}

function said(text: string): Choice {
  return { kind: 'said', toast: { text } };
}
