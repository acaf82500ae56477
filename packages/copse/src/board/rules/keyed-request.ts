/**
 * A request with a key is carried out once, however often it is sent.
 *
 * The request takes the key, then acts. The transaction that changes the board also marks the key as used, and fails if another
 * request took the key over meanwhile. Then the answer is kept. A request that was killed before its transaction changed nothing, so
 * the next one may take the key over at once; one that was killed after it leaves a used key without an answer.
 */

import type { Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';

export interface KeyedRequest {
  /** The digest of the key. */
  readonly id: string;
  /** The digest of the operation and its input. */
  readonly input: string;
  /** Drawn anew for each request. */
  readonly owner: string;
}

export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export type KeyTaken =
  /** The caller carries it out. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  /** The key belongs to a request with another input. */
  | { readonly kind: 'other_input' }
  /** Carried out just now; its answer is not kept yet. */
  | { readonly kind: 'pending' }
  /** Carried out, and its server was killed before the answer was kept. */
  | { readonly kind: 'answer_lost' };

export interface FoundKey {
  readonly input: string;
  readonly begunAt: number;
  readonly isUsed: boolean;
  readonly answer: KeptAnswer | null;
}

export function decideKey(
  found: FoundKey | undefined,
  { input }: KeyedRequest,
  at: Timestamp,
  { pendingMs }: Pick<Policy['keptAnswers'], 'pendingMs'>,
): KeyTaken {
  if (found === undefined) return { kind: 'taken' };
  if (found.input !== input) return { kind: 'other_input' };
  if (found.answer !== null) return { kind: 'answered', answer: found.answer };
  if (!found.isUsed) return { kind: 'taken' };
  // A clock that was set back must not leave a key pending until it gets there again.
  return { kind: Math.abs(at - found.begunAt) < pendingMs ? 'pending' : 'answer_lost' };
}
