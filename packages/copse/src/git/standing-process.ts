/**
 * A git that stays and answers one request at a time: started when it is first needed, started again when it has died,
 * and given up when it dies too often in a row or does not answer, so that whoever asks takes the plain command instead.
 *
 * What a request means is not known here. If git dies before its answer is whole, the request is over without one, and
 * whoever asked decides whether it may be asked again.
 */

import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** `died`: it was asked and ended without a whole answer. `unavailable`: it was not asked at all. */
export type Answer =
  | { readonly answer: Buffer }
  | { readonly answer: undefined; readonly because: 'died' | 'unavailable'; readonly stderr: string };

/** How much of what was said so far is the answer, or how much it will be at least. */
export type Measure = (said: Buffer) => { readonly whole: number } | { readonly atLeast: number };

interface StandingSettings {
  readonly start: () => ChildProcessWithoutNullStreams;
  /** What it says when it ends because of the request, not because something is wrong with it. */
  readonly expectedLastWords?: RegExp;
}

const MAX_DEATHS_IN_A_ROW = 3;
/** Where git's output cannot be made to come at once, an answer would never come. */
const PATIENCE_MS = 10_000;
const FAREWELL_MS = 1_000;

export class StandingProcess {
  readonly #settings: StandingSettings;
  #child: ChildProcessWithoutNullStreams | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #deathsInARow = 0;
  #isClosed = false;

  constructor(settings: StandingSettings) {
    this.#settings = settings;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  ask(request: string, measure: Measure): Promise<Answer> {
    const answer = this.#turn.then(() => this.#ask(request, measure));
    this.#turn = answer;
    return answer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.rest();
  }

  /** Until it is needed again. */
  async rest(): Promise<void> {
    await this.#turn;
    const child = this.#child;
    if (child === undefined) return;
    hold(child, true);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    const impatience = setTimeout(() => child.kill('SIGKILL'), FAREWELL_MS);
    await ended;
    clearTimeout(impatience);
  }

  async #ask(request: string, measure: Measure): Promise<Answer> {
    if (this.#isClosed || this.#deathsInARow >= MAX_DEATHS_IN_A_ROW) {
      return { answer: undefined, because: 'unavailable', stderr: '' };
    }
    this.#child ??= this.#start();
    const outcome = await this.#exchange(this.#child, request, measure);
    const isWell = outcome.answer !== undefined || this.#settings.expectedLastWords?.test(outcome.stderr);
    if (isWell) this.#deathsInARow = 0;
    else this.#deathsInARow += 1;
    return outcome;
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = this.#settings.start();
    started.add(this);
    // It may also end while nobody asks it anything.
    const forget = () => {
      if (this.#child !== child) return;
      this.#child = undefined;
      started.delete(this);
    };
    child.on('error', forget).on('exit', forget);
    child.stdin.on('error', () => {});
    child.stderr.on('data', () => {});
    return child;
  }

  #exchange(child: ChildProcessWithoutNullStreams, request: string, measure: Measure): Promise<Answer> {
    return new Promise((resolve) => {
      const said: Buffer[] = [];
      const complaints: Buffer[] = [];
      let length = 0;
      let atLeast = 1;
      const settle = (answer: Answer) => {
        clearTimeout(impatience);
        child.stdout.off('data', hear);
        child.stderr.off('data', complain);
        child.off('close', die).off('error', die);
        hold(child, false);
        resolve(answer);
      };
      const hear = (chunk: Buffer) => {
        said.push(chunk);
        length += chunk.length;
        if (length < atLeast) return;
        const so = Buffer.concat(said);
        const measured = measure(so);
        if ('whole' in measured) settle({ answer: so.subarray(0, measured.whole) });
        else atLeast = Math.max(measured.atLeast, length + 1);
      };
      const complain = (chunk: Buffer) => complaints.push(chunk);
      const die = () => {
        if (this.#child === child) this.#child = undefined;
        settle({ answer: undefined, because: 'died', stderr: Buffer.concat(complaints).toString() });
      };
      const impatience = setTimeout(() => {
        if (length === 0) this.#deathsInARow = MAX_DEATHS_IN_A_ROW;
        child.kill('SIGKILL');
      }, PATIENCE_MS);
      hold(child, true);
      child.stdout.on('data', hear);
      child.stderr.on('data', complain);
      child.on('close', die).on('error', die);
      child.stdin.write(request);
    });
  }
}

const started = new Set<StandingProcess>();

/** They end with the program. One that goes on after it is done with its repositories ends them with this. */
export async function restAll(): Promise<void> {
  await Promise.all([...started].map((standing) => standing.rest()));
}

/** Between requests it must not keep a program from ending that is otherwise done. */
function hold(child: ChildProcessWithoutNullStreams, isHeld: boolean): void {
  for (const part of [
    child,
    child.stdin,
    child.stdout,
    child.stderr,
  ] as readonly Partial<NodeJS.RefCounted>[]) {
    if (isHeld) part.ref?.();
    else part.unref?.();
  }
}
