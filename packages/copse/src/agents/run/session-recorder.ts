/**
 * Records a running agent's events on its session: its conversation, its usage, its questions to a person. Also says when
 * a limit is reached: the budget is used up, or the context is nearly full.
 *
 * Fields: `recording` is the end of the queue of writes, `asking` the end of the queue of questions; `timesFull` counts
 * reports of a full context in a row; `limit` is the first limit that was reached and never changes.
 */

import type { PermissionAnswer, SessionRequest } from '../rules/session/session.ts';
import { decideSession } from '../rules/session/session.ts';
import { drawId } from '../../kernel/ids.ts';
import { type Usage, addUsage, isNothing, noUsage, tokensOf } from '../../kernel/usage.ts';
import type { Orders } from '../ports/runners.ts';
import type { PermissionRequest, RuntimeEvent } from '../ports/runtime.ts';
import type { AttemptContext } from './context.ts';
import { change } from '../../board/context.ts';

export type LimitReached =
  | { readonly kind: 'over_budget'; readonly reason: string }
  /** A successor continues with an empty context. */
  | { readonly kind: 'context_full' };

/** One for all turns of an attempt. */
export class SessionRecorder {
  readonly #context: AttemptContext;
  readonly #orders: Orders;
  #conversation: string | null;
  #used: Usage;
  #recording: Promise<void> = Promise.resolve();
  #asking: Promise<unknown> = Promise.resolve();
  #timesFull = 0;
  #limit: LimitReached | undefined;
  readonly #onLimit = new Set<(limit: LimitReached) => void>();

  private constructor(context: AttemptContext, orders: Orders, used: Usage) {
    this.#context = context;
    this.#orders = orders;
    this.#conversation = orders.conversation;
    this.#used = used;
  }

  static async open(context: AttemptContext, orders: Orders): Promise<SessionRecorder> {
    const session = await context.board.get('session', orders.session);
    return new SessionRecorder(context, orders, session?.usage ?? noUsage);
  }

  get conversation(): string | null {
    return this.#conversation;
  }

  get used(): Usage {
    return this.#used;
  }

  readonly on = (event: RuntimeEvent): void => {
    switch (event.type) {
      case 'conversation':
        if (event.id === this.#conversation) return;
        this.#conversation = event.id;
        return this.#enqueue({ action: 'converse', conversation: event.id });
      case 'attention':
        return this.#enqueue({ action: 'attend', attention: event.attention });
      case 'usage':
        if (isNothing(event.usage)) return;
        this.#used = addUsage(this.#used, event.usage);
        this.#enqueue({ action: 'use', usage: event.usage });
        return this.#checkBudget();
      case 'context':
        return this.#checkContext(event.share);
      default:
        throw new Error(`A runtime has no event ${String(event satisfies never)}`);
    }
  };

  /** Asks one question at a time. A question without an answer is refused when the turn ends. */
  readonly mayUse = (permission: PermissionRequest, over: AbortSignal): Promise<PermissionAnswer> => {
    const answer = this.#asking.then(() => this.#ask(permission, over));
    this.#asking = answer.catch(() => {});
    return answer;
  };

  /** Resolves when a limit is reached, otherwise never. */
  limitReached(over: AbortSignal): Promise<LimitReached> {
    return new Promise((resolve) => {
      if (this.#limit !== undefined) return resolve(this.#limit);
      this.#onLimit.add(resolve);
      over.addEventListener('abort', () => this.#onLimit.delete(resolve), { once: true });
    });
  }

  /** All events so far are on the board. */
  async settled(): Promise<void> {
    await this.#recording;
  }

  #enqueue(request: SessionRequest): void {
    // An agent works on while the board cannot be written; later events may be recorded again.
    this.#recording = this.#recording
      .then(() => this.#record(request))
      .catch((error: unknown) => this.#context.log(`The board could not be written: ${String(error)}`));
  }

  async #record(request: SessionRequest): Promise<void> {
    const { session, task } = this.#orders;
    const outcome = await change(this.#context, async (change) => {
      await change.requireMine(task);
      const current = await change.require('session', session);
      await change.apply(decideSession(current, request, change.at));
    });
    if (outcome.kind === 'refused') this.#context.log(outcome.refusal.reason);
  }

  async #ask({ tool, what }: PermissionRequest, over: AbortSignal): Promise<PermissionAnswer> {
    const { board, clock, random, policy } = this.#context;
    const id = drawId('qu-', random);
    this.#enqueue({ action: 'ask', question: { id, tool, what } });
    await this.settled();
    while (!over.aborted) {
      const asked = (await board.get('session', this.#orders.session))?.question;
      if (asked?.id !== id) break;
      if (asked.answer !== null) return asked.answer;
      await clock.sleep(policy.session.answerLookMs, over);
    }
    return { isAllowed: false, message: 'No answer came before the turn ended.' };
  }

  #checkBudget(): void {
    const { tokens, dollars } = this.#context.agent.limits;
    const used = tokensOf(this.#used);
    const cost = this.#used.dollars ?? 0;
    if (dollars !== undefined && cost > dollars)
      this.#reach({
        kind: 'over_budget',
        reason: `It used ${cost.toFixed(2)} dollars of the ${dollars.toFixed(2)} that limits.dollars allows.`,
      });
    else if (tokens !== undefined && used > tokens)
      this.#reach({
        kind: 'over_budget',
        reason: `It used ${used} tokens of the ${tokens} that limits.tokens allows.`,
      });
  }

  /** The first report may be of the agent's last message; the second shows that it goes on working. */
  #checkContext(share: number): void {
    if (share < this.#context.policy.session.contextHandoffShare) {
      this.#timesFull = 0;
      return;
    }
    this.#timesFull += 1;
    if (this.#timesFull > 1) this.#reach({ kind: 'context_full' });
  }

  #reach(limit: LimitReached): void {
    this.#limit ??= limit;
    for (const tell of this.#onLimit) tell(this.#limit);
  }
}
