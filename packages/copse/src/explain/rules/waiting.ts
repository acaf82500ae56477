/** Why a ready task does not start, for `why` and for `orchestrate --dry-run`. */

import { type AgentName, type Timestamp, brand } from '../../kernel/ids.ts';
import { counted } from '../../kernel/text.ts';
import { spanText } from '../../kernel/time.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { Node, NodeFacts } from '../../machines/rules/node.ts';
import { agentCanTake } from '../../machines/rules/offer.ts';
import { splitRemark } from '../../kernel/shell.ts';
import {
  NO_AGENTS,
  type PendingAgents,
  type UnusableAgent,
  type WaitingFor,
  whyNone,
} from '../../orchestrator/rules/schedule.ts';
import { canTake } from '../../tasks/rules/capabilities.ts';
import type { Delay, TaskSummary } from '../../tasks/rules/task.ts';
import { megabytesText } from './amounts.ts';
import { splitInstall } from './reason.ts';
import { capitalised, delayText } from './status.ts';

/** What an orchestrator does with a task that waits for nothing; short, because a list has half a line for it. */
export function startsText(agent: AgentName, pollIntervalMs: number): string {
  return `It starts with ${agent} within ${spanText(pollIntervalMs)}`;
}

export interface Lack {
  /** A sentence. */
  readonly text: string;
  readonly command: string;
}

/** Null when the repository has an agent that can run here. */
export function lackOfAgents({
  agents,
  unusable = [],
  pendingAgents,
}: {
  readonly agents: readonly unknown[];
  readonly unusable?: readonly unknown[];
  readonly pendingAgents?: PendingAgents | undefined;
}): Lack | null {
  if (agents.length > 0) return null;
  if (pendingAgents !== undefined) return unacceptedAgents(pendingAgents);
  return unusable.length > 0
    ? { text: 'None of the agents in copse.yml can run here.', command: 'copse doctor' }
    : { text: 'No agent is installed or configured.', command: 'copse agents detect' };
}

export function unacceptedAgents(are: PendingAgents): Lack {
  return are === 'to_accept'
    ? {
        text: 'The agents are in a copse.yml that you have not accepted.',
        command: 'copse config accept',
      }
    : {
        text: 'The agents are in a copse.yml that you have not accepted, and that has mistakes.',
        command: 'copse config check',
      };
}

/** Null when an agent can take it. */
export function describeUntaken(
  task: Pick<TaskSummary, 'requires' | 'agent'>,
  agents: readonly { readonly name: string; readonly capabilities: readonly string[] }[],
  unusable: readonly UnusableAgent[],
): string | null {
  const named = agents.map((agent) => ({ ...agent, name: brand<AgentName>(agent.name) }));
  if (named.some((agent) => canTake(task, agent).kind === 'can')) return null;
  return untakenText(whyNone(task, { agents: named, unusable }));
}

function untakenText(reasons: readonly string[]): string {
  // The command is a step of its own.
  const found = reasons.map((reason) => splitInstall(reason).found.replace(/\.$/, ''));
  const clauses = found.map((reason) => reason.charAt(0).toLowerCase() + reason.slice(1));
  return `No agent can take it: ${clauses.join('; ')}.`;
}

const IS_DRAINING = 'This machine is draining and starts no new tasks.';

/** The command that ends the wait; null when there is none, or several. */
export function waitingStep(waiting: WaitingFor): string | null {
  if (waiting.kind === 'draining') return resumeNode(waiting.name);
  return waiting.kind === 'agent' ? installStep(waiting.reasons) : null;
}

/** Null when there is nothing to install, or more than one program. */
function installStep(reasons: readonly string[]): string | null {
  const installs = reasons.flatMap((reason) => splitInstall(reason).install ?? []);
  return installs.length === 1 ? `${installs[0]} # to install it` : null;
}

function resumeNode(name: string): string {
  return `copse node resume ${name}`;
}

