/**
 * One process at a time moves a target: within a node it holds a lock file, among nodes it holds the queue's resource on
 * the board. The resource's token is checked in the transaction that journals an intent, so a process that lost the lead
 * moves nothing. A machine that does not renew for a whole lead loses it (`LeadSilence`).
 */

import { type Resource, decideGiveBack, decideTake } from '../../machines/rules/fleet.ts';
import {
  type BranchName,
  type FencingToken,
  type NodeId,
  type ResourceName,
  type Timestamp,
  brand,
} from '../../kernel/ids.ts';
import { refused } from '../../kernel/decision.ts';
import { type LookTime, Unchanged } from '../../machines/rules/unchanged.ts';
import { type Change, change } from '../../board/context.ts';
import type { RunContext } from '../context.ts';

/** Only `lead` makes one. */
export interface Lead {
  readonly target: BranchName;
  readonly resource: ResourceName;
  readonly token: FencingToken;
  /** This node. A token alone would not do if the first lead ever was lost with its server. */
  readonly holder: NodeId;
  /** Called regularly by a long-running leader. False when another node leads now. */
  renew(): Promise<boolean>;
}

export interface LeadOptions {
  /** What this process saw of leads so far; without it, a lead of another machine is never taken over. */
  readonly silence?: LeadSilence;
  /** An orchestrator leads again soon, and gives its leads back when it stops (`giveBackUnused`). */
  readonly isKept?: boolean;
}

/** Undefined when another process leads. */
export async function lead<T>(
  context: RunContext,
  target: BranchName,
  work: (lead: Lead) => Promise<T>,
  { silence = new LeadSilence(), isKept = false }: LeadOptions = {},
): Promise<{ readonly value: T } | undefined> {
  const { clock, policy } = context;
  const done = await context.git.tryLock(lockOf(queueResource(target)), async () => {
    const token = await takeLead(context, target, silence);
    if (token === undefined) return undefined;
    let renewedMs = clock.elapsedMs();
    const own = {
      target,
      resource: queueResource(target),
      holder: context.node,
      token,
      async renew() {
        if (clock.elapsedMs() - renewedMs < policy.landing.leadMs / policy.landing.leadRenewals) return true;
        const renewed = await takeLead(context, target, silence);
        own.token = renewed ?? own.token;
        renewedMs = clock.elapsedMs();
        return renewed !== undefined;
      },
    };
    try {
      return { value: await work(own) };
    } finally {
      // Not given back, it is free after a lead of silence; the work's own error counts.
      if (!isKept) for (const own of silence.own) await giveBack(context, silence, own).catch(() => {});
    }
  });
  return done?.value;
}

/**
 * Another machine takes a lead that was given back at once, and one that was not only after a whole lead of silence. On every
 * board, the views then say that no process leads.
 */
export async function giveBackUnused(context: RunContext, silence: LeadSilence): Promise<void> {
  // Another process of this machine that holds the lock leads with the same token, and gives it back later.
  for (const own of silence.own)
    await context.git.tryLock(lockOf(own.id), () => giveBack(context, silence, own));
}

async function giveBack(context: RunContext, silence: LeadSilence, { id, token }: OwnLead): Promise<void> {
  silence.forget(id);
  await change(context, async (change) => {
    const resource = await change.require('resource', id);
    await change.apply(decideGiveBack(resource, token, change.at));
  });
}

/** The lead is still ours, as of now. Only `requireLead` makes sure for the time of a transaction. */
export async function hasLead({ board }: RunContext, { resource, token, holder }: Lead): Promise<boolean> {
  const current = await board.get('resource', resource);
  return current?.token === token && current.holder === holder;
}

/** For work that may take as long as a lead, such as a push over a slow line. */
export async function whileRenewing<T>(
  { clock, policy }: RunContext,
  lead: Lead,
  work: () => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const renewing = (async () => {
    for (;;) {
      await clock.sleep(policy.landing.leadMs / policy.landing.leadRenewals, done.signal);
      if (done.signal.aborted) return;
      await lead.renew();
    }
    // A board that is away shows at the next transaction.
  })().catch(() => {});
  try {
    return await work();
  } finally {
    done.abort();
    await renewing;
  }
}

