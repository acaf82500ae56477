/** The facts for the schedule: this node's agents and resources, and all running and landing tasks. */

import { type AgentName, brand } from '../../kernel/ids.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import { type BusyTask, Scheduler, type ScheduleFacts } from '../../orchestrator/rules/schedule.ts';
import type { BoardReader } from '../../board/port.ts';
import type { RunningTask } from './observe.ts';
import type { LookContext, RunContext } from '../../queue/context.ts';
import { leftInCheckout } from '../../workspaces/act/checkout/left-in-checkout.ts';

export async function scheduleFacts(
  context: LookContext,
  running: readonly RunningTask[],
  landings: readonly Landing[],
): Promise<ScheduleFacts> {
  const { board, agents, unusable = [], clock, disk, machine, node, root, rootOf } = context;
  const busy: BusyTask[] = running.map(({ task, held }) => {
    const isHere = held.node === node && held.attempt !== null && task.state.status === 'in_progress';
    return {
      id: task.id,
      areas: task.areas,
      repository: task.repository ?? null,
      agentHere: isHere && task.state.status === 'in_progress' ? task.state.claim.agent : null,
    };
  });
  // A landing task is not in the target yet: a task that began now on the same areas would conflict with it.
  for (const { task: id } of landings) {
    const task = await board.get('task', id);
    if (task !== undefined)
      busy.push({ id, areas: task.areas, repository: task.repository ?? null, agentHere: null });
  }
  return {
    at: clock.now(),
    here: { id: node, node: (await board.get('node', node)) ?? null },
    agents: available(agents, rootOf),
    unusable,
    busy,
    ...(agents.some(isInCheckout) && { leftInCheckout: await leftInCheckout(context) }),
    freeMemoryBytes: machine.freeMemoryBytes(),
    freeDiskBytes: await disk.freeBytes(root),
  };
}

/**
 * The schedule inside a transaction: another orchestrator may have begun a task since the last pass. Memory, disk and
 * processes that an ended attempt left were checked in that pass.
 */
export async function scheduleNow(
  { agents, clock, node, policy, rootOf }: RunContext,
  board: Pick<BoardReader, 'get' | 'held' | 'tasks'>,
): Promise<Scheduler> {
  const held = (await board.held()).map(({ task: { id, areas, state, repository = null } }): BusyTask => {
    const claim = state.status === 'in_progress' ? state.claim : undefined;
    const isHere = claim?.node === node && !claim.isByHand;
    return { id, areas, repository, agentHere: isHere ? claim.agent : null };
  });
  const landing = await board.tasks({ statuses: ['landing'], order: 'urgent' });
  const busy = [
    ...held,
    ...landing.map(({ id, areas, repository = null }) => ({ id, areas, repository, agentHere: null })),
  ];
  const facts = {
    at: clock.now(),
    // Locked until the claim is recorded: a drain that is recorded before it refuses the claim.
    here: { id: node, node: (await board.get('node', node)) ?? null },
    agents: available(agents, rootOf),
    unusable: [],
    busy,
    freeMemoryBytes: null,
    freeDiskBytes: null,
  };
  return new Scheduler(facts, policy.orchestration);
}

function available(
  agents: RunContext['agents'],
  rootOf: (agent: AgentName) => string | null = () => null,
): ScheduleFacts['agents'] {
  return agents.map(({ name, capabilities, max, ...agent }) => ({
    repository: rootOf(brand<AgentName>(name)),
    name: brand<AgentName>(name),
    capabilities,
    max: max ?? null,
    isInCheckout: isInCheckout(agent),
  }));
}

function isInCheckout({ workspace }: Pick<RunContext['agents'][number], 'workspace'>): boolean {
  return workspace.strategy === 'static';
}
