/**
 * A node: one clone of the repository whose orchestrator works on a shared board.
 *
 *   joined → (draining ⇄ resumed) → left → joined again
 *
 * The record changes only by events: a sign of life is no event, and is kept beside the record. How long a node has been
 * silent is measured by the clock of the board's server; the clock offset is shown, and decides nothing.
 */

import { type Decision, type Refused, decided, refused } from '../../kernel/decision.ts';
import { type EventHead, existing } from '../../kernel/evolution.ts';
import type { NodeId, TaskId, Timestamp } from '../../kernel/ids.ts';
import { spanText } from '../../kernel/time.ts';
import { unreachable } from '../../kernel/unreachable.ts';

/** What an orchestrator tells about its machine when it starts. */
export interface NodeFacts {
  /** Of Copse. */
  readonly version: string;
  /** The versions of the board that this Copse works with. */
  readonly protocol: ProtocolRange;
  readonly labels: readonly string[];
  readonly capabilities: NodeCapabilities;
  /** How many agents may run at once. */
  readonly slots: number;
}

interface ProtocolRange {
  readonly oldest: number;
  readonly newest: number;
}

export interface NodeCapabilities {
  /** Agent programs that are installed. */
  readonly programs: readonly string[];
  /** The agents of its copse.yml that can run there. */
  readonly agents: readonly { readonly name: string; readonly capabilities: readonly string[] }[];
  /** Operating system and processor, such as linux and x64. */
  readonly platform: readonly string[];
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly isContainer: boolean;
}

export interface Drain {
  readonly since: Timestamp;
  /** How long running work may go on. Each orchestrator measures it on its own monotonic clock. */
  readonly withinMs: number;
  /** A drain by a signal ends with the next start of the orchestrator; one by a person, with `copse node resume`. */
  readonly by: 'person' | 'signal';
}

export interface Node {
  readonly id: NodeId;
  readonly name: string;
  readonly joinedAt: Timestamp;
  readonly leftAt: Timestamp | null;
  /** Null: an older Copse recorded it. */
  readonly facts: NodeFacts | null;
  /** The clock of the board's server minus its own; null where both are the same clock. */
  readonly clockOffsetMs: number | null;
  readonly drain: Drain | null;
}

type Of<T extends string> = EventHead<T, NodeId>;

export type NodeEvent =
  | (Of<'node.joined'> & {
      readonly name: string;
      readonly facts?: NodeFacts;
      readonly clockOffsetMs?: number | null;
    })
  | (Of<'node.changed'> & { readonly facts?: NodeFacts; readonly clockOffsetMs?: number | null })
  | (Of<'node.renamed'> & { readonly name: string })
  | (Of<'node.drained'> & { readonly withinMs: number; readonly by: Drain['by'] })
  | Of<'node.resumed'>
  | Of<'node.left'>;

export function evolveNode(node: Node | undefined, event: NodeEvent): Node {
  if (event.type === 'node.joined') {
    const { id, at, name, facts = null, clockOffsetMs = null } = event;
    return { id, name, joinedAt: at, leftAt: null, facts, clockOffsetMs, drain: null };
  }
  return { ...existing(node, event), ...changed(event) };
}

function changed(event: Exclude<NodeEvent, { type: 'node.joined' }>): Partial<Node> {
  switch (event.type) {
    case 'node.changed':
      return {
        ...(event.facts !== undefined && { facts: event.facts }),
        ...(event.clockOffsetMs !== undefined && { clockOffsetMs: event.clockOffsetMs }),
      };
    case 'node.renamed':
      return { name: event.name };
    case 'node.drained':
      return { drain: { since: event.at, withinMs: event.withinMs, by: event.by } };
    case 'node.resumed':
      return { drain: null };
    case 'node.left':
      return { leftAt: event.at };
    default:
      return unreachable(event);
  }
}

/** A record that an older Copse wrote has only a name. */
export function readNode(stored: Node): Node {
  const { facts = null, clockOffsetMs = null, drain = null } = stored as Partial<Node>;
  return { ...stored, facts, clockOffsetMs, drain };
}

