/** What the schedule has to know about this node and about everybody's work. */

import { type AgentName, brand } from '../../kernel/ids.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import { type BusyTask, Schedule, type ScheduleFacts } from '../../orchestrator/rules/schedule.ts';
import type { BoardReader } from '../../board/port.ts';
import type { Running } from './observe.ts';
import type { LookContext, RunContext } from '../../queue/context.ts';

export async function scheduleFacts(
  { board, agents, clock, disk, machine, node, root }: LookContext,
  running: readonly Running[],
  landings: readonly Landing[],
): Promise<ScheduleFacts> {
  const busy: BusyTask[] = running.map(({ task, held }) => {
    const isHere = held.node === node && held.attempt !== null && task.state.status === 'in_progress';
    return {
      id: task.id,
      areas: task.areas,
      agentHere: isHere && task.state.status === 'in_progress' ? task.state.claim.agent : null,
    };
  });
  // What is about to land is not in the target yet: whoever began beside it now would conflict with it.
  for (const { task: id } of landings) {
    const task = await board.get('task', id);
    if (task !== undefined) busy.push({ id, areas: task.areas, agentHere: null });
  }
  return {
    at: clock.now(),
    agents: available(agents),
    busy,
    freeMemoryBytes: machine.freeMemoryBytes(),
    freeDiskBytes: await disk.freeBytes(root),
  };
}

/**
 * The schedule as the board has it in the middle of a transaction: another orchestrator may have begun something since this
 * one looked. Memory and disk were looked at before.
 */
export async function scheduleNow(
  { agents, clock, node, policy }: RunContext,
  board: Pick<BoardReader, 'held' | 'tasks'>,
): Promise<Schedule> {
  const held = (await board.held()).map(({ task: { id, areas, state } }): BusyTask => {
    const claim = state.status === 'in_progress' ? state.claim : undefined;
    const isHere = claim?.node === node && !claim.isByHand;
    return { id, areas, agentHere: isHere ? claim.agent : null };
  });
  const landing = await board.tasks({ statuses: ['landing'], order: 'urgent' });
  const busy = [...held, ...landing.map(({ id, areas }) => ({ id, areas, agentHere: null }))];
  const facts = {
    at: clock.now(),
    agents: available(agents),
    busy,
    freeMemoryBytes: null,
    freeDiskBytes: null,
  };
  return new Schedule(facts, policy.orchestration);
}

function available(agents: RunContext['agents']): ScheduleFacts['agents'] {
  return agents.map(({ name, capabilities, max }) => ({
    name: brand<AgentName>(name),
    capabilities,
    max: max ?? null,
  }));
}
