/**
 * A long-lived git that answers one request at a time. It starts at the first request and again after a death. After several
 * deaths in a row, or without an answer in time, it stays off, and the caller uses the plain command.
 *
 * If git dies before its answer is complete, the request ends without one, and the caller decides whether to retry.
 */

import type { ChildProcessWithoutNullStreams } from 'node:child_process';

import { defaultPolicy } from '../kernel/policy.ts';
import { endTree } from './run/limits.ts';
import { isOpeningPipe } from './run/pipes.ts';

export type ProcessAnswer =
  | { readonly kind: 'answered'; readonly answer: Buffer }
  /** It received the request and ended without a complete answer. */
  | { readonly kind: 'died'; readonly answer: undefined; readonly stderr: string }
  /** The answer would be larger than Copse reads. */
  | { readonly kind: 'too_large'; readonly answer: undefined; readonly what: string }
  /** It did not receive the request. */
  | { readonly kind: 'unavailable'; readonly answer: undefined };

/** The length of the answer in the output so far, or a lower bound of it. */
export type Measure = (
  said: Buffer,
) => { readonly whole: number } | { readonly atLeast: number } | { readonly tooLarge: string };

interface ProcessSettings {
  /** The `home` of the repository that it answers for. */
  readonly home: string;
  readonly start: () => ChildProcessWithoutNullStreams;
  /** The error text of a death that the request caused; such a death does not count. */
  readonly expectedLastWords?: RegExp;
  /** Called when it waits for a named pipe in the place of a file, before it is ended. */
  readonly onPipe?: () => void;
}

const MAX_DEATHS_IN_A_ROW = defaultPolicy.longLivedGit.deathsInARow;
const PATIENCE_MS = defaultPolicy.longLivedGit.patienceMs;
const FAREWELL_MS = defaultPolicy.longLivedGit.farewellMs;

export class LongLivedProcess {
  readonly #settings: ProcessSettings;
  #child: ChildProcessWithoutNullStreams | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #deathsInARow = 0;
  #isClosed = false;

  constructor(settings: ProcessSettings) {
    this.#settings = settings;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get home(): string {
    return this.#settings.home;
  }

  ask(request: string, measure: Measure): Promise<ProcessAnswer> {
    const answer = this.#turn.then(() => this.#ask(request, measure));
    // Without the answer, which may be large and would stay in memory until the next request.
    this.#turn = answer.then(forgetIt, forgetIt);
    return answer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.rest();
  }

  /** Ends the process after the requests that came before, until the next one. */
  rest(): Promise<void> {
    const ended = this.#turn.then(() => this.#end());
    this.#turn = ended;
    return ended;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    hold(child, true);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    const impatience = setTimeout(() => child.kill('SIGKILL'), FAREWELL_MS);
    await ended;
    clearTimeout(impatience);
  }

  async #ask(request: string, measure: Measure): Promise<ProcessAnswer> {
    if (this.#isClosed || this.#deathsInARow >= MAX_DEATHS_IN_A_ROW) {
      return { kind: 'unavailable', answer: undefined };
    }
    this.#child ??= this.#start();
    const outcome = await this.#exchange(this.#child, request, measure);
    const isHealthy =
      outcome.kind === 'answered' ||
      outcome.kind === 'too_large' ||
      (outcome.kind === 'died' && this.#settings.expectedLastWords?.test(outcome.stderr) === true);
    if (isHealthy) this.#deathsInARow = 0;
    else this.#deathsInARow += 1;
    return outcome;
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = this.#settings.start();
    started.add(this);
    // It may also end between requests.
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

  #exchange(
    child: ChildProcessWithoutNullStreams,
    request: string,
    measure: Measure,
  ): Promise<ProcessAnswer> {
    return new Promise((resolve) => {
      const said: Buffer[] = [];
      const complaints: Buffer[] = [];
      let length = 0;
      let atLeast = 1;
      const settle = (answer: ProcessAnswer) => {
        clearInterval(impatience);
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
        if ('whole' in measured) settle({ kind: 'answered', answer: so.subarray(0, measured.whole) });
        else if ('tooLarge' in measured) {
          // The rest of the answer would come before the next one.
          this.#child = undefined;
          child.kill('SIGKILL');
          settle({ kind: 'too_large', answer: undefined, what: measured.tooLarge });
        } else atLeast = Math.max(measured.atLeast, length + 1);
      };
      const complain = (chunk: Buffer) => complaints.push(chunk);
      const die = () => {
        if (this.#child === child) this.#child = undefined;
        settle({ kind: 'died', answer: undefined, stderr: Buffer.concat(complaints).toString() });
      };
      const since = performance.now();
      const impatience = setInterval(() => {
        const isStuck = child.pid !== undefined && isOpeningPipe(child.pid);
        const isLate = performance.now() - since >= PATIENCE_MS;
        if (!isStuck && !isLate) return;
        if (isStuck) this.#settings.onPipe?.();
        else if (length === 0) this.#deathsInARow = MAX_DEATHS_IN_A_ROW;
        clearInterval(impatience);
        void endTree(child);
      }, defaultPolicy.git.lookEveryMs);
      hold(child, true);
      child.stdout.on('data', hear);
      child.stderr.on('data', complain);
      child.on('close', die).on('error', die);
      child.stdin.write(request);
    });
  }
}

const forgetIt = () => {};

const started = new Set<LongLivedProcess>();

/** Ends those of a repository. Another command of this process that asks them again starts them again. */
export async function restGits(home: string): Promise<void> {
  const own = [...started].filter((one) => one.home === home);
  await Promise.all(own.map((one) => one.rest()));
}

/** Ends those of all repositories. */
export async function restAll(): Promise<void> {
  await Promise.all([...started].map((one) => one.rest()));
}

/** Between requests, the child must not keep the parent process alive. */
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
