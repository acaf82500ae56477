/** The nodes of a board, as commands show and change them. */

import { type Outcome, type Context, change } from '../../board/context.ts';
import type { Board } from '../../board/port.ts';
import type { NodeId, TaskId } from '../../kernel/ids.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import { decideMove, decideMoveAnywhere } from '../../tasks/rules/move.ts';
import {
  type Drain,
  type Node,
  decideDrain,
  decideLeave,
  decideRename,
  decideResumeNode,
  isHeard,
} from '../rules/node.ts';

export interface KnownNode {
  readonly node: Node;
  /** Null: never heard from. */
  readonly silentMs: number | null;
  /** Tasks that it holds. */
  readonly held: readonly TaskSummary[];
}

/** Oldest first; those that left only if asked for. */
export async function loadNodes(
  { board }: Pick<Context, 'board'>,
  { withLeft = false } = {},
): Promise<readonly KnownNode[]> {
  const nodes = await board.list('node');
  if (nodes.length === 0) return [];
  const silences = await board.silences();
  const held = await board.held();
  return nodes
    .filter(({ leftAt }) => withLeft || leftAt === null)
    .map((node) => ({
      node,
      silentMs: silences.get(node.id) ?? null,
      held: held.flatMap(({ task }) => (nodeOf(task) === node.id ? [task] : [])),
    }));
}

function nodeOf({ state }: TaskSummary): NodeId | null {
  return state.status === 'in_progress' ? state.claim.node : null;
}

/** A drain leaves it with the person who works on it. */
export function isByHand({ state }: TaskSummary): boolean {
  return state.status === 'in_progress' && state.claim.isByHand === true;
}

export async function drainNode(
  context: Context,
  id: NodeId,
  drain: Pick<Drain, 'withinMs' | 'by'>,
): Promise<Outcome<Node>> {
  return changeNode(context, id, async (node, at) => decideDrain(node, drain, at));
}

export async function resumeNode(context: Context, id: NodeId): Promise<Outcome<Node>> {
  return changeNode(context, id, async (node, at) => decideResumeNode(node, at));
}

export async function renameNode(context: Context, id: NodeId, name: string): Promise<Outcome<Node>> {
  const others = (await context.board.list('node')).filter((one) => one.id !== id);
  return changeNode(context, id, async (node, at) => decideRename(node, name, others, at));
}

function changeNode(
  context: Context,
  id: NodeId,
  decide: (node: Node, at: Node['joinedAt']) => Promise<ReturnType<typeof decideDrain>>,
): Promise<Outcome<Node>> {
  return change(context, async (change) => {
    await change.apply(await decide(await change.require('node', id), change.at));
    return change.require('node', id);
  });
}

/** Tasks that were moved to it may be taken by any node again. */
export async function leaveNode(context: Context, id: NodeId): Promise<Outcome<Node>> {
  const { board, policy } = context;
  const silentMs = (await board.silences()).get(id) ?? null;
  const waiting = await board.tasks({ statuses: ['pending', 'ready', 'in_progress'], order: 'urgent' });
  const moved = waiting.filter(({ moveTo }) => moveTo?.node === id);
  return change(context, async (change) => {
    for (const { id: task } of moved) {
      const decision = decideMoveAnywhere(await change.require('task', task), change.at);
      if (decision !== null) await change.apply(decision);
    }
    const node = await change.require('node', id);
    const held = (await change.board.held()).flatMap(({ task }) => (nodeOf(task) === id ? [task.id] : []));
    await change.apply(decideLeave(node, { held, silentMs }, policy.nodes, change.at));
    return change.require('node', id);
  });
}

/** Records the wish; the orchestrator of the node that runs the task hands it over. */
export async function moveTask(context: Context, id: TaskId, to: NodeId): Promise<Outcome<TaskSummary>> {
  const { board, policy } = context;
  const silentMs = (await board.silences()).get(to) ?? null;
  return change(context, async (change) => {
    const task = await change.require('task', id);
    const node = await change.require('node', to);
    await change.apply(decideMove(task, node, { silentMs }, policy.nodes, change.at));
    return change.require('task', id);
  });
}

/** Other nodes that run and take work. */
export async function loadOtherNodes(
  board: Pick<Board, 'list' | 'silences'>,
  here: NodeId,
  policy: { readonly silentMs: number },
): Promise<readonly Node[]> {
  const others = (await board.list('node')).filter(
    ({ id, leftAt, drain }) => id !== here && leftAt === null && drain === null,
  );
  if (others.length === 0) return [];
  const silences = await board.silences();
  return others.filter(({ id }) => isHeard(silences.get(id) ?? null, policy.silentMs));
}
