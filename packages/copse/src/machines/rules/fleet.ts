/** What machines share besides tasks: resources with one holder at a time (a port, the lead of a queue). Nodes are in node.ts. */

import { type Decision, decided, refused } from '../../kernel/decision.ts';
import { type EventHead, existing } from '../../kernel/evolution.ts';
import { raised } from '../../board/rules/term.ts';
import type { FencingToken, ResourceName, Timestamp } from '../../kernel/ids.ts';

export interface Resource {
  /** For example `port:4100` or `queue:main`. */
  readonly id: ResourceName;
  /** A session or a node; null when it is free. */
  readonly holder: string | null;
  /** Grows every time it is taken, like a task's token. */
  readonly token: FencingToken;
  readonly since: Timestamp;
  /** By the clock of the holder's machine, so it is only shown; null when it is held until it is released. */
  readonly heldUntil: Timestamp | null;
}

type OfResource<T extends string> = EventHead<T, ResourceName>;

export type ResourceEvent =
  | (OfResource<'resource.taken'> & {
      readonly holder: string;
      readonly token: FencingToken;
      readonly until: Timestamp | null;
    })
  | (OfResource<'resource.released'> & { readonly token: FencingToken })
  /** The board's server was replaced: see board/rules/term.ts. */
  | (OfResource<'resource.token_raised'> & { readonly token: FencingToken });

/**
 * The holder may take it again, with a new token and more time; the old token is fenced off. Another may take it when the
 * holder was silent: `silent` is the token that the taker saw unchanged for a whole lease, on its own monotonic clock.
 */
export function decideTake(
  id: ResourceName,
  resource: Resource | undefined,
  holder: string,
  { until, silent = null }: { readonly until: Timestamp | null; readonly silent?: FencingToken | null },
  at: Timestamp,
): Decision<ResourceEvent> {
  const isHeldByOther = resource !== undefined && resource.holder !== null && resource.holder !== holder;
  if (isHeldByOther && !isLost(resource, silent)) {
    return refused(
      'wrong_status',
      `Cannot take ${id}: ${resource.holder} holds it.`,
      `Wait until ${resource.holder} releases it.`,
    );
  }
  const token = ((resource?.token ?? 0) + 1) as FencingToken;
  return decided({ type: 'resource.taken', id, at, holder, token, until });
}

export function decideGiveBack(
  resource: Resource,
  token: FencingToken,
  at: Timestamp,
): Decision<ResourceEvent> {
  if (resource.token !== token || resource.holder === null) {
    return refused(
      'fenced',
      `Token ${token} no longer holds ${resource.id}: the current token is ${resource.token}.`,
      'Do nothing: it has a new holder.',
    );
  }
  return decided({ type: 'resource.released', id: resource.id, at, token });
}

export function evolveResource(resource: Resource | undefined, event: ResourceEvent): Resource {
  if (event.type === 'resource.taken') {
    const { id, holder, token, until, at } = event;
    return { id, holder, token, since: at, heldUntil: until };
  }
  const before = existing(resource, event);
  if (event.type === 'resource.token_raised') return { ...before, token: event.token };
  return { ...before, holder: null, since: event.at, heldUntil: null };
}

/** A holder keeps it, and takes it again before it goes on. */
export function raisedResource({ id, token }: Resource, at: Timestamp): ResourceEvent {
  return { type: 'resource.token_raised', id, at, token: raised(token) };
}

function isLost({ heldUntil, token }: Resource, silent: FencingToken | null): boolean {
  return heldUntil !== null && token === silent;
}
