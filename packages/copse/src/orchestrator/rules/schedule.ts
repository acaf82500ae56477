/**
 * Which ready task starts next, with which agent, and why another one waits.
 *
 * Tasks come in the order of urgency. A task that cannot start does not delay later ones. It waits for one named thing, the
 * first in this order: its delay, another node that it was moved to, no agent that may take it, an area that another task works in, the limit of the agents
 * that could take it, the limit of the node, memory, disk.
 */

import { type Area, areasOverlap, parseArea } from '../../tasks/rules/areas/areas.ts';
import type { Node } from '../../machines/rules/node.ts';
import { agentCanTake } from '../../machines/rules/offer.ts';
import { repositoryFits } from '../../tasks/rules/repository.ts';
import type { AgentName, FencingToken, NodeId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { Delay, MoveTarget, TaskSummary } from '../../tasks/rules/task.ts';

/** An agent of this node. */
interface AvailableAgent {
  readonly name: AgentName;
  readonly capabilities: readonly string[];
  /** How many sessions of it may run at once on this node; null for no limit of its own. */
  readonly max: number | null;
  /** It works in the main checkout, where one session at a time may run. */
  readonly isInCheckout?: boolean;
  /** Where it works; null or absent: in the repository of the board. */
  readonly repository?: string | null;
}

/** An agent of copse.yml that cannot run on this node, with a sentence that says why. */
export interface UnusableAgent {
  readonly name: string;
  readonly reason: string;
}

/** The repository has no agent, but a copse.yml that is not accepted has some; it has no mistakes, or it has some. */
export type PendingAgents = 'to_accept' | 'to_correct';

/** A task in progress or in the queue: its areas are taken. */
export interface BusyTask {
  readonly id: TaskId;
  readonly areas: readonly string[];
  /** The agent that works on it on this node; null when it is elsewhere, by hand or in the queue. */
  readonly agentHere: AgentName | null;
  /** Where its areas are; null or absent: in the repository of the board. */
  readonly repository?: string | null;
}

export interface ScheduleFacts {
  readonly at: Timestamp;
  /** This node; its record is null until an orchestrator joined. */
  readonly here?: { readonly id: NodeId; readonly node: Node | null };
  readonly agents: readonly AvailableAgent[];
  readonly unusable: readonly UnusableAgent[];
  readonly busy: readonly BusyTask[];
  /** Tasks of ended attempts whose processes still work in the main checkout. */
  readonly leftInCheckout?: readonly TaskId[];
  /** Null when the system does not say. */
  readonly freeMemoryBytes: number | null;
  readonly freeDiskBytes: number | null;
}

/** The start of an orchestrator ends a drain by a signal, and joins a node that left. */
export function afterStart(facts: ScheduleFacts): ScheduleFacts {
  const node = facts.here?.node;
  if (facts.here === undefined || node == null) return facts;
  const hasEnded = node.leftAt !== null || node.drain?.by === 'signal';
  return hasEnded
    ? { ...facts, here: { ...facts.here, node: { ...node, leftAt: null, drain: null } } }
    : facts;
}

type PlaceableTask = Pick<TaskSummary, 'id' | 'state' | 'areas' | 'requires' | 'agent' | 'moveTo'> &
  Partial<Pick<TaskSummary, 'repository' | 'token'>>;

export type WaitingFor =
  | { readonly kind: 'delay'; readonly delay: Delay }
  | { readonly kind: 'moved'; readonly to: MoveTarget }
  | { readonly kind: 'draining'; readonly name: string }
  | { readonly kind: 'agent'; readonly reasons: readonly string[] }
  | { readonly kind: 'area'; readonly task: TaskId; readonly areas: readonly [string, string] }
  | {
      readonly kind: 'agent_limit';
      readonly limits: readonly { readonly agent: AgentName; readonly max: number }[];
    }
  | { readonly kind: 'checkout'; readonly task: TaskId }
  | { readonly kind: 'node_limit'; readonly max: number }
  | { readonly kind: 'memory'; readonly freeBytes: number; readonly neededBytes: number }
  | { readonly kind: 'disk'; readonly freeBytes: number; readonly neededBytes: number };

export type Placement =
  | { readonly kind: 'placed'; readonly task: TaskId; readonly agent: AgentName }
  | { readonly kind: 'waiting'; readonly task: TaskId; readonly waiting: WaitingFor };

/** Places one task after another; each one placed counts as busy for those after it. */
export class Scheduler {
  readonly #facts: ScheduleFacts;
  readonly #rules: Policy['orchestration'];
  readonly #busy: BusyTask[];
  readonly #areas = new Map<string, readonly Area[]>();

  constructor(facts: ScheduleFacts, rules: Policy['orchestration']) {
    this.#facts = facts;
    this.#rules = rules;
    this.#busy = [...facts.busy];
  }

  /** Nothing more can start, whichever task it is. */
  get isFull(): boolean {
    return this.#nodeIsFull() !== undefined;
  }

  place(task: PlaceableTask): Placement {
    const agent = this.#choose(task);
    if (typeof agent === 'object') return { kind: 'waiting', task: task.id, waiting: agent };
    const { repository = null } = this.#facts.agents.find(({ name }) => name === agent) ?? {};
    this.#busy.push({ id: task.id, areas: task.areas, repository, agentHere: agent });
    return { kind: 'placed', task: task.id, agent };
  }

  #choose(task: PlaceableTask): AgentName | WaitingFor {
    const { agents, at, here } = this.#facts;
    const delay = task.state.status === 'ready' ? task.state.delay : null;
    if (delay !== null && delay.until > at) return { kind: 'delay', delay };
    if (task.moveTo != null && task.moveTo.node !== here?.id) return { kind: 'moved', to: task.moveTo };
    const offering = here?.node?.facts ?? null;
    const able = agents.filter(
      (agent) => isRightPlace(task, agent) && agentCanTake(task, agent, offering).kind === 'can',
    );
    if (able.length === 0) return { kind: 'agent', reasons: whyNone(task, this.#facts) };
    const repository = able[0]?.repository ?? null;
    const area = this.#takenArea(task, repository);
    if (area !== undefined) return area;
    const inCheckout = this.#userOfCheckout(task.id);
    const open = inCheckout === undefined ? able : able.filter(({ isInCheckout }) => !isInCheckout);
    if (open.length === 0 && inCheckout !== undefined) return { kind: 'checkout', task: inCheckout };
    const free = open.find((agent) => agent.max === null || this.#runningOf(agent.name) < agent.max);
    if (free === undefined)
      return { kind: 'agent_limit', limits: open.map(({ name, max }) => ({ agent: name, max: max ?? 0 })) };
    return this.#nodeIsFull() ?? free.name;
  }

  #nodeIsFull(): WaitingFor | undefined {
    const { freeMemoryBytes, freeDiskBytes, here } = this.#facts;
    const { maxAgents, minFreeMemoryBytes, minFreeDiskBytes } = this.#rules;
    const running = this.#busy.filter(({ agentHere }) => agentHere !== null).length;
    if (here?.node != null && (here.node.drain !== null || here.node.leftAt !== null))
      return { kind: 'draining', name: here.node.name };
    if (running >= maxAgents) return { kind: 'node_limit', max: maxAgents };
    if (freeMemoryBytes !== null && freeMemoryBytes < minFreeMemoryBytes)
      return { kind: 'memory', freeBytes: freeMemoryBytes, neededBytes: minFreeMemoryBytes };
    if (freeDiskBytes !== null && freeDiskBytes < minFreeDiskBytes)
      return { kind: 'disk', freeBytes: freeDiskBytes, neededBytes: minFreeDiskBytes };
    return undefined;
  }

  /** An attempt ends what an earlier one of the same task left. */
  #userOfCheckout(own: TaskId): TaskId | undefined {
    const there = new Set(
      this.#facts.agents.flatMap(({ name, isInCheckout }) => (isInCheckout ? [name] : [])),
    );
    const user = this.#busy.find(({ agentHere }) => agentHere !== null && there.has(agentHere));
    return user?.id ?? this.#facts.leftInCheckout?.find((id) => id !== own);
  }

  #runningOf(agent: AgentName): number {
    return this.#busy.filter(({ agentHere }) => agentHere === agent).length;
  }

  #takenArea(task: PlaceableTask, repository: string | null): WaitingFor | undefined {
    if (task.areas.length === 0) return undefined;
    const wanted = this.#areasOf(task.areas);
    for (const other of this.#busy) {
      if (other.id === task.id || other.areas.length === 0) continue;
      if ((other.repository ?? null) !== repository) continue;
      const found = areasOverlap(wanted, this.#areasOf(other.areas));
      if (found.kind === 'overlap') return { kind: 'area', task: other.id, areas: found.between };
    }
    return undefined;
  }

  #areasOf(texts: readonly string[]): readonly Area[] {
    const key = texts.join('\n');
    const known = this.#areas.get(key);
    if (known !== undefined) return known;
    const parsed = texts.flatMap((text) => {
      const check = parseArea(text);
      return check.kind === 'accepted' ? [check.area] : [];
    });
    this.#areas.set(key, parsed);
    return parsed;
  }
}

