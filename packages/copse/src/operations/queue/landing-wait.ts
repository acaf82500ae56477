/** Waits for landings: leads their queue here, unless another process does. */

import { waitText } from '../../explain/rules/queue.ts';
import { afterColon } from '../../explain/rules/status.ts';
import type { BranchName, TaskId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { shown } from '../../kernel/text.ts';
import { type LandingResult, landNow } from '../../queue/act/merge.ts';
import type { RunContext } from '../../queue/context.ts';
import { LeadSilence, queueResource } from '../../queue/lead/leadership.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import { statusPredicate } from '../../tasks/rules/task.ts';

const limits = defaultPolicy.operations;

export interface LandingListener {
  ended(this: void, landed: LandingResult): void;
  ledElsewhere(this: void, text: string): void;
}

/** Waits until each landing has landed, was refused, or is held. */
export class LandingWait {
  readonly #context: RunContext;
  readonly #landings: readonly Landing[];
  readonly #listener: LandingListener;
  readonly #signal: AbortSignal;
  readonly #results = new Map<TaskId, LandingResult>();
  readonly #heldSinceMs = new Map<TaskId, number>();
  /** Of this whole command: after a lead of silence it leads itself. */
  readonly #silence = new LeadSilence();
  readonly #toldLeaders = new Set<string>();

  constructor(
    context: RunContext,
    landings: readonly Landing[],
    listener: LandingListener,
    signal: AbortSignal,
  ) {
    this.#context = context;
    this.#landings = landings;
    this.#listener = listener;
    this.#signal = signal;
  }

  async run(): Promise<readonly LandingResult[]> {
    const begunMs = this.#context.clock.elapsedMs();
    for (;;) {
      for (const landing of this.#left()) this.#end(await this.#elsewhere(landing));
      const left = this.#left();
      if (left.length === 0) break;
      const tasks = left.map(({ task }) => task);
      const own = await landNow(this.#context, tasks, { signal: this.#signal, silence: this.#silence });
      for (const landed of own.values()) this.#end(await this.#checked(landed));
      if (this.#context.clock.elapsedMs() - begunMs > limits.silentMs) await this.#sayWhoLeads();
      if (this.#signal.aborted) for (const { task } of this.#left()) this.#end(this.#stopped(task));
      else await this.#context.clock.sleep(limits.landingLookMs, this.#signal);
    }
    return this.#landings.flatMap(({ task }) => this.#results.get(task) ?? []);
  }

  async #sayWhoLeads(): Promise<void> {
    for (const target of new Set(this.#left().map((landing) => landing.target))) {
      const holder = (await this.#context.board.get('resource', queueResource(target)))?.holder ?? null;
      const key = `${target} ${holder}`;
      if (holder === null || this.#toldLeaders.has(key)) continue;
      this.#toldLeaders.add(key);
      this.#listener.ledElsewhere(await this.#leaderText(target, holder));
    }
  }

  async #leaderText(target: BranchName, holder: string): Promise<string> {
    const { board, node, policy } = this.#context;
    if (holder === node)
      return `Another Copse process on this machine leads the queue of ${target}; waiting for it.`;
    const name = (await board.get('node', holder))?.name ?? holder;
    const seconds = policy.landing.leadMs / 1_000;
    return `Machine ${shown(name)} leads the queue of ${target}; waiting for it. If it is silent for ${seconds} s, this command takes the lead.`;
  }

  #left(): readonly Landing[] {
    return this.#landings.filter(({ task }) => !this.#results.has(task));
  }

  #end(landed: LandingResult | undefined): void {
    if (landed === undefined || this.#results.has(landed.task)) return;
    const isStopped = landed.kind === 'waiting' && this.#signal.aborted;
    const result = isStopped ? this.#stopped(landed.task) : landed;
    this.#results.set(landed.task, result);
    this.#listener.ended(result);
  }

  /** A landing that left the queue meanwhile may have been landed by another leader. */
  async #checked(landed: LandingResult): Promise<LandingResult> {
    const landing = this.#landings.find(({ task }) => task === landed.task);
    if (landed.kind !== 'gone' || landing === undefined) return landed;
    return (await this.#elsewhere(landing)) ?? landed;
  }

  async #elsewhere({ id, task }: Landing): Promise<LandingResult | undefined> {
    const { board, clock } = this.#context;
    const now = await board.get('landing', id);
    const of = { task };
    switch (now?.state.status) {
      case 'landed': {
        const { commit, isVerified } = now.state;
        return { kind: 'landed', ...of, commit, isVerified, promoted: [], notes: [] };
      }
      case 'queued':
      case 'merging':
      case 'checking': {
        if (now.waiting === null) this.#heldSinceMs.delete(task);
        else this.#heldSinceMs.set(task, this.#heldSinceMs.get(task) ?? clock.elapsedMs());
        const heldMs = clock.elapsedMs() - (this.#heldSinceMs.get(task) ?? Infinity);
        return now.waiting !== null && heldMs >= limits.heldMs
          ? { kind: 'waiting', ...of, reason: waitText(now.waiting) }
          : undefined;
      }
      default: {
        const state = (await board.get('task', task))?.state;
        const left = now?.state.status === 'withdrawn' ? now.state : state;
        const why =
          left !== undefined && 'reason' in left && left.reason !== null
            ? `: ${afterColon(left.reason)}`
            : '';
        return {
          kind: 'gone',
          ...of,
          reason: `${task} ${state === undefined ? 'was deleted' : statusPredicate(state.status)}${why}`,
        };
      }
    }
  }

  #stopped(task: TaskId): LandingResult {
    const reason: unknown = this.#signal.reason;
    return {
      kind: 'waiting',
      task,
      reason: reason instanceof StoppedWaiting ? reason.message : 'you stopped waiting',
    };
  }
}

/** The reason of a signal that ends the wait: a sentence about the task. */
export class StoppedWaiting extends Error {
  override readonly name = 'StoppedWaiting';
}
