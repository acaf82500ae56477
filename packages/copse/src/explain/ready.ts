/** Where each ready task starts, or why it waits: placed one after another, as the orchestrator does it. */

import type { RunningTask } from '../agents/act/observe.ts';
import { scheduleFacts } from '../agents/act/schedule-facts.ts';
import { type AgentName, type TaskId, type Timestamp, brand } from '../kernel/ids.ts';
import { anyOf } from '../kernel/text.ts';
import { loadOtherNodes } from '../machines/act/nodes.ts';
import type { Node } from '../machines/rules/node.ts';
import { nodeCanTake } from '../machines/rules/offer.ts';
import {
  NO_AGENTS,
  type ScheduleFacts,
  Scheduler,
  type WaitingFor,
  afterStart,
} from '../orchestrator/rules/schedule.ts';
import type { LookContext } from '../queue/context.ts';
import { preferApart } from '../radar/prefer-apart.ts';
import type { TaskSummary } from '../tasks/rules/task.ts';
import {
  type Lack,
  describeWaiting,
  startsText,
  unacceptedAgents,
  unknownAgent,
  unstartedText,
  waitingStep,
} from './rules/waiting.ts';

export interface ReadyFate {
  /** Without a full stop when it starts. */
  readonly text: string;
  /** The command that ends the wait; null when there is none. */
  readonly step: string | null;
  readonly waiting: WaitingFor | null;
  /** Null while it waits. */
  readonly agent: AgentName | null;
}

/** `ready` in the order of urgency. */
export async function loadFates(
  context: LookContext,
  ready: readonly TaskSummary[],
  running: readonly RunningTask[],
  isOrchestrated: boolean,
): Promise<ReadonlyMap<TaskId, ReadyFate>> {
  const { board, policy } = context;
  const here = await scheduleFacts(context, running, await board.openLandings());
  const facts = isOrchestrated ? withItsAgents(here) : afterStart(here);
  const scheduler = new Scheduler(facts, policy.orchestration);
  const others = isOrchestrated ? [] : await loadOtherNodes(board, context.node, policy.nodes);
  const fates = new Map<TaskId, ReadyFate>();
  for (const task of preferApart(context, ready)) {
    const placement = scheduler.place(task);
    if (placement.kind === 'placed') {
      const text = isOrchestrated
        ? startsText(placement.agent, policy.orchestration.pollIntervalMs)
        : (startsElsewhere(task, others) ??
          `It starts with ${placement.agent} as soon as an orchestrator runs here`);
      fates.set(task.id, { text, step: null, waiting: null, agent: placement.agent });
      continue;
    }
    const { waiting } = placement;
    const unknown =
      waiting.kind === 'agent' && isOrchestrated
        ? unknownAgent(task, here.here?.node?.facts ?? null, here.agents)
        : unaccepted(context, waiting);
    fates.set(task.id, {
      text:
        unknown?.text ??
        textOf(waiting, facts.at, isOrchestrated || startsElsewhere(task, others) !== undefined),
      step: unknown?.command ?? waitingStep(waiting),
      waiting,
      agent: null,
    });
  }
  return fates;
}

function unaccepted({ pendingAgents }: LookContext, waiting: WaitingFor): Lack | null {
  if (pendingAgents === undefined || waiting.kind !== 'agent') return null;
  return waiting.reasons.includes(NO_AGENTS) ? unacceptedAgents(pendingAgents) : null;
}

function textOf(waiting: WaitingFor, now: Timestamp, hasOrchestrator: boolean): string {
  return waiting.kind === 'delay' && !hasOrchestrator
    ? unstartedText(waiting.delay, now)
    : describeWaiting(waiting, now);
}

function startsElsewhere(task: TaskSummary, others: readonly Node[]): string | undefined {
  const able = others.filter((node) => nodeCanTake(task, node).kind === 'can').map(({ name }) => name);
  return able.length === 0 ? undefined : `Starts on ${anyOf(able)} when an agent is free there`;
}

/** A running orchestrator keeps the agents that it started with, and has told the board which. */
function withItsAgents(facts: ScheduleFacts): ScheduleFacts {
  const told = facts.here?.node?.facts?.capabilities.agents;
  if (told === undefined) return facts;
  const agents = told.map(({ name, capabilities }) => {
    const known = facts.agents.find((one) => one.name === name);
    return known ?? { name: brand<AgentName>(name), capabilities, max: null };
  });
  return { ...facts, agents };
}
