/** The statuses of the loop in lead-queue.ts, and what it hands to the code of each. */

import type { CommitId, TaskId } from '../../../kernel/ids.ts';
import type { ProcessIdentity } from '../../../kernel/process.ts';
import type { RunContext } from '../../context.ts';
import type { EndedRun, QueuePlan } from '../../rules/decide/decide.ts';
import type { QueueCause } from '../../rules/hand-back.ts';
import type { Landing } from '../../rules/landing.ts';
import type { CheckRuns, RequiredCheck } from '../checks.ts';
import type { FoundBase, LandPlan, LandingStep } from '../land.ts';
import type { LandingBases } from '../landing-base.ts';
import type { Lead } from '../leadership.ts';
import type { QueueMemory } from '../memory.ts';
import type { LandedTask } from '../record-landed.ts';
import type { WaitFacts } from '../waits.ts';

export type Status =
  | { readonly kind: 'looking' }
  | { readonly kind: 'deciding'; readonly seen: Seen }
  | { readonly kind: 'landing'; readonly seen: Seen; readonly plan: QueuePlan; readonly land: LandPlan }
  | {
      readonly kind: 'acting';
      readonly seen: Seen;
      readonly plan: QueuePlan;
      /** What the landing came to; null when there was none. */
      readonly landed: 'landed' | 'outdated' | null;
    }
  | { readonly kind: 'changed'; readonly hasLanded: boolean }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'ended'; readonly because: LeadEnd };

export type InStatus<Kind extends Status['kind']> = Extract<Status, { kind: Kind }>;

export type LeadEnd = 'idle' | 'stopped' | 'lead_lost';

export const LEAD_LOST: Status = { kind: 'ended', because: 'lead_lost' };

/** What a look found. */
export interface Seen extends WaitFacts {
  readonly base: FoundBase;
  /** Both read at the same moment: a check that ends in between would count as lost. */
  readonly running: readonly number[];
  readonly ended: readonly EndedRun[];
}

/** What stays the same from status to status. */
export interface Leading {
  readonly context: RunContext;
  readonly lead: Lead;
  readonly options: QueueOptions;
  readonly required: readonly RequiredCheck[];
  readonly runs: CheckRuns;
  readonly bases: LandingBases;
  /** Of this process, written beside its checks; undefined where the system does not tell processes apart. */
  readonly process: ProcessIdentity | undefined;
}

export interface QueueOptions {
  readonly memory: QueueMemory;
  readonly signal: AbortSignal;
  /** Only these tasks; for a person who waits for them. */
  readonly only?: ReadonlySet<TaskId>;
  readonly onLanded: (landed: LandedTask) => void;
  /** A landing that is not handed back stays in the queue, and the next look rejects it again. */
  readonly onRejected: (landing: Landing, cause: QueueCause, tip: CommitId) => Promise<void>;
  readonly onNote: (reason: string) => void;
  /** Checks are running, which takes a while. */
  readonly onBusy?: () => void;
  readonly onStep?: (step: LandingStep) => void;
}
