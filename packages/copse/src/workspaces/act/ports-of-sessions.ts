/**
 * TCP ports that belong to one session until it releases them, so that the servers of two agents do not collide.
 *
 * A port is a resource on the board, one per machine and number. Of several processes that want the same one, one gets it
 * and the rest try the next number. Whether another program listens there is probed before the port is taken, never
 * inside a transaction. A listener that appears later is most likely the session's own server.
 */

import { refused } from '../../kernel/decision.ts';
import { type Resource, decideGiveBack, decideTake } from '../../machines/rules/fleet.ts';
import { type NodeId, type ResourceName, brand } from '../../kernel/ids.ts';
import type { PortProbe } from '../ports/furnishing.ts';
import { type Context, type Outcome, change } from '../../board/context.ts';

export interface PortHolder {
  /** A session or a task. */
  readonly holder: string;
  readonly node: NodeId;
}

export interface LeasedPorts {
  /** Unchanged while they are held; lowest first. */
  readonly ports: readonly number[];
  /** Those on which a program listens now. */
  readonly occupied: readonly number[];
}

/** A probe takes the port for a moment, so that another probe at that moment sees it as taken. */
const ROUNDS = 3;

export async function leasePorts(
  context: Context,
  probe: PortProbe,
  request: PortHolder & { readonly count?: number },
): Promise<Outcome<LeasedPorts>> {
  const { from, to, perSession } = context.policy.ports;
  const count = request.count ?? perSession;
  for (let round = 0; round < ROUNDS; round += 1) {
    const missing = count - (await heldBy(context, request)).length;
    if (missing > 0) await takeSome(context, probe, request, missing);
    const held = await heldBy(context, request);
    if (held.length < count) continue;
    // Two processes of one session took one each: both keep the lowest.
    await giveBack(context, held.slice(count));
    return {
      kind: 'done',
      value: await withOccupied(held.slice(0, count).map(numberOf), probe, missing <= 0),
    };
  }
  return refused(
    'wrong_status',
    `${request.holder} needs ${count === 1 ? 'a port' : `${count} ports`}, and from ${from} to ${to} none is free on this machine.`,
    'copse cleanup',
  );
}

export async function releasePorts(context: Context, holder: PortHolder): Promise<readonly number[]> {
  const held = await heldBy(context, holder);
  await giveBack(context, held);
  return held.map(numberOf);
}

async function heldBy(context: Context, { holder, node }: PortHolder): Promise<readonly Resource[]> {
  const all = await context.board.list('resource');
  return all
    .filter((resource) => resource.holder === holder && resource.id.startsWith(prefix(node)))
    .toSorted((one, other) => numberOf(one) - numberOf(other));
}

async function takeSome(
  context: Context,
  probe: PortProbe,
  { holder, node }: PortHolder,
  count: number,
): Promise<void> {
  const { from, to } = context.policy.ports;
  const taken = new Set(
    (await context.board.list('resource')).filter((one) => one.holder !== null).map(({ id }) => id),
  );
  let missing = count;
  for (let port = from; port <= to && missing > 0; port += 1) {
    const id = nameOf(node, port);
    if (taken.has(id) || !(await probe.isFree(port))) continue;
    const outcome = await change(context, async (change) => {
      const resource = await change.board.get('resource', id);
      await change.apply(decideTake(id, resource, holder, { until: null }, change.at));
    });
    // Refused: another process took it first.
    if (outcome.kind === 'done') missing -= 1;
  }
}

async function giveBack(context: Context, resources: readonly Resource[]): Promise<void> {
  for (const { id, token } of resources) {
    // Refused: it was already released.
    await change(context, async (change) => {
      const resource = await change.require('resource', id);
      await change.apply(decideGiveBack(resource, token, change.at));
    });
  }
}

async function withOccupied(ports: readonly number[], probe: PortProbe, look: boolean): Promise<LeasedPorts> {
  const occupied: number[] = [];
  if (look) for (const port of ports) if (!(await probe.isFree(port))) occupied.push(port);
  return { ports, occupied };
}

function prefix(node: NodeId): string {
  return `port:${node}:`;
}

function nameOf(node: NodeId, port: number): ResourceName {
  return brand<ResourceName>(`${prefix(node)}${port}`);
}

function numberOf({ id }: Resource): number {
  return Number(id.slice(id.lastIndexOf(':') + 1));
}
