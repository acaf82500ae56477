/** Processes that use workspaces, and how to end them. */

import { type ChildProcess, spawn } from 'node:child_process';

import { plainEnv } from '../cli.ts';
import { bundleWorker } from '../agents/worker-program.ts';
import type { WorkerOrders, WorkerSaying } from './workspace-worker.ts';

/** A process group of its own, and every whole line it said. */
export class Worker {
  readonly said: WorkerSaying[] = [];
  readonly ended: Promise<NodeJS.Signals | number | null>;
  readonly #child: ChildProcess;

  constructor(orders: WorkerOrders) {
    const { file, env } = bundleWorker(new URL('workspace-worker.ts', import.meta.url));
    this.#child = spawn(process.execPath, [file, JSON.stringify(orders)], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...plainEnv, ...env },
    });
    let rest = '';
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.said.push(JSON.parse(line) as WorkerSaying);
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => resolve(signal ?? code));
    });
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The whole group: git, too, stops where it is. */
  kill(): void {
    if (this.#child.pid !== undefined && !this.hasEnded) process.kill(-this.#child.pid, 'SIGKILL');
  }
}

/** How it ended: a signal, or an exit code. */
export async function runWorker(
  orders: WorkerOrders,
): Promise<{ readonly end: NodeJS.Signals | number | null; readonly said: readonly WorkerSaying[] }> {
  const worker = new Worker(orders);
  return { end: await worker.ended, said: worker.said };
}

/** So many at a time, in order of their arrival. */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const problems: unknown[] = [];
  const run = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await work(next).catch((problem: unknown) => problems.push(problem));
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  // All of them: one failing point among many says little.
  if (problems.length > 0) throw new AggregateError(problems, problems.map(String).join('\n\n'));
}
