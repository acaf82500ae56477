/**
 * Landings that failed unexpectedly, and who waits because of them.
 *
 *   several landed together   no task is blamed: they land one at a time until one fails alone
 *   one alone                 it is set aside and retried later; after `failedTimes` a person is asked
 *   the machine's fault       a full disk, for example: no task is blamed, and the queue says so
 *
 * Losing this memory costs only time: what fails again is found again.
 */

import { backoffMs } from '../../kernel/backoff.ts';
import type { CommitId, LandingId } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { QueueEntry } from './decide/facts.ts';
import type { QueuedChange } from './decide/state.ts';
import type { WaitReason } from './wait-reason.ts';

interface FailedLanding {
  readonly head: CommitId;
  readonly times: number;
  readonly detail: string;
  readonly againMs: number;
}

export class Failures {
  readonly #failed = new Map<LandingId, FailedLanding>();
  /** They failed together. */
  readonly #suspects = new Map<LandingId, CommitId>();

  suspect(changes: readonly QueuedChange[]): void {
    for (const { landing, head } of changes) this.#suspects.set(landing, head);
  }

  /** They were tried, and nothing unexpected happened. */
  clear(changes: readonly QueuedChange[]): void {
    for (const { landing } of changes) this.#suspects.delete(landing);
  }

  /** How often this head has failed by now. */
  add(
    { landing, head }: QueuedChange,
    detail: string,
    { nowMs, policy }: { readonly nowMs: number; readonly policy: Policy['landing'] },
  ): number {
    this.#suspects.delete(landing);
    const known = this.#failed.get(landing);
    const times = known?.head === head ? known.times + 1 : 1;
    const { troubleFirstMs: firstMs, troubleMostMs: mostMs } = policy;
    this.#failed.set(landing, {
      head,
      times,
      detail,
      againMs: nowMs + backoffMs(times, { firstMs, mostMs }),
    });
    return times;
  }

  /** `asked`: landings that a person asked to try again. Those that left the queue are forgotten. */
  hold(
    entries: readonly QueueEntry[],
    { nowMs, asked }: { readonly nowMs: number; readonly asked: ReadonlySet<LandingId> },
  ): readonly QueueEntry[] {
    const heads = new Map(entries.map(({ landing, head }) => [landing, head]));
    for (const [id, head] of this.#suspects) if (heads.get(id) !== head) this.#suspects.delete(id);
    for (const [id, { head }] of this.#failed) if (heads.get(id) !== head) this.#failed.delete(id);
    const waiting = entries.map((entry): QueueEntry => {
      const failure = this.#failed.get(entry.landing);
      if (failure === undefined || entry.held !== null || asked.has(entry.landing)) return entry;
      if (nowMs >= failure.againMs) return entry;
      return { ...entry, held: { kind: 'landing_failed', detail: failure.detail } };
    });
    const next = waiting.find(({ landing, held }) => held === null && this.#suspects.has(landing));
    if (next === undefined) return waiting;
    const wait = (entry: QueueEntry): QueueEntry => ({ ...entry, held: ONE_AT_A_TIME });
    return waiting.map((entry) => (entry === next || entry.held !== null ? entry : wait(entry)));
  }
}

const ONE_AT_A_TIME: WaitReason = { kind: 'one_at_a_time' };

export function detailOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Says nothing about the change that was being landed. Git's messages are in English: process.ts. */
export function isFaultOfMachine(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CODES.has(code) || MESSAGES.test(detailOf(error));
}

const CODES: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
]);

const MESSAGES =
  /No space left on device|Disk quota exceeded|Read-only file system|Input\/output error|Too many open files|Cannot allocate memory|[Oo]ut of memory|Resource temporarily unavailable/;
