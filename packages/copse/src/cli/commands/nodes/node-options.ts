/** Words of the command line that name a node, and what an orchestrator tells about its own. */

import { duration } from '../../../config/quantities.ts';
import { parseCapability } from '../../../tasks/rules/capabilities.ts';
import type { Context } from '../../../board/context.ts';
import type { ToldOptions } from '../../../compose/node-facts.ts';
import { shown } from '../../../kernel/text.ts';
import { type KnownNode, loadNodes } from '../../../machines/act/nodes.ts';
import { parseNodeName } from '../../../machines/rules/node.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';

export function toldBy(
  { version }: Pick<Cli, 'version'>,
  { nodeName, labels }: { readonly nodeName?: string; readonly labels?: readonly string[] },
): ToldOptions {
  return {
    version,
    name: nodeName === undefined ? null : requireNodeName(nodeName),
    labels: labels === undefined ? null : labels.filter((text) => text !== '').map(requireLabel),
  };
}

export function requireNodeName(text: string): string {
  const check = parseNodeName(text);
  return check.kind === 'accepted' ? check.name : fail('invalid', `${check.reason}.`, 'copse node list');
}

function requireLabel(text: string): string {
  const check = parseCapability(text);
  if (check.kind === 'accepted') return check.capability;
  const reason = check.reason.replaceAll('capability', 'label');
  return fail('invalid', `${reason}.`, 'copse up --labels gpu,linux');
}

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

/** `0s` is allowed: at once. */
export function requireWithin(text: string): number {
  if (/^0(s|m)?$/.test(text)) return 0;
  const parsed = duration.safeParse(text);
  if (parsed.success) return parsed.data;
  return fail('invalid', `--within must be a time like 10m or 0s, not "${text}".`, 'copse node drain --help');
}