/** Refuses in this transaction unless the lead is still ours. */
export async function requireLead(change: Change, { resource, token, holder, target }: Lead): Promise<void> {
  const current = await change.board.get('resource', resource);
  if (current?.token === token && current.holder === holder) return;
  change.refuse(
    refused('fenced', `Another node leads the queue of ${target} now.`, 'Do nothing: it goes on there.'),
  );
}

async function takeLead(
  context: RunContext,
  target: BranchName,
  silence: LeadSilence,
): Promise<FencingToken | undefined> {
  const { board, clock, node, policy } = context;
  const { leadMs, leadRenewals } = policy.landing;
  const id = queueResource(target);
  const found = await board.get('resource', id);
  const nowMs = clock.elapsedMs();
  // The lock rules out other processes of this node. Writing wakes every loop, so it is done only when needed.
  if (found?.holder === node && isFresh(context, found, silence)) {
    // Of a process before this one: from now on, this one gives it back.
    if (silence.sinceTaken(id, found.token, nowMs) === Infinity)
      silence.take(id, found.token, nowMs - (leadMs - leftMs(context, found)));
    return found.token;
  }
  const longestMs = Math.max(leadMs / leadRenewals, policy.orchestration.pollIntervalMs);
  const look = { nowMs, longestMs };
  const isSilent = found !== undefined && silence.see(id, found.token, look) >= leadMs;
  const silent = isSilent ? found.token : null;
  const taken = await change(context, async (change) => {
    const resource = await change.board.get('resource', id);
    const until = (change.at + leadMs) as Timestamp;
    await change.apply(decideTake(id, resource, node, { until, silent }, change.at));
    return (await change.require('resource', id)).token;
  });
  if (taken.kind === 'refused') return undefined;
  // The time from before the transaction: renewed rather too early than too late.
  silence.take(id, taken.value, nowMs);
  return taken.value;
}

/** A process before this one may have taken it: on a board in a file, its time is by the clock of this machine. */
function isFresh(context: RunContext, lead: Resource, silence: LeadSilence): boolean {
  const { board, clock, policy } = context;
  const { leadMs } = policy.landing;
  const sinceMs = silence.sinceTaken(lead.id, lead.token, clock.elapsedMs());
  if (sinceMs !== Infinity || board.engine !== 'sqlite') return sinceMs < leadMs / 2;
  const left = leftMs(context, lead);
  return left > leadMs / 2 && left <= leadMs;
}

function leftMs({ clock }: RunContext, { heldUntil }: Resource): number {
  return (heldUntil ?? 0) - clock.now();
}

/** The resource that its leader holds. */
export function queueResource(target: BranchName): ResourceName {
  return brand(`queue:${target}`);
}

/** Held by the process of this machine that leads. */
export function lockOf(resource: ResourceName): string {
  return `queue-${encodeURIComponent(resource.slice('queue:'.length))}`;
}

interface OwnLead {
  readonly id: ResourceName;
  readonly token: FencingToken;
}

/**
 * Since when each lead is unchanged, as this process saw it. Clocks of machines differ and jump, so no time that another
 * machine wrote says whether it lives. A new process knows nothing and waits for a whole lead.
 */
export class LeadSilence {
  readonly #others = new Unchanged<ResourceName>();
  readonly #own = new Map<ResourceName, { readonly token: FencingToken; readonly sinceMs: number }>();

  /** Milliseconds since this process first saw the lead with this token. */
  see(id: ResourceName, token: FencingToken, look: LookTime): number {
    if (this.#own.get(id)?.token !== token) this.#own.delete(id);
    return this.#others.see(id, String(token), look);
  }

  take(id: ResourceName, token: FencingToken, nowMs: number): void {
    this.#others.forget(id);
    this.#own.set(id, { token, sinceMs: nowMs });
  }

  /** Milliseconds since this process took the lead with this token; infinite if another process did. */
  sinceTaken(id: ResourceName, token: FencingToken, nowMs: number): number {
    const own = this.#own.get(id);
    return own?.token === token ? nowMs - own.sinceMs : Infinity;
  }

  /** What this process took and did not give back. */
  get own(): readonly OwnLead[] {
    return Array.from(this.#own, ([id, { token }]) => ({ id, token }));
  }

  forget(id: ResourceName): void {
    this.#others.forget(id);
    this.#own.delete(id);
  }

  /** A leader whose queue is empty does not renew, and its silence says nothing. */
  forgetAllBut(ids: ReadonlySet<ResourceName>): void {
    this.#others.forgetAllBut(ids);
  }
}
