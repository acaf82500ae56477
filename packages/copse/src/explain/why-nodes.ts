/** Which nodes can take a ready task, and what each of the others lacks. Empty while there is only one node. */

import type { NodeId } from '../kernel/ids.ts';
import { loadNodes } from '../machines/act/nodes.ts';
import { nodeTakesNow } from '../machines/rules/offer.ts';
import type { WaitingFor } from '../orchestrator/rules/schedule.ts';
import type { LookContext } from '../queue/context.ts';
import type { Task } from '../tasks/rules/task.ts';

export async function whyNodes(
  { board, node: here, policy }: LookContext,
  task: Task,
  { waiting, isOrchestrated }: { readonly waiting: WaitingFor | null; readonly isOrchestrated: boolean },
): Promise<readonly string[]> {
  if (waiting === null ? isOrchestrated : !CONCERNS_NODES.has(waiting.kind)) return [];
  const nodes = await loadNodes({ board });
  if (nodes.length < 2) return [];
  const target = nodes.find(({ node }) => node.id === task.moveTo?.node);
  if (waiting?.kind === 'moved' && target !== undefined) {
    const able = nodeTakesNow(task, target.node, target.silentMs, policy.nodes);
    return able.kind === 'can' ? [] : [`It cannot go there now: ${able.reason}.`];
  }
  const asked = nodes.map(({ node, silentMs }) => ({
    node,
    able: nodeTakesNow(task, node, silentMs, policy.nodes),
  }));
  const able = asked.flatMap((one) => (one.able.kind === 'can' ? [one.node] : []));
  if (able.length > 0) return able.map(({ id, name }) => `  node ${name}${isHere(id, here)} can take it`);
  const reasons = asked.flatMap(({ able: found }) => (found.kind === 'cannot' ? [`  ${found.reason}`] : []));
  return ['No node can take it:', ...reasons];
}

const CONCERNS_NODES: ReadonlySet<WaitingFor['kind']> = new Set(['agent', 'moved', 'draining']);

function isHere(id: NodeId, here: NodeId): string {
  return id === here ? ' (this machine)' : '';
}
