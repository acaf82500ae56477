/**
 * Which ready task starts next, with which agent, and why another does not.
 *
 * Tasks come in the order of urgency, and each is judged by itself: one that cannot start holds nobody up who can. What is
 * in the way is always one named thing, the first in this order: its delay, no agent that may take it, an area that somebody
 * else is working in, the limit of the agents that could, the limit of the node, memory, disk.
 */

import { type Area, areasOverlap, parseArea } from '../../tasks/rules/areas.ts';
import { canTake } from '../../tasks/rules/capabilities.ts';
import type { AgentName, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { Delay, TaskSummary } from '../../tasks/rules/task.ts';

/** An agent of this node. */
interface AvailableAgent {
  readonly name: AgentName;
  readonly capabilities: readonly string[];
  /** How many sessions of it may run at once on this node; null for no limit of its own. */
  readonly max: number | null;
}

/** A task that is being worked on, or is about to land: its areas are taken. */
export interface BusyTask {
  readonly id: TaskId;
  readonly areas: readonly string[];
  /** Who works on it on this node; null when it is elsewhere, by hand or in the queue. */
  readonly agentHere: AgentName | null;
}

export interface ScheduleFacts {
  readonly at: Timestamp;
  readonly agents: readonly AvailableAgent[];
  readonly busy: readonly BusyTask[];
  /** Null when the system does not say. */
  readonly freeMemoryBytes: number | null;
  readonly freeDiskBytes: number | null;
}

type Candidate = Pick<TaskSummary, 'id' | 'state' | 'areas' | 'requires' | 'agent'>;

export type WaitingFor =
  | { readonly for: 'delay'; readonly delay: Delay }
  | { readonly for: 'agent'; readonly reasons: readonly string[] }
  | { readonly for: 'area'; readonly task: TaskId; readonly areas: readonly [string, string] }
  | { readonly for: 'agent_limit'; readonly agents: readonly AgentName[] }
  | { readonly for: 'node_limit'; readonly max: number }
  | { readonly for: 'memory'; readonly freeBytes: number; readonly neededBytes: number }
  | { readonly for: 'disk'; readonly freeBytes: number; readonly neededBytes: number };

export type Placement =
  | { readonly start: true; readonly task: TaskId; readonly agent: AgentName }
  | { readonly start: false; readonly task: TaskId; readonly waiting: WaitingFor };

/** Judges one task after another; whoever starts is busy for those after it. */
export class Schedule {
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

  place(task: Candidate): Placement {
    const agent = this.#choose(task);
    if (typeof agent === 'object') return { start: false, task: task.id, waiting: agent };
    this.#busy.push({ id: task.id, areas: task.areas, agentHere: agent });
    return { start: true, task: task.id, agent };
  }

  #choose(task: Candidate): AgentName | WaitingFor {
    const { agents, at } = this.#facts;
    const delay = task.state.status === 'ready' ? task.state.delay : null;
    if (delay !== null && delay.until > at) return { for: 'delay', delay };
    const able = agents.filter((agent) => canTake(task, agent).kind === 'can');
    if (able.length === 0) return { for: 'agent', reasons: whyNone(task, agents) };
    const area = this.#takenArea(task);
    if (area !== undefined) return area;
    const free = able.find((agent) => agent.max === null || this.#runningOf(agent.name) < agent.max);
    if (free === undefined) return { for: 'agent_limit', agents: able.map(({ name }) => name) };
    return this.#nodeIsFull() ?? free.name;
  }

  #nodeIsFull(): WaitingFor | undefined {
    const { freeMemoryBytes, freeDiskBytes } = this.#facts;
    const { maxAgents, minFreeMemoryBytes, minFreeDiskBytes } = this.#rules;
    const running = this.#busy.filter(({ agentHere }) => agentHere !== null).length;
    if (running >= maxAgents) return { for: 'node_limit', max: maxAgents };
    if (freeMemoryBytes !== null && freeMemoryBytes < minFreeMemoryBytes)
      return { for: 'memory', freeBytes: freeMemoryBytes, neededBytes: minFreeMemoryBytes };
    if (freeDiskBytes !== null && freeDiskBytes < minFreeDiskBytes)
      return { for: 'disk', freeBytes: freeDiskBytes, neededBytes: minFreeDiskBytes };
    return undefined;
  }

  #runningOf(agent: AgentName): number {
    return this.#busy.filter(({ agentHere }) => agentHere === agent).length;
  }

  #takenArea(task: Candidate): WaitingFor | undefined {
    if (task.areas.length === 0) return undefined;
    const wanted = this.#areasOf(task.areas);
    for (const other of this.#busy) {
      if (other.id === task.id || other.areas.length === 0) continue;
      const found = areasOverlap(wanted, this.#areasOf(other.areas));
      if (found.kind === 'overlap') return { for: 'area', task: other.id, areas: found.between };
    }
    return undefined;
  }

  #areasOf(texts: readonly string[]): readonly Area[] {
    const key = texts.join('\n');
    const known = this.#areas.get(key);
    if (known !== undefined) return known;
    const parsed = texts.flatMap((text) => {
      const check = parseArea(text);
      return check.ok ? [check.area] : [];
    });
    this.#areas.set(key, parsed);
    return parsed;
  }
}

function whyNone(task: Candidate, agents: readonly AvailableAgent[]): readonly string[] {
  if (agents.length === 0) return ['no agent is configured on this node'];
  return agents.flatMap((agent) => {
    const decision = canTake(task, agent);
    return decision.kind === 'can' ? [] : [decision.reason];
  });
}
