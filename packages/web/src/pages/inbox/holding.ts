/**
 * An answer is held for a moment, in which a person can take it back.
 *
 * - A held answer changed nothing yet. The next answer does it at once.
 * - Before it is done, the inbox is asked again: a task that was answered elsewhere meanwhile is left alone.
 * - When the page is hidden or closed, what is not sent yet is sent at once: a hidden page may be ended without a word.
 * - What was answered here is hidden from the list; a refusal brings it back, with its text.
 * - Access ends after some hours. The texts stay, and what could not be said without access is said when there is access again.
 */

import { HOLD_MS, answerWords, keyOf } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import type { Client } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Toast } from '../../parts/shown-toasts.ts';
import { type GivenAnswer, callAnswer, commandOfAnswer, undoOfAnswer } from './answering.ts';
import { type Field, withoutField } from './fields.ts';
import { type AnswerState, type OwnAnswers, notSent, outlivingBytes } from './sending.ts';
import { TabMap } from './tab-map.ts';

export class Holding {
  /** Answers that a person is typing. */
  readonly fields = new TabMap<Field>();
  /** The commits of reviews that a person was shown. */
  readonly heads = new TabMap<string>();
  #client: Pick<Client, 'call'>;
  readonly #listeners = new Set<() => void>();
  #say: (toast: Toast) => void = () => {};
  /** Problems of answers that came to an end together with the access. */
  #unsaid: readonly Toast[] = [];
  #held: GivenAnswer | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #answers: OwnAnswers = new Map();
  #takenBack: { readonly key: string } | undefined;

  constructor(client: Pick<Client, 'call'>) {
    this.#client = client;
  }

  /** From now on it asks with this client: the access of the one before may have ended. */
  use(client: Pick<Client, 'call'>): void {
    this.#client = client;
  }

  /** Says what nothing on the page could show before. */
  catchUp(say: (toast: Toast) => void): void {
    const unsaid = this.#unsaid;
    this.#unsaid = [];
    for (const toast of unsaid) say(toast);
  }

  /** What was answered here. */
  get answers(): OwnAnswers {
    return this.#answers;
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
    this.#set(given, { kind: 'held' });
    this.#timer = setTimeout(() => this.doNow(), HOLD_MS);
    const { label } = answerWords[given.answer];
    say({
      about: keyOf(given.need),
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
    this.#set(held, undefined);
    this.#say({ text: `Taken back: ${held.need.task} still waits for you.` });
  }

  doNow(): void {
    const held = this.#takeHeld();
    if (held) void this.#do(held);
  }

  /** The page is hidden or closed, and may never run again. */
  sendAll(): void {
    this.#takeHeld();
    for (const key of notSent(this.#answers)) {
      const answer = this.#answers.get(key);
      if (answer) void this.#send(answer.given);
    }
  }

  async #do(given: GivenAnswer): Promise<void> {
    const key = keyOf(given.need);
    this.#set(given, { kind: 'asked' });
    const asked = this.#answers.get(key);
    try {
      const { at, needsYou } = await this.#client.call('inbox.list', {});
      // It was sent meanwhile, because the page was hidden.
      if (this.#answers.get(key) !== asked) return;
      if (!needsYou.some((need) => keyOf(need) === key)) {
        this.#set(given, { kind: 'done', listedAtMs: Date.parse(at) });
        this.#sayElsewhere(given);
        this.#closeField(given);
        return;
      }
    } catch (error) {
      if (this.#answers.get(key) === asked) this.#fail(given, error);
      return;
    }
    await this.#send(given);
  }

  async #send(given: GivenAnswer): Promise<void> {
    const bytes = outlivingBytes(this.#answers, given);
    this.#set(given, { kind: 'sending', outlivingBytes: bytes });
    try {
      await callAnswer(this.#client, given, { keepalive: bytes > 0 });
    } catch (error) {
      this.#fail(given, error);
      return;
    }
    this.#closeField(given);
    this.#sayUnlessHeld(this.#doneToast(given));
    this.#set(given, { kind: 'done', listedAtMs: await this.#serverTime() });
  }

  /** What the inbox lists from now on was read after the answer. */
  async #serverTime(): Promise<number> {
    try {
      const { at } = await this.#client.call('inbox.list', {});
      return Date.parse(at);
    } catch {
      // The list that the page has is the best that is known.
      return 0;
    }
  }

  #closeField({ need }: GivenAnswer): void {
    this.fields.set(withoutField(this.fields.now, keyOf(need)));
  }

  #fail(given: GivenAnswer, error: unknown): void {
    this.#set(given, undefined);
    // With the text that was typed, so that it is not lost.
    const next = [...(error instanceof Problem ? error.next : []), commandOfAnswer(given)];
    const text = error instanceof Error ? error.message : String(error);
    if (error instanceof Problem && error.status === 401) {
      const said = `${given.need.task}: your answer was not sent, because your access had ended.`;
      this.#unsaid = [...this.#unsaid, { about: keyOf(given.need), text: said, isProblem: true, next }];
    } else this.#sayProblem(given, text, next);
  }

  #sayElsewhere(given: GivenAnswer): void {
    const { task } = given.need;
    const why = `copse why ${task}`;
    const text = `${task} was answered elsewhere.`;
    if (given.text !== '')
      this.#sayProblem(given, `${text} Your text was not sent.`, [why, commandOfAnswer(given)]);
    // It must not replace the toast that takes a newer answer back.
    else if (this.#held !== undefined) this.#sayProblem(given, text, [why]);
    else this.#say({ text, next: [why] });
  }

  #sayProblem({ need }: GivenAnswer, text: string, next: readonly string[]): void {
    this.#say({ about: keyOf(need), text, isProblem: true, next });
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

  #set(given: GivenAnswer, state: AnswerState | undefined): void {
    const next = new Map(this.#answers);
    if (state === undefined) next.delete(keyOf(given.need));
    else next.set(keyOf(given.need), { given, state });
    this.#answers = next;
    for (const listener of this.#listeners) listener();
  }
}
