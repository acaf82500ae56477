/**
 * A board for processes that run long: while its server is away, every question waits, and is asked again when the server is
 * back. A transaction is decided again on the state that is there then; one whose commit was recorded before the connection
 * was lost counts as done, and is not run again.
 *
 * A server that is away is probed with one small question; all others wait for its answer. A question that fails again and again
 * while the server answers the probe, because it takes too long for example, ends with its error after a few times. When the process is told to stop,
 * whatever waits fails, and whatever it asks after that has a moment to be answered.
 */

import { backoffMs } from '../kernel/backoff.ts';
import { type Policy, defaultPolicy } from '../kernel/policy.ts';
import { type Board, BoardAway, BoardUnavailable, CommitUnknown } from './port.ts';

export interface Patience {
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  /** Called once when the server is away or repeatedly fails to answer one question, and once when that is over. */
  readonly onAway: (error: BoardAway) => void;
  readonly onBack: (awayMs: number) => void;
  readonly limits?: Pick<Policy['database'], 'againFirstMs' | 'againMostMs' | 'lastMs' | 'sameTimes'>;
}

export function patientBoard(board: Board, patience: Patience): Board {
  const waiting = new Waiting(patience, () => board.lastEvent());
  const own: Partial<Board> = {
    transact: (work) => transactPatiently(board, waiting, work),
    exportTo: (write) => exportPatiently(board, waiting, write),
    close: () => board.close(),
  };
  return new Proxy(board, {
    get(target, name) {
      if (name in own) return Reflect.get(own, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => waiting.ask(() => value.apply(target, given) as Promise<unknown>);
    },
  });
}

/** For a process that has to have the board before it can do anything. */
export async function openPatiently<T>(open: () => Promise<T>, patience: Patience): Promise<T> {
  let opened: { readonly it: T } | undefined;
  const waiting = new Waiting(patience, async () => (opened ??= { it: await open() }));
  await waiting.ask(async () => (opened ??= { it: await open() }));
  if (opened === undefined) throw new Error('The board was not opened');
  return opened.it;
}

async function transactPatiently<T>(
  board: Board,
  waiting: Waiting,
  work: Parameters<typeof board.transact<T>>[0],
): Promise<T> {
  let unknown: CommitUnknown | undefined;
  let value: T;
  return waiting.ask(async () => {
    if (unknown !== undefined) {
      if ((await unknown.settle()) === 'committed') return value;
      unknown = undefined;
    }
    try {
      return await board.transact(async (transaction) => (value = await work(transaction)));
    } catch (error) {
      if (error instanceof CommitUnknown) unknown = error;
      throw error;
    }
  });
}

/** Waits before the first line only: to begin again after it would write the board twice. */
function exportPatiently(board: Board, waiting: Waiting, write: Parameters<Board['exportTo']>[0]) {
  let hasBegun = false;
  return waiting.ask(async () => {
    try {
      await board.exportTo((line) => {
        hasBegun = true;
        return write(line);
      });
    } catch (error) {
      if (!hasBegun || !(error instanceof BoardAway)) throw error;
      throw new BoardUnavailable(`The export is not complete. ${error.message}`, 'copse export', {
        cause: error,
      });
    }
  });
}

/** `answers`: the probe was answered at once. */
type Away = 'was_away' | 'answers';

class Waiting {
  readonly #patience: Patience;
  readonly #probe: () => Promise<unknown>;
  readonly #limits: NonNullable<Patience['limits']>;
  /** Questions that are being asked; each fails soon after the process is told to stop. */
  readonly #asked = new Set<(error: BoardAway) => void>();
  /** Set while the server is away; resolves when it is back or the waiting is over. */
  #away: Promise<Away> | undefined;
  #lastError: BoardAway | undefined;

  constructor(patience: Patience, probe: () => Promise<unknown>) {
    this.#patience = patience;
    this.#probe = probe;
    this.#limits = patience.limits ?? defaultPolicy.database;
    patience.signal.addEventListener('abort', () => this.#giveUpSoon(), { once: true });
  }

  async ask<T>(question: () => Promise<T>): Promise<T> {
    const { signal, onAway } = this.#patience;
    const alone = { failures: 0, sinceMs: 0 };
    try {
      for (let tries = 1; ; tries += 1) {
        if (this.#away !== undefined) await this.#away;
        if (signal.aborted && this.#lastError !== undefined) throw this.#lastError;
        try {
          return await this.#askOnce(question);
        } catch (error) {
          if (!(error instanceof BoardAway)) throw error;
          if (signal.aborted) throw (this.#lastError = error);
          // The server may be there, and only this question fail.
          if (tries > 1) await this.#sleep(tries - 1);
          if ((await (this.#away ??= this.#untilBack(error))) === 'was_away') alone.failures = 0;
          else alone.failures += 1;
          if (alone.failures >= this.#limits.sameTimes) throw error;
          if (alone.failures < 2 || alone.sinceMs > 0) continue;
          alone.sinceMs = performance.now();
          onAway(error);
        }
      }
    } finally {
      if (alone.sinceMs > 0) this.#patience.onBack(performance.now() - alone.sinceMs);
    }
  }

  #askOnce<T>(question: () => Promise<T>): Promise<T> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    this.#asked.add(reject);
    if (this.#patience.signal.aborted) this.#giveUpSoon();
    return Promise.race([question(), givenUp]).finally(() => this.#asked.delete(reject));
  }

  #giveUpSoon(): void {
    const asked = [...this.#asked];
    const timer = setTimeout(() => {
      for (const reject of asked)
        reject(
          new BoardAway(
            'The board did not answer before this process ended.',
            'copse events --last 5 # to see whether the change was recorded, before you repeat it',
          ),
        );
    }, this.#limits.lastMs);
    timer.unref();
  }

  /** One lost connection is no outage: the server is told to be away when it does not answer a probe either. */
  async #untilBack(first: BoardAway): Promise<Away> {
    const { signal, onAway, onBack } = this.#patience;
    const since = performance.now();
    let isTold = false;
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        await this.#askOnce(this.#probe);
        break;
      } catch (error) {
        this.#lastError = error instanceof BoardAway ? error : first;
        // The server answers; the question itself shows what is wrong.
        if (!(error instanceof BoardAway)) break;
        if (signal.aborted) break;
        if (!isTold) onAway(error);
        isTold = true;
      }
      await this.#sleep(failures);
    }
    this.#away = undefined;
    if (signal.aborted) {
      this.#lastError ??= first;
      return 'was_away';
    }
    this.#lastError = undefined;
    if (!isTold) return 'answers';
    onBack(performance.now() - since);
    return 'was_away';
  }

  /** Random, so that the processes of a board do not ask all at once. */
  async #sleep(failures: number): Promise<void> {
    const { signal } = this.#patience;
    const { againFirstMs: firstMs, againMostMs: mostMs } = this.#limits;
    const ms = backoffMs(failures, { firstMs, mostMs }) * (0.5 + Math.random() / 2);
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
    });
  }
}
