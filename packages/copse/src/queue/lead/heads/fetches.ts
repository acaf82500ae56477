/**
 * Fetches of heads, beside the looks of the leader: a large head on a slow line holds up no other landing.
 *
 *   what a look lacks       one fetch for all of it; the look waits for it a moment
 *   it takes longer         the look goes on without it. The next one fetches each alone: none waits for a large one, and what is
 *                           alone is not ended
 *   it ended                the next look sees whether the commit is here, or why not
 */

import type { LandingId } from '../../../kernel/ids.ts';
import type { Timer } from '../../../kernel/clock.ts';
import type { WorkRef, WorkRefs } from '../../../git/port.ts';

export interface WantedHead {
  readonly id: LandingId;
  readonly ref: WorkRef;
}

/** `answered`: if the commit is not here now, the remote lacks it. */
export type FetchEnd = { readonly kind: 'answered' } | { readonly kind: 'failed'; readonly reason: string };

interface Running {
  readonly ids: ReadonlySet<LandingId>;
  readonly done: Promise<void>;
  end(): void;
}

interface FetchSettings {
  /** How long a look waits for a fetch. */
  readonly patienceMs: number;
  /** Fetches of one head that run at once. */
  readonly most: number;
}

export class HeadFetches {
  readonly #work: Pick<WorkRefs, 'fetch'>;
  readonly #clock: Timer;
  readonly #settings: FetchSettings;
  readonly #running = new Set<Running>();
  readonly #ends = new Map<LandingId, FetchEnd>();
  readonly #stopping = new AbortController();

  constructor(work: Pick<WorkRefs, 'fetch'>, clock: Timer, settings: FetchSettings) {
    this.#work = work;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Fetches them, and waits for that a moment. */
  async bring(wanted: readonly WantedHead[]): Promise<void> {
    const fresh = wanted.filter(({ id }) => !this.isFetching(id));
    const together = wanted.filter(({ id }) => this.isFetching(id) && !this.#isAlone(id));
    for (const one of this.#running) if (one.ids.size > 1) one.end();
    const started = [fresh, ...together.map((one) => [one])].flatMap((heads) => this.#start(heads) ?? []);
    if (started.length === 0) return;
    const waited = new AbortController();
    await Promise.race([Promise.all(started), this.#clock.sleep(this.#settings.patienceMs, waited.signal)]);
    waited.abort();
  }

  isFetching(id: LandingId): boolean {
    return [...this.#running].some(({ ids }) => ids.has(id));
  }

  /** How its last fetch ended; undefined if there was none, or one that goes on. */
  endOf(id: LandingId): FetchEnd | undefined {
    return this.isFetching(id) ? undefined : this.#ends.get(id);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#running].map(({ done }) => done));
  }

  #isAlone(id: LandingId): boolean {
    return [...this.#running].some(({ ids }) => ids.size === 1 && ids.has(id));
  }

  #start(heads: readonly WantedHead[]): Promise<void> | undefined {
    const alone = [...this.#running].filter(({ ids }) => ids.size === 1);
    const isFull = alone.length >= this.#settings.most;
    if (heads.length === 0 || isFull || this.#stopping.signal.aborted) return undefined;
    const ended = new AbortController();
    const fetch = async (): Promise<FetchEnd> => {
      const refs = heads.map(({ ref }) => ref);
      const signal = AbortSignal.any([this.#stopping.signal, ended.signal]);
      const fetched = await this.#work.fetch(refs, { signal });
      return fetched.kind === 'failed' ? fetched : { kind: 'answered' };
    };
    for (const { id } of heads) this.#ends.delete(id);
    const settle = async () => {
      const end = await fetch().catch((error: unknown): FetchEnd => {
        const reason = error instanceof Error ? error.message : String(error);
        return { kind: 'failed', reason };
      });
      this.#running.delete(running);
      // After `end`, others fetch them.
      if (!ended.signal.aborted) for (const { id } of heads) this.#ends.set(id, end);
    };
    const done = settle();
    const ids = new Set(heads.map(({ id }) => id));
    const running: Running = { ids, done, end: () => ended.abort() };
    this.#running.add(running);
    return done;
  }
}
