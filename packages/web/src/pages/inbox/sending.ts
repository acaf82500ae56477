/**
 * What became of the answers that were given here: `held` for a moment, then the inbox is `asked` whether the need is still there,
 * then the answer is `sending`, then `done`.
 */

import { unreachable } from '../../../../copse/src/kernel/unreachable.ts';
import type { GivenAnswer } from './answering.ts';

export type AnswerState =
  | { readonly kind: 'held' }
  | { readonly kind: 'asked' }
  /** With the bytes that the browser sends for a page that is gone. */
  | { readonly kind: 'sending'; readonly outlivingBytes: number }
  /** Lists from then on know of it. */
  | { readonly kind: 'done'; readonly listedAtMs: number };

interface OwnAnswer {
  readonly given: GivenAnswer;
  readonly state: AnswerState;
}

export type OwnAnswers = ReadonlyMap<string, OwnAnswer>;

/** A need is hidden while the list may be older than its answer. Later the list is right: it may wait for a person again. */
export function isHidden(answers: OwnAnswers, key: string, listedAtMs: number): boolean {
  const state = answers.get(key)?.state;
  if (state === undefined) return false;
  return state.kind !== 'done' || listedAtMs < state.listedAtMs;
}

/** Those that are lost with the page unless they are sent at once. */
export function notSent(answers: OwnAnswers): readonly string[] {
  return [...answers].filter(([, { state }]) => isNotSent(state)).map(([key]) => key);
}

function isNotSent(state: AnswerState): boolean {
  switch (state.kind) {
    case 'held':
    case 'asked':
      return true;
    case 'sending':
    case 'done':
      return false;
    default:
      return unreachable(state);
  }
}

/** Browsers send 64 KB in all for a page that is gone, and refuse more. */
const OUTLIVING_BYTES = 60_000;
/** Around the text. */
const REQUEST_BYTES = 1_000;

/** How many bytes of it the browser sends also if the page goes; 0 if there is no room for them. */
export function outlivingBytes(answers: OwnAnswers, { text }: GivenAnswer): number {
  const bytes = REQUEST_BYTES + new TextEncoder().encode(JSON.stringify(text)).length;
  const states = [...answers.values()].map(({ state }) => state);
  const used = states.reduce((sum, one) => sum + (one.kind === 'sending' ? one.outlivingBytes : 0), 0);
  return used + bytes <= OUTLIVING_BYTES ? bytes : 0;
}

/** Whether to ask before the page is closed. */
export function isLostWithPage(answers: OwnAnswers): boolean {
  return [...answers.values()].some(({ given, state }) => {
    if (state.kind === 'done') return false;
    return (state.kind === 'sending' ? state.outlivingBytes : outlivingBytes(answers, given)) === 0;
  });
}
