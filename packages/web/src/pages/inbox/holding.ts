/**
 * An answer is held for a moment, in which a person can take it back.
 *
 * - A held answer changed nothing yet. The next answer, and leaving the page, do it at once.
 * - Before it is done, the inbox is asked again: a task that was answered elsewhere meanwhile is left alone.
 * - What was answered here is hidden from the list; a refusal brings it back.
 */

import { HOLD_MS, answerWords, keyOf } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import type { Client } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Toast } from '../../parts/toasts.tsx';
import { type GivenAnswer, callAnswer, commandOfAnswer, undoOfAnswer } from './answering.ts';

export class Holding {
  readonly #client: Client;
  readonly #listeners = new Set<() => void>();
  #say: (toast: Toast) => void = () => {};
  #held: GivenAnswer | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #answered: ReadonlySet<string> = new Set();
  #takenBack: { readonly key: string } | undefined;

  constructor(client: Client) {
    this.#client = client;
    addEventListener('pagehide', () => {
      const held = this.#takeHeld();
      if (held) void callAnswer(this.#client, held, { keepalive: true }).catch(() => {});
    });
  }

  /** Keys of what was answered here. */
  get answered(): ReadonlySet<string> {
    return this.#answered;
  }

  /** The last one that a person took back; a new object each time. */
  get takenBack(): { readonly key: string } | undefined {
    return this.#takenBack;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  hold(given: GivenAnswer, say: (toast: Toast) => void): void {
    this.doNow();
    this.#say = say;
    this.#held = given;
    this.#setAnswered(keyOf(given.need), true);
    this.#timer = setTimeout(() => this.doNow(), HOLD_MS);
    const { label } = answerWords[given.answer];
    say({
      text: `${given.need.task}: ${label}, in ${HOLD_MS / 1_000} s.`,
      next: [commandOfAnswer(given)],
      undo: { label: 'Take it back (u)', run: () => this.takeBack() },
    });
  }

  takeBack(): void {
    const held = this.#takeHeld();
    if (held === undefined) {
      this.#say({ text: 'There is no answer to take back.' });
      return;
    }
    this.#takenBack = { key: keyOf(held.need) };
    this.#setAnswered(keyOf(held.need), false);
    this.#say({ text: `Taken back: ${held.need.task} still waits for you.` });
  }

  doNow(): void {
    const held = this.#takeHeld();
    if (held) void this.#do(held);
  }

  async #do(given: GivenAnswer): Promise<void> {
    const { task } = given.need;
    const key = keyOf(given.need);
    try {
      const { needsYou } = await this.#client.call('inbox.list', {});
      if (!needsYou.some((need) => keyOf(need) === key)) {
        this.#say({ text: `${task} was answered elsewhere.`, next: [`copse why ${task}`] });
        return;
      }
      await callAnswer(this.#client, given);
      this.#sayUnlessHeld(this.#doneToast(given));
    } catch (error) {
      this.#setAnswered(key, false);
      // With the text that was typed, so that it is not lost.
      const next = [...(error instanceof Problem ? error.next : []), commandOfAnswer(given)];
      this.#say({ text: error instanceof Error ? error.message : String(error), isProblem: true, next });
    }
  }

  /** The toast of a newer answer has the button that takes it back. */
  #sayUnlessHeld(toast: Toast): void {
    if (this.#held === undefined) this.#say(toast);
  }

  #doneToast({ need: { task }, answer }: GivenAnswer): Toast {
    const text = `${task} ${answerWords[answer].done}.`;
    const undo = undoOfAnswer(answer);
    if (undo === null) return { text };
    if (undo === 'pause') return { text, next: [`copse pause ${task}`] };
    const unqueue = () => this.#unqueue(task);
    return { text, undo: { label: 'Take it out of the queue', run: () => void unqueue() } };
  }

  async #unqueue(task: string): Promise<void> {
    try {
      await this.#client.call('queue.cancel', { tasks: [task], reason: 'taken back in the inbox' });
      this.#say({ text: `Undone: ${task} waits for you again.` });
    } catch (error) {
      const next = error instanceof Problem ? error.next : [];
      this.#say({ text: error instanceof Error ? error.message : String(error), isProblem: true, next });
    }
  }

  #takeHeld(): GivenAnswer | undefined {
    clearTimeout(this.#timer);
    const held = this.#held;
    this.#held = undefined;
    return held;
  }

  #setAnswered(key: string, isAnswered: boolean): void {
    const next = new Set(this.#answered);
    if (isAnswered) next.add(key);
    else next.delete(key);
    this.#answered = next;
    for (const listener of this.#listeners) listener();
  }
}

const holdings = new WeakMap<Client, Holding>();

/** One for the whole tab: an answer is held also while another page is open. */
export function holdingOf(client: Client): Holding {
  const known = holdings.get(client);
  if (known) return known;
  const made = new Holding(client);
  holdings.set(client, made);
  return made;
}
