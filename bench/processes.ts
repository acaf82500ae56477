/** Worker processes that talk to the benchmark that started them, and what a process uses. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

import type { Bench } from './row.ts';

/** `Asked` is what it is told to do, `Answer` what it says, in that order: it speaks first, when it is ready. */
export class WorkerProcess<Asked extends object, Answer> {
  readonly #child: ChildProcess;
  readonly #answers: Answer[] = [];
  #ended: string | undefined;
  #wake: () => void = () => {};

  constructor(bench: Bench, file: string, ...args: readonly string[]) {
    this.#child = fork(new URL(`workers/${file}`, import.meta.url), args);
    this.#child.on('message', (answer) => {
      this.#answers.push(answer as Answer);
      this.#wake();
    });
    this.#child.once('exit', (code, signal) => {
      this.#ended = `${file} ended with ${signal ?? code}`;
      this.#wake();
    });
    bench.atEnd(() => this.end());
  }

  ask(what: Asked): void {
    this.#child.send(what);
  }

  async answer(): Promise<Answer> {
    for (;;) {
      const answer = this.#answers.shift();
      if (answer !== undefined) return answer;
      if (this.#ended !== undefined) throw new Error(this.#ended);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async end(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}

/** The other side: answers are sent in a worker with this. */
export function say(answer: unknown): void {
  if (process.send === undefined) throw new Error('This is started by a benchmark, not by hand.');
  process.send(answer);
}

const TICKS_PER_SECOND = 100;

/** How much of a core the process uses meanwhile, in percent. */
export async function coreShareOf(pid: number, meanwhile: () => Promise<unknown>): Promise<number> {
  const [before, beganMs] = [ticksOf(pid), performance.now()];
  await meanwhile();
  const seconds = (performance.now() - beganMs) / 1_000;
  return ((ticksOf(pid) - before) / TICKS_PER_SECOND / seconds) * 100;
}

function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

export function megabytesOf(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1_024) / 1_000_000;
}