function isRightPlace(
  {
    repository,
    token = 0 as FencingToken,
    agent: wanted,
  }: Pick<PlaceableTask, 'repository' | 'token' | 'agent'>,
  { name, repository: works = null }: Pick<AvailableAgent, 'name' | 'repository'>,
): boolean {
  const task = { token, agent: wanted, ...(repository !== undefined && { repository }) };
  return repositoryFits(task, { name, repository: works });
}

interface FactsOfAgents extends Pick<ScheduleFacts, 'unusable' | 'here'> {
  readonly agents: readonly Pick<AvailableAgent, 'name' | 'capabilities' | 'repository'>[];
}

export const NO_AGENTS = 'no agent is installed or configured';

export function whyNone(
  task: Pick<PlaceableTask, 'requires' | 'agent' | 'repository' | 'token'>,
  { agents, unusable, here }: FactsOfAgents,
): readonly string[] {
  if (agents.length + unusable.length === 0) return [NO_AGENTS];
  const isMeant = ({ name }: { readonly name: string }) => task.agent === null || task.agent === name;
  const refusals = agents.filter(isMeant).flatMap((agent) => {
    const decision = agentCanTake(task, agent, here?.node?.facts ?? null);
    if (decision.kind !== 'can') return [decision.reason];
    if (isRightPlace(task, agent)) return [];
    return agent.repository != null && task.repository === undefined && (task.token ?? 0) === 0
      ? [`${agent.name} works in ${agent.repository}, and takes only tasks that name it`]
      : [
          `its work is in ${task.repository ?? 'the repository of the board'}, where ${agent.name} does not work`,
        ];
  });
  const reasons = [...unusable.filter(isMeant).map(({ reason }) => reason.replace(/\.$/, '')), ...refusals];
  return reasons.length > 0
    ? reasons
    : [`it is for agent ${task.agent}, which is not in the accepted copse.yml`];
}
