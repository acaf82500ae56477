/** Why a ready task does not start, for `why` and for `orchestrate --dry-run`. */

import type { AgentName, Timestamp } from '../../kernel/ids.ts';
import { spanText } from '../../kernel/time.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { WaitingFor } from '../../orchestrator/rules/schedule.ts';
import { megabytesText } from './amounts.ts';
import { delayText } from './status.ts';

/** What an orchestrator does with a task that waits for nothing. */
export function startsText(agent: AgentName, pollIntervalMs: number): string {
  return `starts it with ${agent} within ${spanText(pollIntervalMs)}`;
}

export function describeWaiting(waiting: WaitingFor, now: Timestamp): string {
  switch (waiting.kind) {
    case 'delay': {
      const seconds = Math.ceil((waiting.delay.until - now) / 1_000);
      return `It waits ${seconds} s more because ${delayText(waiting.delay)}.`;
    }
    case 'moved':
      return `Only node ${waiting.to.name} takes it, because it was moved there (copse move).`;
    case 'draining':
      return `This node (${waiting.name}) drains, and takes no new work (copse node resume ${waiting.name}).`;
    case 'agent':
      return `No agent can take it: ${waiting.reasons.join('; ')}.`;
    case 'area':
      return `It waits for ${waiting.task}: their areas overlap (${waiting.areas[0]} and ${waiting.areas[1]}).`;
    case 'agent_limit':
      return `Every agent that can take it is at its limit: ${waiting.agents.join(', ')} (\`max\` in copse.yml).`;
    case 'node_limit':
      return `${waiting.max} agents are running, the limit of this machine (policy.max_agents).`;
    case 'memory':
      return `This machine has ${megabytesText(waiting.freeBytes)} of memory free; an agent needs ${megabytesText(waiting.neededBytes)} (policy.min_free_memory).`;
    case 'disk':
      return `This machine has ${megabytesText(waiting.freeBytes)} of disk free; an agent needs ${megabytesText(waiting.neededBytes)} (policy.min_free_disk).`;
    default:
      return unreachable(waiting);
  }
}
