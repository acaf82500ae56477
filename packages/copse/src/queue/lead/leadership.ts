/**
 * One process at a time moves a target: within a node it holds a lock file, among nodes it holds the queue's resource on
 * the board. The resource's token is checked in the transaction that journals an intent, so a process that lost the lead
 * moves nothing.
 */

import { decideTake } from '../../machines/rules/fleet.ts';
import {
  type BranchName,
  type FencingToken,
  type ResourceName,
  type Timestamp,
  brand,
} from '../../kernel/ids.ts';
import { refused } from '../../kernel/decision.ts';
import { type Change, change } from '../../board/context.ts';
import type { RunContext } from '../context.ts';

/** Only `lead` makes one. */
export interface Lead {
  readonly target: BranchName;
  readonly resource: ResourceName;
  readonly token: FencingToken;
  /** Called regularly by a long-running leader. False when another node leads now. */
  renew(): Promise<boolean>;
}

/** Undefined when another process leads. */
export async function lead<T>(
  context: RunContext,
  target: BranchName,
  work: (lead: Lead) => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  const { clock, policy } = context;
  const done = await context.git.tryLock(`queue-${encodeURIComponent(target)}`, async () => {
    const token = await takeLead(context, target);
    if (token === undefined) return undefined;
    let renewedMs = clock.elapsedMs();
    const own = {
      target,
      resource: queueResource(target),
      token,
      async renew() {
        if (clock.elapsedMs() - renewedMs < policy.landing.leadMs / policy.landing.leadRenewals) return true;
        const renewed = await takeLead(context, target);
        own.token = renewed ?? own.token;
        renewedMs = clock.elapsedMs();
        return renewed !== undefined;
      },
    };
    return { value: await work(own) };
  });
  return done?.value;
}

/** Refuses in this transaction unless the lead is still ours. */
export async function requireLead(change: Change, { resource, token, target }: Lead): Promise<void> {
  const current = await change.board.get('resource', resource);
  if (current?.token === token && current.holder !== null) return;
  change.refuse(
    refused('fenced', `Another node leads the queue of ${target} now.`, 'do nothing: it goes on there'),
  );
}

async function takeLead(context: RunContext, target: BranchName): Promise<FencingToken | undefined> {
  const id = queueResource(target);
  const taken = await change(context, async (change) => {
    const resource = await change.board.get('resource', id);
    const { leadMs } = context.policy.landing;
    // The lock rules out other processes of this node. Writing wakes every loop, so it is done only when needed.
    const isOurs = resource?.holder === context.node && (resource.heldUntil ?? 0) - change.at > leadMs / 2;
    if (isOurs) return resource.token;
    const until = (change.at + leadMs) as Timestamp;
    await change.apply(decideTake(id, resource, context.node, until, change.at));
    return (await change.require('resource', id)).token;
  });
  return taken.kind === 'done' ? taken.value : undefined;
}

/** The resource that its leader holds. */
export function queueResource(target: BranchName): ResourceName {
  return brand(`queue:${target}`);
}
