/** Requests with an Idempotency-Key: each is carried out once, and every repetition gets the same answer (docs/decisions/0052). */

import { createHash, randomUUID } from 'node:crypto';

import type { Board } from '../board/port.ts';
import type { KeyedRequest } from '../board/rules/keyed-request.ts';
import { timestamp } from '../kernel/ids.ts';
import { type HttpAnswer, problemAnswer } from './answer.ts';
import { explain, keyPending } from './explain.ts';
import { problem } from './rules/problem.ts';

interface Wanted {
  readonly key: string;
  /** The same text for the same operation with the same input. */
  readonly input: string;
}

export class Once {
  readonly #board: Pick<Board, 'takeKey' | 'keepAnswer'>;
  readonly #onProblem: (text: string) => void;
  /** Requests that are being carried out here, by their keys. */
  readonly #running = new Map<string, { readonly input: string; readonly answer: Promise<HttpAnswer> }>();

  constructor(board: Pick<Board, 'takeKey' | 'keepAnswer'>, onProblem: (text: string) => void) {
    this.#board = board;
    this.#onProblem = onProblem;
  }

  async answer(wanted: Wanted, perform: (request: KeyedRequest) => Promise<HttpAnswer>): Promise<HttpAnswer> {
    const request = { id: digest(wanted.key), input: digest(wanted.input), owner: randomUUID() };
    const running = this.#running.get(request.id);
    if (running !== undefined) return running.input === request.input ? running.answer : reused();
    const answer = this.#answer(request, perform);
    this.#running.set(request.id, { input: request.input, answer });
    try {
      return await answer;
    } finally {
      this.#running.delete(request.id);
    }
  }

  async #answer(
    request: KeyedRequest,
    perform: (request: KeyedRequest) => Promise<HttpAnswer>,
  ): Promise<HttpAnswer> {
    const taken = await this.#board.takeKey(request, timestamp(Date.now()));
    switch (taken.kind) {
      case 'answered': {
        const { status, body } = taken.answer;
        const type = status >= 400 ? 'application/problem+json' : 'application/json';
        return { status, type, body, headers: { 'idempotent-replayed': 'true' } };
      }
      case 'other_input':
        return reused();
      case 'pending':
        return keyPending();
      case 'answer_lost':
        return lost();
      case 'taken':
        break;
    }
    return this.#kept(request, await perform(request));
  }

  /** What was done is answered also when the answer cannot be kept. */
  async #kept(request: KeyedRequest, answer: HttpAnswer): Promise<HttpAnswer> {
    try {
      await this.#board.keepAnswer(request, answer);
    } catch (error) {
      explain(error, this.#onProblem);
    }
    return answer;
  }
}

function reused(): HttpAnswer {
  const text =
    'Another request with this Idempotency-Key had another input. Use a new key for a new request.';
  return problemAnswer(problem('key_reused', text, 'copse events --last 5'));
}

function lost(): HttpAnswer {
  const text =
    'This request was carried out, but the server was stopped before it could keep the answer. Look for the result before you use a new key.';
  return problemAnswer(problem('answer_lost', text, 'copse events --last 20'));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
