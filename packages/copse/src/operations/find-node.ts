/** Which node a caller means, and what one may be called. */

import type { Context } from '../board/context.ts';
import { shown } from '../kernel/text.ts';
import { type KnownNode, loadNodes } from '../machines/act/nodes.ts';
import { parseNodeName } from '../machines/rules/node.ts';
import { fail } from './failure.ts';

/** By its name or id; of two with one name, the one that did not leave. */
export async function requireNode(context: Pick<Context, 'board'>, text: string): Promise<KnownNode> {
  const wanted = text.trim().toLowerCase();
  const nodes = await loadNodes(context, { withLeft: true });
  const found = nodes.filter(({ node }) => node.id === wanted || node.name.toLowerCase() === wanted);
  const node = found.find((one) => one.node.leftAt === null) ?? found[0];
  if (node !== undefined) return node;
  if (nodes.length === 0) return fail('not_found', 'No node has joined this board.', 'copse up');
  return fail(
    'not_found',
    `The board has no node ${JSON.stringify(shown(text.slice(0, 60)))}.`,
    'copse node list',
  );
}

export function requireNodeName(text: string): string {
  const check = parseNodeName(text);
  return check.kind === 'accepted' ? check.name : fail('invalid', `${check.reason}.`, 'copse node list');
}
