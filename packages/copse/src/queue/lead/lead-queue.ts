/**
 * Leads the queue of one target. It keeps nothing that cannot be found out again: killed at any moment, the next leader
 * goes on from the board and from git. The loop goes from status to status (statuses/ has a file for each):
 *
 *   looking   reads the board and git
 *             → ended      the lead is lost, or the signal came
 *             → changed    an interrupted landing was finished, or a branch moved
 *             → unchanged  the queue is empty, or it is unknown what to land on
 *             → deciding   otherwise
 *   deciding  asks rules/decide what to start, land and hand back
 *             → landing    something can land
 *             → acting     nothing can
 *   landing   moves the target
 *             → changed    the remote moved since the look, or others pushed first too often
 *             → ended      the lead is lost
 *             → deciding   the target cannot move; decided again with that fact, so that checks go on
 *             → acting     it moved, or something changed meanwhile
 *   acting    writes the state, starts and stops checks, hands back, records why entries wait
 *             → ended      the lead is lost
 *             → changed    something landed or changed
 *             → unchanged  otherwise
 *   changed   → looking, at once after a landing, else after a pause that grows
 *   unchanged → ended      no check is running or has just ended, and none is retried soon
 *             → looking    when a check ends, the board changes, or after a while
 */

import { decided } from '../../kernel/decision.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import { change } from '../../board/context.ts';
import { detailOf } from '../rules/failures.ts';
import type { RunContext } from '../context.ts';
import { CheckRuns, requiredChecks } from './checks.ts';
import { LandingBases } from './landing-base.ts';
import { type Lead, requireLead } from './leadership.ts';
import { forgetCandidate } from './record-landed.ts';
import { recordStall } from './waits.ts';
import { act } from './statuses/acting.ts';
import { decide } from './statuses/deciding.ts';
import { land } from './statuses/landing.ts';
import { look, openLandings } from './statuses/looking.ts';
import type { LeadEnd, Leading, QueueOptions, Status, InStatus } from './statuses/status.ts';

/** Until no check is running and none can start. */
export async function leadQueue(context: RunContext, lead: Lead, options: QueueOptions): Promise<void> {
  const leader = new QueueLeader(context, lead, options);
  const subscription = await context.board.onChange(() => leader.wake());
  let hasLead = true;
  try {
    hasLead = (await leader.run()) !== 'lead_lost';
  } catch (error) {
    // Part of the queue's state: without it, `why` would say that everything lands soon.
    const reason = { kind: 'queue_failed', detail: detailOf(error) } as const;
    await recordStall(context, lead, reason).catch(() => {});
    throw error;
  } finally {
    await subscription.stop();
    await leader.stop({ hasLead });
  }
}

class QueueLeader implements Leading {
  readonly context: RunContext;
  readonly lead: Lead;
  readonly options: QueueOptions;
  readonly required: Leading['required'];
  readonly runs: CheckRuns;
  readonly bases: LandingBases;
  process: ProcessIdentity | undefined;
  /** Aborted when a check ends or the board changes; renewed at every look. */
  #woken = new AbortController();
  /** Looks in a row that changed something and landed nothing. */
  #vainLooks = 0;

  constructor(context: RunContext, lead: Lead, options: QueueOptions) {
    this.context = context;
    this.lead = lead;
    this.options = options;
    this.required = requiredChecks(context);
    this.runs = new CheckRuns(context, lead.target, {
      required: this.required,
      failures: options.memory.failures,
      onEnd: () => this.wake(),
    });
    this.bases = new LandingBases(context, lead);
  }

  wake(): void {
    this.#woken.abort();
  }

  async run(): Promise<LeadEnd> {
    await this.#recover();
    let status: Status = { kind: 'looking' };
    while (status.kind !== 'ended') status = await this.#next(status);
    return status.because;
  }

  async #next(status: Exclude<Status, { kind: 'ended' }>): Promise<Status> {
    switch (status.kind) {
      case 'looking':
        if (this.options.signal.aborted) return { kind: 'ended', because: 'stopped' };
        // Renewed before the look: a change during it wakes the next one.
        this.#woken = new AbortController();
        return look(this);
      case 'deciding':
        return decide(this, status.seen);
      case 'landing':
        return land(this, status);
      case 'acting':
        return act(this, status);
      case 'changed':
        return this.#pause(status);
      case 'unchanged':
        return this.#sleep();
      default:
        return unreachable(status);
    }
  }

  /** Without the lead the board is left to the new leader. */
  async stop({ hasLead }: { readonly hasLead: boolean }): Promise<void> {
    await this.runs.stop();
    if (!hasLead) return;
    await this.#clearRecordedRuns();
    await forgetCandidate(this.context, this.lead.target);
  }

  /** What a killed leader left: a kept candidate, which the target has or is built again, and running checks. */
  async #recover(): Promise<void> {
    const { checks, occupancy, pid, merging } = this.context;
    const settled = await merging.settleTarget(this.lead.target);
    if (settled.kind === 'settled' && settled.left !== null) this.options.onNote(settled.left);
    await forgetCandidate(this.context, this.lead.target);
    if (this.required.length === 0) return;
    for (const note of await checks.recover()) this.options.onNote(note);
    this.process = await occupancy.identify(pid);
  }

  /** Clears recorded runs, so that the view shows none while there is no leader. */
  async #clearRecordedRuns(): Promise<void> {
    await change(this.context, async (change) => {
      await requireLead(change, this.lead);
      const queue = await change.board.get('queue', this.lead.target);
      if (queue === undefined || queue.runs.length === 0) return;
      const { id, state } = queue;
      await change.apply(decided({ type: 'queue.decided', id, at: change.at, state, runs: [] }));
    });
  }

  /** A change that is refused again and again must not keep the machine busy. */
  async #pause({ hasLanded }: InStatus<'changed'>): Promise<Status> {
    const { clock, policy } = this.context;
    this.#vainLooks = hasLanded ? 0 : Math.min(this.#vainLooks + 1, policy.landing.longestPause);
    if (this.#vainLooks > 0)
      await clock.sleep(this.#vainLooks * policy.orchestration.gatherMs, this.options.signal);
    return { kind: 'looking' };
  }

  async #sleep(): Promise<Status> {
    const { clock, policy } = this.context;
    const { signal } = this.options;
    if (this.runs.isIdle && !(await this.#isRetriedSoon())) return { kind: 'ended', because: 'idle' };
    this.options.onBusy?.();
    await clock.sleep(policy.landing.lookEveryMs, AbortSignal.any([signal, this.#woken.signal]));
    await clock.sleep(policy.orchestration.gatherMs, signal);
    return { kind: 'looking' };
  }

  /** Checks that could not run are retried here a few times; after that the next leader retries them. */
  async #isRetriedSoon(): Promise<boolean> {
    const queue = await this.context.board.get('queue', this.lead.target);
    const trouble = queue?.state.trouble ?? null;
    if (trouble === null || queue?.paused.land !== null) return false;
    const { patientTimes } = this.context.policy.landing;
    return trouble.times <= patientTimes && (await openLandings(this)).length > 0;
  }
}