export interface Arrival {
  /** Null: the name that it has, or else the host's. */
  readonly name: string | null;
  readonly hostName: string;
  readonly facts: Omit<NodeFacts, 'labels'> & { readonly labels: readonly string[] | null };
  readonly clockOffsetMs: number | null;
}

/** An orchestrator starts. Null when its record is already right. `others` are the other nodes. */
export function decideJoin(
  id: NodeId,
  node: Node | undefined,
  { name: asked, hostName, facts: told, clockOffsetMs }: Arrival,
  others: readonly Node[],
  policy: { readonly offsetStepMs: number },
  at: Timestamp,
): Decision<NodeEvent> | null {
  if (asked !== null) {
    const refusal = refuseTaken(asked, others);
    if (refusal) return refusal;
  }
  const name = asked ?? node?.name ?? freeName(hostName, others);
  const facts = { ...told, labels: told.labels ?? node?.facts?.labels ?? [] };
  if (node === undefined || node.leftAt !== null)
    return decided({ type: 'node.joined', id, at, name, facts, clockOffsetMs });
  const hasChanged = JSON.stringify(facts) !== JSON.stringify(node.facts);
  const hasShifted = isShifted(node.clockOffsetMs, clockOffsetMs, policy.offsetStepMs);
  const events: NodeEvent[] = [
    ...(hasChanged || hasShifted
      ? [
          {
            type: 'node.changed',
            id,
            at,
            ...(hasChanged && { facts }),
            ...(hasShifted && { clockOffsetMs }),
          } as const,
        ]
      : []),
    ...(name === node.name ? [] : [{ type: 'node.renamed', id, at, name } as const]),
    ...(node.drain?.by === 'signal' ? [{ type: 'node.resumed', id, at } as const] : []),
  ];
  const [first, ...rest] = events;
  return first === undefined ? null : decided(first, ...rest);
}

/** A clock is never exactly right: small differences change no record. */
export function isShifted(before: number | null, now: number | null, stepMs: number): boolean {
  if (before === null || now === null) return before !== now;
  return Math.abs(before - now) >= stepMs;
}

/** Two clones on one host have names of their own. */
function freeName(hostName: string, others: readonly Node[]): string {
  const host = hostName.replaceAll(/[^a-z0-9._-]+/gi, '-').replace(/^[^a-z0-9]+/i, '') || 'node';
  const wanted = host.slice(0, LONGEST_NAME - 4);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (refuseTaken(name, others) === undefined) return name;
  }
}

const LONGEST_NAME = 63;

