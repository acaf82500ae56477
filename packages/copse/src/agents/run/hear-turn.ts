/**
 * What a running agent says while it works, passed on to the board: which conversation it is, what it used, that it waits
 * for a person. And what follows from it: enough is enough when its budget is used up or its context nearly full.
 */

import type { Answer, SessionRequest } from '../rules/session/session.ts';
import { decideSession } from '../rules/session/session.ts';
import { drawId } from '../../kernel/ids.ts';
import { type Usage, addUsage, isNothing, noUsage, tokensOf } from '../../kernel/usage.ts';
import type { Orders } from '../ports/runners.ts';
import type { PermissionRequest, RuntimeEvent } from '../ports/runtime.ts';
import type { AttemptContext } from './context.ts';
import { change } from '../../board/context.ts';

export type Enough =
  | { readonly enough: 'over_budget'; readonly reason: string }
  /** The conversation cannot take in much more: somebody else goes on. */
  | { readonly enough: 'context_full' };

/** Over all turns of one attempt. */
export class Hearing {
  readonly #context: AttemptContext;
  readonly #orders: Orders;
  #conversation: string | null;
  #used: Usage;
  #telling: Promise<void> = Promise.resolve();
  #asking: Promise<unknown> = Promise.resolve();
  #timesFull = 0;
  #enough: Enough | undefined;
  readonly #onEnough = new Set<(enough: Enough) => void>();

  private constructor(context: AttemptContext, orders: Orders, used: Usage) {
    this.#context = context;
    this.#orders = orders;
    this.#conversation = orders.conversation;
    this.#used = used;
  }

  static async open(context: AttemptContext, orders: Orders): Promise<Hearing> {
    const session = await context.board.get('session', orders.session);
    return new Hearing(context, orders, session?.usage ?? noUsage);
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
        return this.#tell({ action: 'converse', conversation: event.id });
      case 'attention':
        return this.#tell({ action: 'attend', attention: event.attention });
      case 'usage':
        if (isNothing(event.usage)) return;
        this.#used = addUsage(this.#used, event.usage);
        this.#tell({ action: 'use', usage: event.usage });
        return this.#lookAtBudget();
      case 'context':
        return this.#lookAtContext(event.share);
      default:
        throw new Error(`An agent cannot say ${String(event satisfies never)}`);
    }
  };

  /** One question at a time; an answer that never comes ends with the turn. */
  readonly mayUse = (permission: PermissionRequest, over: AbortSignal): Promise<Answer> => {
    const answer = this.#asking.then(() => this.#ask(permission, over));
    this.#asking = answer.catch(() => {});
    return answer;
  };

  /** Until somebody has had enough, or for ever. */
  enough(over: AbortSignal): Promise<Enough> {
    return new Promise((resolve) => {
      if (this.#enough !== undefined) return resolve(this.#enough);
      this.#onEnough.add(resolve);
      over.addEventListener('abort', () => this.#onEnough.delete(resolve), { once: true });
    });
  }

  /** All that was said is on the board. */
  async settled(): Promise<void> {
    await this.#telling;
  }

  #tell(request: SessionRequest): void {
    // A board that cannot be written to now ends no agent: what it says next may be heard again.
    this.#telling = this.#telling
      .then(() => this.#record(request))
      .catch((error: unknown) => this.#context.log(`The board was not told: ${String(error)}`));
  }

  async #record(request: SessionRequest): Promise<void> {
    const { session, task } = this.#orders;
    const outcome = await change(this.#context, async (change) => {
      await change.requireMine(task);
      const current = await change.require('session', session);
      await change.apply(decideSession(current, request, change.at));
    });
    if (!outcome.ok) this.#context.log(outcome.refusal.reason);
  }

  async #ask({ tool, what }: PermissionRequest, over: AbortSignal): Promise<Answer> {
    const { board, clock, random, policy } = this.#context;
    const id = drawId('qu-', random);
    this.#tell({ action: 'ask', question: { id, tool, what } });
    await this.settled();
    while (!over.aborted) {
      const asked = (await board.get('session', this.#orders.session))?.question;
      if (asked?.id !== id) break;
      if (asked.answer !== null) return asked.answer;
      await clock.sleep(policy.session.answerLookMs, over);
    }
    return { isAllowed: false, message: 'Nobody answered.' };
  }

  #lookAtBudget(): void {
    const { tokens, dollars } = this.#context.agent.limits;
    const used = tokensOf(this.#used);
    const cost = this.#used.dollars ?? 0;
    if (dollars !== undefined && cost > dollars)
      this.#stop({
        enough: 'over_budget',
        reason: `It used ${cost.toFixed(2)} dollars of the ${dollars.toFixed(2)} that limits.dollars allows.`,
      });
    else if (tokens !== undefined && used > tokens)
      this.#stop({
        enough: 'over_budget',
        reason: `It used ${used} tokens of the ${tokens} that limits.tokens allows.`,
      });
  }

  /** The first time may be its last message; the second shows that it goes on. */
  #lookAtContext(share: number): void {
    if (share < this.#context.policy.session.contextHandoffShare) {
      this.#timesFull = 0;
      return;
    }
    this.#timesFull += 1;
    if (this.#timesFull > 1) this.#stop({ enough: 'context_full' });
  }

  #stop(enough: Enough): void {
    this.#enough ??= enough;
    for (const tell of this.#onEnough) tell(this.#enough);
  }
}