/** In one line, with that command. */
export function waitingLine(waiting: WaitingFor, now: Timestamp): string {
  const detect =
    waiting.kind === 'agent' && waiting.reasons.includes(NO_AGENTS) ? 'copse agents detect' : null;
  return withStep(describeWaiting(waiting, now), waitingStep(waiting) ?? detect);
}

export function withStep(text: string, step: string | null): string {
  if (step === null) return text;
  const { command, remark } = splitRemark(step);
  const how = remark === null ? command : `${remark}: ${command}`;
  return `${text.replace(/\.$/, '')} (${how})`;
}

type NamedAgent = { readonly name: string; readonly capabilities: readonly string[] };

/** Only agents that copse.yml got after the running orchestrator started can take it; null: another reason. */
export function unknownAgent(
  task: Pick<TaskSummary, 'requires' | 'agent'>,
  told: NodeFacts | null,
  agents: readonly NamedAgent[],
): Lack | null {
  if (told === null) return null;
  const takes = ({ name, capabilities }: NamedAgent) =>
    agentCanTake(task, { name: brand<AgentName>(name), capabilities }, told).kind === 'can';
  const able = agents.filter(takes);
  if (able.length === 0 || told.capabilities.agents.some(takes)) return null;
  const names = able.map(({ name }) => name).join(', ');
  return {
    text: `Waiting: the running orchestrator does not know the agent ${names}; it keeps the copse.yml that it started with.`,
    command: 'copse orchestrate # after Ctrl+C in the terminal of the running one',
  };
}

/** Why the orchestrator of this machine does not start it, even if an agent is free. */
export function heldHere(
  task: Pick<TaskSummary, 'requires' | 'agent'>,
  node: Pick<Node, 'name' | 'drain' | 'facts'> | undefined,
  agents: readonly NamedAgent[],
): Lack | null {
  if (node === undefined) return null;
  if (node.drain !== null) return { text: IS_DRAINING, command: resumeNode(node.name) };
  return unknownAgent(task, node.facts, agents);
}

/** Of a delay while no orchestrator runs that would start it at its end. */
export function unstartedText(delay: Delay, now: Timestamp): string {
  const because = capitalised(delayText(delay));
  return `${because}; it can start in ${secondsTo(delay, now)} s, when an orchestrator runs.`;
}

function secondsTo({ until }: Delay, now: Timestamp): number {
  return Math.ceil((until - now) / 1_000);
}

export function describeWaiting(waiting: WaitingFor, now: Timestamp): string {
  switch (waiting.kind) {
    case 'delay':
      return `It starts in ${secondsTo(waiting.delay, now)} s: ${delayText(waiting.delay)}.`;
    case 'moved':
      return `Only node ${waiting.to.name} takes it, because it was moved there (copse move).`;
    case 'draining':
      return IS_DRAINING;
    case 'agent':
      return untakenText(waiting.reasons);
    case 'area':
      return `It waits for ${waiting.task}: their areas overlap (${waiting.areas[0]} and ${waiting.areas[1]}).`;
    case 'agent_limit':
      return `Waits its turn: ${waiting.limits.map(({ agent, max }) => `${agent} runs at most ${max} at once`).join(', ')} (\`max\` in copse.yml).`;
    case 'checkout':
      return `${waiting.task} works in the main checkout, where one agent at a time can work.`;
    case 'node_limit':
      return `Waits its turn: at most ${counted(waiting.max, 'agent')} ${waiting.max === 1 ? 'runs' : 'run'} here at once (policy.max_agents).`;
    case 'memory':
      return `This machine has ${megabytesText(waiting.freeBytes)} of memory free; an agent needs ${megabytesText(waiting.neededBytes)} (policy.min_free_memory).`;
    case 'disk':
      return `This machine has ${megabytesText(waiting.freeBytes)} of disk free; an agent needs ${megabytesText(waiting.neededBytes)} (policy.min_free_disk).`;
    default:
      return unreachable(waiting);
  }
}