export type NodeNameCheck =
  | { readonly kind: 'accepted'; readonly name: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** A name is typed on command lines and stands in tables. */
export function parseNodeName(text: string): NodeNameCheck {
  const name = text.trim();
  const reason =
    name === ''
      ? 'The name of a node is empty'
      : name.length > LONGEST_NAME
        ? `The name of a node has at most ${LONGEST_NAME} characters; this one has ${name.length}`
        : /^n-[a-z0-9]{12}$/i.test(name)
          ? `${JSON.stringify(name)} looks like the id of a node`
          : /^[a-z0-9][a-z0-9._-]*$/i.test(name)
            ? null
            : `${JSON.stringify(name)} is not a name: use letters, digits, dots and dashes, such as build-1`;
  return reason === null ? { kind: 'accepted', name } : { kind: 'refused', reason };
}

function refuseTaken(name: string, others: readonly Node[]): Refused | undefined {
  const other = others.find((one) => one.leftAt === null && one.name.toLowerCase() === name.toLowerCase());
  if (other === undefined) return undefined;
  return refused(
    'invalid',
    `Another node has the name ${other.name}: ${other.id}.`,
    `copse node rename ${other.id} ${other.name}-2`,
    `copse node leave ${other.id}`,
  );
}

export function decideRename(
  node: Node,
  name: string,
  others: readonly Node[],
  at: Timestamp,
): Decision<NodeEvent> {
  const gone = refuseLeft(node, 'rename');
  if (gone) return gone;
  if (node.name === name)
    return refused('invalid', `Node ${name} already has this name.`, `copse node show ${name}`);
  return refuseTaken(name, others) ?? decided({ type: 'node.renamed', id: node.id, at, name });
}

/** A second drain replaces the deadline of the first. */
export function decideDrain(
  node: Node,
  { withinMs, by }: Pick<Drain, 'withinMs' | 'by'>,
  at: Timestamp,
): Decision<NodeEvent> {
  return refuseLeft(node, 'drain') ?? decided({ type: 'node.drained', id: node.id, at, withinMs, by });
}

export function decideResumeNode(node: Node, at: Timestamp): Decision<NodeEvent> {
  const gone = refuseLeft(node, 'resume');
  if (gone) return gone;
  if (node.drain === null)
    return refused(
      'wrong_status',
      `Cannot resume node ${node.name}: it is not draining.`,
      `copse node show ${node.name}`,
    );
  return decided({ type: 'node.resumed', id: node.id, at });
}

export interface LeaveFacts {
  /** Tasks that it holds, those of people who work by hand there included. */
  readonly held: readonly TaskId[];
  readonly silentMs: number | null;
}

export function decideLeave(
  node: Node,
  { held, silentMs }: LeaveFacts,
  policy: { readonly silentMs: number },
  at: Timestamp,
): Decision<NodeEvent> {
  const gone = refuseLeft(node, 'remove');
  if (gone) return gone;
  const isRunning = isHeard(silentMs, policy.silentMs);
  if (held.length > 0)
    return refused(
      'wrong_status',
      `Node ${node.name} cannot leave: it has ${named(held)} in progress.`,
      isRunning
        ? `copse node drain ${node.name}`
        : `copse pause ${held[0]} # without waiting until another node takes over`,
    );
  if (isRunning && node.drain === null)
    return refused(
      'wrong_status',
      `Node ${node.name} cannot leave while its orchestrator takes work.`,
      `copse node drain ${node.name}`,
      'Or stop its orchestrator (Ctrl+C), and try again in a minute.',
    );
  return decided({ type: 'node.left', id: node.id, at });
}

function named(tasks: readonly TaskId[]): string {
  const [first, ...more] = tasks;
  return more.length === 0 ? String(first) : `${first} and ${more.length} more`;
}

function refuseLeft(node: Node, act: string): Refused | undefined {
  if (node.leftAt === null) return undefined;
  return refused('wrong_status', `Cannot ${act} node ${node.name}: it left the board.`, 'copse node list');
}

/** Whether a node was heard from lately. Null: never. */
export function isHeard(silentMs: number | null, mostMs: number): boolean {
  return silentMs !== null && silentMs <= mostMs;
}

/** What only this node has may not come back: it left, or was silent for longer than its agents work without the board. */
export function isGone(
  { leftAt }: Pick<Node, 'leftAt'>,
  silentMs: number | null,
  policy: {
    readonly nodes: { readonly silentMs: number };
    readonly lease: { readonly durationMs: number; readonly cutOffLeases: number };
  },
): boolean {
  const mostMs = Math.max(policy.nodes.silentMs, policy.lease.durationMs * policy.lease.cutOffLeases);
  return leftAt !== null || (silentMs !== null && silentMs > mostMs);
}

export function silenceText(silentMs: number | null): string {
  return silentMs === null ? 'never heard from' : `not heard from for ${spanText(silentMs)}`;
}

/** For people: which clock is ahead. */
export function offsetText(offsetMs: number): string {
  if (Math.abs(offsetMs) < 1_000) return 'agrees with the board’s server';
  return `${spanText(Math.abs(offsetMs))} ${offsetMs > 0 ? 'behind' : 'ahead of'} the board’s server (only shown)`;
}

/** Live nodes of a Copse that does not know the new version of the board: it is not migrated while they run. */
export function nodesBelow(
  nodes: readonly Node[],
  to: number,
  silentMsOf: (id: NodeId) => number | null,
  policy: { readonly silentMs: number },
): readonly Node[] {
  return nodes.filter(
    ({ id, leftAt, facts }) =>
      leftAt === null && (facts?.protocol.newest ?? 0) < to && isHeard(silentMsOf(id), policy.silentMs),
  );
}
