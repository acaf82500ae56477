/**
 * Goes through what needs a person, one by one.
 *
 * - The order is that of the overview; a task that comes to need the person meanwhile is appended.
 * - An answer is held for a moment, in which `u` and Ctrl+C drop it. Any other key does it at once. A held answer changed
 *   nothing yet: if this process is killed, the task still needs the person.
 * - An answer counts only for what was shown: this question, this commit. A task that was answered elsewhere is skipped,
 *   also while the answer is held. A key typed before a task was shown, or still held down, is no answer to it.
 */

import { lackOfAgents } from '../../explain/rules/waiting.ts';
import { withNextSteps } from '../after/refused.ts';
import { openQuestionOf } from '../../agents/act/answer.ts';
import type { OpenRun } from '../../compose/run/run.ts';
import { loadOverview } from '../../explain/overview.ts';
import type { NeedsYou } from '../../explain/rules/overview.ts';
import type { Outcome } from '../../board/context.ts';
import { shown } from '../../kernel/text.ts';
import type { RunContext } from '../../queue/context.ts';
import { type TaskReview, loadReview } from '../../review/act/review.ts';
import { statusPredicate } from '../../tasks/rules/task.ts';
import type { Cli } from '../invocation.ts';
import { isOrchestrated } from '../after/ahead.ts';
import { type GivenAnswer, type ShownNeed, doAnswer, undoAnswer } from './act.ts';
import { factLines } from '../screen/screen.ts';
import {
  type AnswerKind,
  type AnswerKey,
  HOLD_MS,
  answerFor,
  answerWords,
  isRepeat,
  keyHints,
  keyOf,
} from '../../explain/rules/inbox/answers.ts';
import { withAsker } from '../../operations/overview/inbox.ts';
import { broken, lookAt, needLines } from './look.ts';
import { QUIT, STOP, readKey, readLine, typedEarly } from './read-key.ts';
import { printSteps } from '../after/next-steps.ts';

export class Inbox {
  readonly #cli: Cli;
  readonly #context: RunContext;
  readonly #unusable: OpenRun['unusable'];
  /** What was or will be shown, in order. */
  readonly #order: string[] = [];
  readonly #closed = new Set<string>();
  #needs: ReadonlyMap<string, NeedsYou> = new Map();
  #held: GivenAnswer | undefined;
  #last: GivenAnswer | undefined;
  /** The last key that was an answer. */
  #pressed: AnswerKey | undefined;
  #done = 0;
  #skipped = 0;

  constructor(cli: Cli, context: RunContext, unusable: OpenRun['unusable']) {
    this.#cli = cli;
    this.#context = context;
    this.#unusable = unusable;
  }

  async run(): Promise<void> {
    for (;;) {
      const key = await this.#next();
      const isOver = key === undefined ? await this.#isOver() : await this.#ask(key);
      if (isOver) break;
    }
    await this.#doHeld();
    await this.#summarise();
  }

  /** The first that is still open; undefined when none is left. */
  async #next(): Promise<string | undefined> {
    await this.#load();
    for (const key of this.#order) {
      if (this.#closed.has(key)) continue;
      if (this.#needs.has(key)) return key;
      await this.#sayAnswered(key);
    }
    return undefined;
  }

  async #load(): Promise<void> {
    const { needsYou } = await loadOverview(this.#context, {
      isOrchestrated: await isOrchestrated(this.#cli),
      readyLimit: 0,
    });
    this.#needs = new Map(needsYou.map((need) => [keyOf(need), need]));
    for (const key of this.#needs.keys()) if (!this.#order.includes(key)) this.#order.push(key);
  }

  async #sayAnswered(key: string): Promise<void> {
    this.#closed.add(key);
    const [id = ''] = key.split(' ', 1);
    const task = await this.#context.board.get('task', id);
    const now = task === undefined ? 'was deleted' : statusPredicate(task.state.status);
    this.#cli.output.line(`${id} was answered elsewhere: it ${now}.`);
  }

