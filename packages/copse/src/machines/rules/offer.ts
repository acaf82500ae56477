/**
 * Which tasks a node can take. A requirement is met by the agent or by the node: a label, an installed agent program, the
 * platform, `container`, or at least so many processors (`cpus:8`) and gigabytes of memory (`memory:16`).
 */

import type { AgentName } from '../../kernel/ids.ts';
import { GIGABYTE } from '../../kernel/limits.ts';
import { type TakeDecision, canTake, missingCapabilities } from '../../tasks/rules/capabilities.ts';
import type { MoveTarget } from '../../tasks/rules/task.ts';
import { type Node, type NodeFacts, isHeard, silenceText } from './node.ts';

export interface WantedOfNode {
  readonly requires: readonly string[];
  readonly agent: AgentName | null;
  readonly moveTo?: MoveTarget | null;
}

type Offering = Pick<NodeFacts, 'labels' | 'capabilities'>;

/** What the node adds to the capabilities of each of its agents, for a task that requires these. */
function offersOf(facts: Offering | null, requires: readonly string[]): readonly string[] {
  if (facts === null) return [];
  const { labels, capabilities } = facts;
  const { programs, platform, isContainer } = capabilities;
  const measured = requires.filter((one) => isEnough(one, capabilities));
  return [...labels, ...programs, ...platform, ...(isContainer ? ['container'] : []), ...measured];
}

function isEnough(requirement: string, { cpus, memoryBytes }: NodeFacts['capabilities']): boolean {
  const [, what, amount] = /^(cpus|memory):(\d+)$/.exec(requirement) ?? [];
  if (what === 'cpus') return cpus >= Number(amount);
  return what === 'memory' && memoryBytes >= Number(amount) * GIGABYTE;
}

/** Whether a node may take a task at all; how much runs there now does not matter. */
export function nodeCanTake(
  task: WantedOfNode,
  node: Pick<Node, 'id' | 'name' | 'leftAt' | 'drain' | 'facts'>,
): TakeDecision {
  const { id, name, leftAt, drain, facts } = node;
  if (leftAt !== null) return cannot(`node ${name} left`);
  if (drain !== null) return cannot(`node ${name} is draining`);
  if (task.moveTo != null && task.moveTo.node !== id)
    return cannot(`it was moved to node ${task.moveTo.name}`);
  if (facts === null) return cannot(`node ${name} did not say what it can do`);
  const { agents } = facts.capabilities;
  const wanted = agents.filter((one) => task.agent === null || one.name === task.agent);
  if (wanted.length === 0)
    return cannot(
      task.agent === null ? `node ${name} has no agent` : `node ${name} lacks the agent ${task.agent}`,
    );
  const offers = offersOf(facts, task.requires);
  const lacks = wanted.map((one) => missingCapabilities(task.requires, [...one.capabilities, ...offers]));
  const least = lacks.toSorted((one, other) => one.length - other.length)[0] ?? [];
  return least.length === 0 ? { kind: 'can' } : cannot(`node ${name} lacks ${least.join(', ')}`);
}

/** The same, for a person who wants it to go there now. */
export function nodeTakesNow(
  task: WantedOfNode,
  node: Node,
  silentMs: number | null,
  policy: { readonly silentMs: number },
): TakeDecision {
  const able = nodeCanTake(task, node);
  if (able.kind === 'cannot' || isHeard(silentMs, policy.silentMs)) return able;
  return cannot(`node ${node.name} was ${silenceText(silentMs)}`);
}

/** An agent of a node, with all that the node adds. */
export function agentCanTake(
  task: WantedOfNode,
  agent: { readonly name: AgentName; readonly capabilities: readonly string[] },
  facts: Offering | null,
): TakeDecision {
  const capabilities = [...agent.capabilities, ...offersOf(facts, task.requires)];
  return canTake(task, { ...agent, capabilities });
}

function cannot(reason: string): TakeDecision {
  return { kind: 'cannot', reason };
}
