import type { BoardReader } from '../../board/port.ts';
import type { NodeId } from '../../kernel/ids.ts';

/** The names of all nodes, if there is more than one: with one, no text names it. */
export async function severalNodes(board: Pick<BoardReader, 'list'>): Promise<ReadonlyMap<NodeId, string>> {
  const nodes = await board.list('node');
  const isSeveral = nodes.filter(({ leftAt }) => leftAt === null).length > 1;
  return new Map(isSeveral ? nodes.map(({ id, name }) => [id, name]) : []);
}