  /** True: the person leaves. */
  async #ask(key: string): Promise<boolean> {
    const need = this.#needs.get(key);
    if (need === undefined) return false;
    const found = await this.#look(need);
    if (found === undefined) return false;
    const early = await typedEarly(this.#cli.stdin());
    if (early === STOP) return this.#stop();
    if (early !== '') this.#noteRepeat(early.slice(-1));
    if (early.includes('u') && this.#held !== undefined) return !(await this.#undo());
    const { about, review } = found;
    this.#print(found);
    for (;;) {
      const pressed = await this.#key(need);
      if (pressed === STOP) return this.#stop();
      if (this.#noteRepeat(pressed)) continue;
      if (pressed === 'u') {
        if (await this.#undo()) return false;
        continue;
      }
      await this.#doHeld();
      if (pressed === QUIT) return true;
      if (pressed === 's') {
        this.#skipped += 1;
        this.#closed.add(key);
        return false;
      }
      if (await lookAt(pressed, { cli: this.#cli, context: this.#context, need, review })) continue;
      const answer = answerFor(need, pressed);
      if (answer === undefined) this.#cli.output.line('No such key.');
      else {
        this.#pressed = { key: pressed, atMs: this.#context.clock.elapsedMs() };
        if (await this.#take(key, about, answer)) return false;
      }
    }
  }

  /** True when it is the last answer's key, still held down. */
  #noteRepeat(key: string): boolean {
    const pressed = { key, atMs: this.#context.clock.elapsedMs() };
    const isHeldDown = isRepeat(this.#pressed, pressed);
    // Another key in between: the person let go of it.
    this.#pressed = isHeldDown ? pressed : undefined;
    return isHeldDown;
  }

  /** The person leaves: an answer that is held is not done. */
  async #stop(): Promise<true> {
    if (this.#held !== undefined) await this.#undo();
    return true;
  }

  /** Undefined when it is about something else by now. */
  async #look(need: NeedsYou): Promise<Found | undefined> {
    const { board } = this.#context;
    const task = await board.get('task', need.task);
    const question = need.kind === 'permission' && task ? await openQuestionOf(board, task) : undefined;
    // Read after the overview: it may be a later question than the one to be shown.
    if (need.kind === 'permission' && question?.since !== need.since) return undefined;
    const looked = need.kind === 'review' ? await loadReview(this.#context, need.task) : undefined;
    const review = looked?.kind === 'done' ? looked.value : undefined;
    const about = { need, question: question?.id, head: review?.change?.head ?? null };
    return { about, review, asked: await withAsker(board, need) };
  }

  #print({ asked, review }: Found): void {
    const { output } = this.#cli;
    const open = this.#order.filter((one) => !this.#closed.has(one)).length;
    output.line();
    for (const line of needLines(output, asked, { review, open, now: this.#context.clock.now() }))
      output.line(line);
  }

  /** Waits for a key; a held answer is done when its time is over. */
  async #key(need: NeedsYou): Promise<string> {
    const { stdin, output } = this.#cli;
    for (;;) {
      for (const line of factLines(keyHints(need, this.#canUndo()), output.columns() - 1))
        output.line(output.style('dim', line));
      const key = await readKey(stdin(), this.#held === undefined ? null : HOLD_MS);
      if (key !== undefined) return key;
      await this.#doHeld();
    }
  }

  #canUndo(): boolean {
    return this.#held !== undefined || this.#last !== undefined;
  }

  /** False: it stays on the screen. */
  async #take(key: string, about: ShownNeed, answer: AnswerKind): Promise<boolean> {
    const { asks, label } = answerWords[answer];
    const text = asks === undefined ? null : await readLine(this.#cli.stdin(), this.#cli.output, asks);
    if (text === undefined) return false;
    await this.#load();
    if (!this.#needs.has(key)) {
      await this.#sayAnswered(key);
      return true;
    }
    this.#closed.add(key);
    this.#held = { ...about, answer, text };
    const inTime = `in ${HOLD_MS / 1_000} s`;
    this.#say(`${about.need.task}: ${label}, ${inTime}. u takes it back; any other key does it now.`);
    return true;
  }

  #say(text: string, style?: 'dim' | 'red'): void {
    const { output } = this.#cli;
    for (const line of broken(output, text))
      output.line(style === undefined ? line : output.style(style, line));
  }

  async #doHeld(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    const key = keyOf(held.need);
    await this.#load();
    if (!this.#needs.has(key)) return this.#sayAnswered(key);
    const outcome = await doAnswer(this.#context, this.#unusable, held);
    const { output } = this.#cli;
    if (outcome.kind === 'refused') {
      await this.#sayRefused(outcome);
      this.#closed.delete(key);
      return;
    }
    this.#last = held;
    this.#done += 1;
    output.line(output.style('green', `Done: ${held.need.task} ${answerWords[held.answer].done}.`));
  }

  /** True: another one is shown next. */
  async #undo(): Promise<boolean> {
    const held = this.#held;
    const { output } = this.#cli;
    if (held !== undefined) {
      this.#held = undefined;
      output.line(`Taken back: ${held.need.task} still waits for you.`);
      this.#again(keyOf(held.need));
      return true;
    }
    const last = this.#last;
    if (last === undefined) {
      output.line('There is no answer to undo.');
      return false;
    }
    const outcome = await undoAnswer(this.#context, last);
    if (outcome.kind === 'refused') {
      await this.#sayRefused(outcome);
      return false;
    }
    this.#last = undefined;
    this.#done -= 1;
    output.line(`Undone: ${last.need.task} waits for you again.`);
    await this.#load();
    const now = [...this.#needs.values()].find(({ task }) => task === last.need.task);
    if (now !== undefined) this.#again(keyOf(now));
    return true;
  }

  /** It is shown next. */
  #again(key: string): void {
    this.#closed.delete(key);
    this.#order.splice(this.#order.indexOf(key), 1);
    this.#order.unshift(key);
  }

  async #sayRefused({ refusal }: Extract<Outcome<unknown>, { kind: 'refused' }>): Promise<void> {
    const { output } = this.#cli;
    const { reason, next } = await withNextSteps(this.#cli, refusal);
    output.line(output.style('red', shown(reason)));
    printSteps(output, next.map(shown));
  }

  /** A moment to take the last answer back. */
  async #isOver(): Promise<boolean> {
    if (this.#held === undefined) return true;
    const key = await readKey(this.#cli.stdin(), HOLD_MS);
    if (key === 'u' || key === STOP) await this.#undo();
    else await this.#doHeld();
    return key === QUIT || key === STOP;
  }

  async #summarise(): Promise<void> {
    await this.#load();
    const { output } = this.#cli;
    const left = this.#needs.size;
    const skipped = this.#skipped === 0 ? '' : `, ${this.#skipped} skipped`;
    output.line();
    output.line(`${this.#done} answered${skipped}. ${leftText(left)}`);
    const next = left > 0 ? 'copse inbox' : await this.#afterwards();
    output.line(output.style('dim', `  → ${next}`));
  }

  /** An orchestrator, unless one runs or none can. */
  async #afterwards(): Promise<string> {
    const isDone = lackOfAgents(this.#context) !== null || (await isOrchestrated(this.#cli));
    return isDone ? 'copse status' : 'copse orchestrate';
  }
}

interface Found {
  readonly about: ShownNeed;
  readonly review: TaskReview | undefined;
  /** The need, with the agent that asks. */
  readonly asked: NeedsYou;
}

function leftText(left: number): string {
  if (left === 0) return 'Nothing needs you now.';
  return left === 1 ? '1 task still needs you.' : `${left} tasks still need you.`;
}
