/** An orchestrator joins the board with its node, says every few seconds that it lives, and measures its clock. */

import { decided } from '../../kernel/decision.ts';
import { type Context, type Outcome, change } from '../../board/context.ts';
import { type Board, BoardTooNew } from '../../board/port.ts';
import type { Timer } from '../../kernel/clock.ts';
import type { NodeId } from '../../kernel/ids.ts';
import { type Arrival, type Node, decideJoin, isShifted } from '../rules/node.ts';

export interface JoinContext extends Context {
  readonly clock: Timer;
  readonly node: NodeId;
}

/** Writes the record only when it changes. */
export async function joinNode(
  context: JoinContext,
  arrival: Omit<Arrival, 'clockOffsetMs'>,
): Promise<Outcome<Node>> {
  const { node: id, policy } = context;
  const measured = await measureOffset(context);
  const others = (await context.board.list('node')).filter((one) => one.id !== id);
  const joined = await change(context, async (change) => {
    const before = await change.board.get('node', id);
    const clockOffsetMs = measured === undefined ? (before?.clockOffsetMs ?? null) : measured;
    const decision = decideJoin(id, before, { ...arrival, clockOffsetMs }, others, policy.nodes, change.at);
    if (decision !== null) await change.apply(decision);
    return change.require('node', id);
  });
  if (joined.kind === 'done') await context.board.seeNode(id);
  return joined;
}

/** Until the signal. An unreachable board is told by the loop; the next round tries again. */
export async function staySeen(context: JoinContext, signal: AbortSignal): Promise<void> {
  const { board, clock, node: id, policy } = context;
  while (!signal.aborted) {
    try {
      const measured = await measureOffset(context);
      const before = await board.get('node', id);
      if (
        measured !== undefined &&
        before !== undefined &&
        isShifted(before.clockOffsetMs, measured, policy.nodes.offsetStepMs)
      )
        await change(context, (change) =>
          change.apply(decided({ type: 'node.changed', id, at: change.at, clockOffsetMs: measured })),
        );
    } catch (error) {
      if (error instanceof BoardTooNew) return;
    }
    await clock.sleep(policy.nodes.seeEveryMs, signal);
  }
}

/**
 * The server's clock minus this machine's, and a sign of life. Null for a board in a file, which has no other clock.
 * Undefined when it cannot be known: the answer took long, or the clock was set meanwhile.
 */
async function measureOffset({
  board,
  clock,
  node,
}: {
  readonly board: Pick<Board, 'engine' | 'seeNode'>;
  readonly clock: Timer;
  readonly node: NodeId;
}): Promise<number | null | undefined> {
  const [startedAt, startedMs] = [clock.now(), clock.elapsedMs()];
  const server = await board.seeNode(node);
  const tookMs = clock.elapsedMs() - startedMs;
  const shownMs = clock.now() - startedAt;
  if (board.engine === 'sqlite') return null;
  if (tookMs > LONGEST_MS || Math.abs(shownMs - tookMs) > JUMP_MS) return undefined;
  return Math.round(server - startedAt - tookMs / 2);
}

const LONGEST_MS = 1_000;
const JUMP_MS = 250;
