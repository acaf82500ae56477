/**
 * The sources of an orchestrator: those that are due are looked at one after another, beside the passes, and told what became
 * of their items. A failure is said once, and followed by a backoff; a rate limit is waited for. The times are not on the board: a new
 * orchestrator looks at once.
 */

import { backoffMs } from '../../kernel/backoff.ts';
import type { EventNumber } from '../../kernel/ids.ts';
import { BoardAway } from '../../board/port.ts';
import { LeadSilence } from '../../queue/lead/leadership.ts';
import type { RunContext } from '../../queue/context.ts';
import type { Source, SourceProblem } from '../port.ts';
import type { ScheduleDefinition } from '../rules/schedule.ts';
import { limitedUntil } from '../rules/limit.ts';
import { drawItems, loadDueDraws, oweRuns } from './draw.ts';
import { giveBackSources, holdSource } from './hold.ts';
import { remember } from './remember.ts';
import { dueReports, reportDue } from './report.ts';
import { syncSource } from './sync.ts';

interface Times {
  readonly nextMs: number;
  readonly failures: number;
  /** The last event of the board when its reports were last looked at. */
  readonly event: number;
}

const FIRST: Times = { nextMs: -Infinity, failures: 0, event: -1 };

export class SourceDuty {
  readonly #context: RunContext;
  readonly #onProblem: (reason: string) => void;
  readonly #times = new Map<string, Times>();
  readonly #silence = new LeadSilence();
  #running: Promise<void> | null = null;
  #isStopping = false;

  constructor(context: RunContext, onProblem: (reason: string) => void) {
    this.#context = context;
    this.#onProblem = onProblem;
  }

  get isQuiet(): boolean {
    return this.#running === null;
  }

  async settle(): Promise<void> {
    await this.#running;
  }

  /** Another machine may look at its sources at once. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.settle();
    await giveBackSources(this.#context, this.#silence);
  }

  /** Begins what is due, and does not wait for it. `starts`: also runs that take an item. */
  pass({ starts = true }: { readonly starts?: boolean } = {}): void {
    if (this.#running !== null || this.#isStopping || this.#context.sources.length === 0) return;
    this.#running = this.#look(starts)
      .catch((error: unknown) => this.#onProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        this.#running = null;
      });
  }

  async #look(starts: boolean): Promise<void> {
    for (const source of this.#context.sources) {
      if (this.#isStopping) return;
      try {
        await this.#lookAt(source, starts ? await loadDueDraws(this.#context, source) : []);
      } catch (error) {
        if (error instanceof BoardAway) throw error;
        this.#fail(source, error instanceof Error ? error.message : String(error));
      }
    }
  }

  /** What a source throws stops no other, and is followed by a backoff as well. */
  #fail({ name }: Source, reason: string): void {
    const times = this.#times.get(name) ?? FIRST;
    const failures = times.failures + 1;
    this.#times.set(name, {
      ...times,
      failures,
      nextMs: this.#context.clock.elapsedMs() + this.#waitMs(failures),
    });
    remember(this.#context, name, { kind: 'failed', reason, until: null }, false);
    this.#onProblem(`Source ${name}: ${reason}`);
  }

  #waitMs(failures: number): number {
    const { firstAgainMs, mostAgainMs } = this.#context.policy.pullRequest;
    return backoffMs(failures, { firstMs: firstAgainMs, mostMs: mostAgainMs });
  }

  /** A webhook says that the source changed; what changed is for the look to find out. */
  async #isWoken(name: string, { event }: Times): Promise<boolean> {
    if (event < 0) return false;
    const query = { after: event as EventNumber, limit: 100, types: ['delivery.received'] as const };
    const received = await this.#context.board.events(query);
    return received.some((one) => one.event.type === 'delivery.received' && one.event.source === name);
  }

  /** `draws`: schedules that now want an item of it. */
  async #lookAt(source: Source, draws: readonly ScheduleDefinition[]): Promise<void> {
    const { board, clock, sourceMemories } = this.#context;
    const { name } = source;
    const times = this.#times.get(name) ?? FIRST;
    if (limitedUntil(sourceMemories.load(name).limit, clock.now()) !== null)
      return oweRuns(this.#context, draws);
    const event = await board.lastEvent();
    const isChanged = times.failures === 0 && event !== times.event;
    const isWanted = draws.length > 0 && times.failures === 0;
    const isDue =
      isWanted || clock.elapsedMs() >= times.nextMs || (isChanged && (await this.#isWoken(name, times)));
    if (!isDue) await oweRuns(this.#context, draws);
    if (!isDue && !(isChanged && (await dueReports(this.#context, source)).length > 0)) {
      this.#times.set(name, { ...times, event });
      return;
    }
    const options = { silence: this.#silence, isKept: true };
    const held = await holdSource(
      this.#context,
      name,
      async (hold): Promise<SourceProblem | null> => {
        const synced = isDue ? await syncSource(this.#context, source) : null;
        if (synced?.kind === 'failed') return synced;
        const options = { due: draws, onProblem: this.#onProblem };
        const undrawn = synced && (await drawItems(this.#context, source, synced.waiting, options));
        const reported = await reportDue(this.#context, source, hold);
        if (reported.kind === 'failed') return reported;
        for (const note of reported.notes) this.#onProblem(note);
        return synced?.problem ?? undrawn ?? reported.problem;
      },
      options,
    );
    // Another machine or process looks at it.
    const problem = held.kind === 'held' ? held.value : null;
    const failures = problem === null ? 0 : times.failures + 1;
    const waitMs = problem === null ? source.intervalMs : this.#waitMs(failures);
    const nextMs = isDue || problem !== null ? clock.elapsedMs() + waitMs : times.nextMs;
    this.#times.set(name, { nextMs, failures, event });
    if (held.kind === 'held') remember(this.#context, name, problem, isDue);
    if (problem === null) return;
    this.#onProblem(`Source ${name}: ${problem.reason}`);
    await oweRuns(this.#context, draws);
  }
}
