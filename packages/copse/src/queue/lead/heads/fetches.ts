/**
 * Fetches of heads, beside the looks of the leader: a large head on a slow line holds up no other landing.
 *
 *   what a look lacks       one fetch for all of it; the look waits for it a moment
 *   it takes longer         it goes on, and the others of it are fetched one by one too, so that they do not wait for the large one
 *   it ended                the next look sees whether the commit is here, or why not
 */

import type { LandingId } from '../../../kernel/ids.ts';
import type { Timer } from '../../../kernel/clock.ts';
import type { WorkRef, WorkRefs } from '../../../git/port.ts';

export interface WantedHead {
  readonly id: LandingId;
  readonly ref: WorkRef;
}

interface Running {
  readonly ids: ReadonlySet<LandingId>;
  readonly done: Promise<void>;
}

interface FetchSettings {
  /** How long a look waits for a fetch. */
  readonly patienceMs: number;
  /** Fetches that run at once. */
  readonly most: number;
}

export class HeadFetches {
  readonly #work: Pick<WorkRefs, 'fetch'>;
  readonly #clock: Timer;
  readonly #settings: FetchSettings;
  readonly #running = new Set<Running>();
  readonly #failed = new Map<LandingId, string>();
  readonly #stopping = new AbortController();

  constructor(work: Pick<WorkRefs, 'fetch'>, clock: Timer, settings: FetchSettings) {
    this.#work = work;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Fetches them, and waits for that a moment. */
  async bring(wanted: readonly WantedHead[]): Promise<void> {
    const fresh = wanted.filter(({ id }) => !this.isFetching(id));
    const others = wanted.filter(({ id }) => this.isFetching(id) && !this.#isAlone(id));
    this.#start(fresh);
    for (const one of others) if (this.#running.size < this.#settings.most) this.#start([one]);
    if (this.#running.size === 0) return;
    const waited = new AbortController();
    const all = Promise.all([...this.#running].map(({ done }) => done));
    await Promise.race([all, this.#clock.sleep(this.#settings.patienceMs, waited.signal)]);
    waited.abort();
  }

  isFetching(id: LandingId): boolean {
    return [...this.#running].some(({ ids }) => ids.has(id));
  }

  /** Why its last fetch failed; null if the remote lacks it. */
  failureOf(id: LandingId): string | null {
    return this.#failed.get(id) ?? null;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#running].map(({ done }) => done));
  }

  #isAlone(id: LandingId): boolean {
    return [...this.#running].some(({ ids }) => ids.size === 1 && ids.has(id));
  }

  #start(heads: readonly WantedHead[]): void {
    if (heads.length === 0 || this.#stopping.signal.aborted) return;
    const fetch = async () => {
      const refs = heads.map(({ ref }) => ref);
      const fetched = await this.#work.fetch(refs, { signal: this.#stopping.signal });
      for (const { id } of heads)
        if (fetched.kind === 'failed') this.#failed.set(id, fetched.reason);
        else this.#failed.delete(id);
    };
    const done = fetch()
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        for (const { id } of heads) this.#failed.set(id, reason);
      })
      .finally(() => this.#running.delete(running));
    const running: Running = { ids: new Set(heads.map(({ id }) => id)), done };
    this.#running.add(running);
  }
}
