/** Words of the command line about nodes, and what an orchestrator tells about its own. */

import { duration } from '../../../config/quantities.ts';
import { parseCapability } from '../../../tasks/rules/capabilities.ts';
import type { ToldOptions } from '../../../compose/node-facts.ts';
import { fail } from '../../../operations/failure.ts';
import { requireNodeName } from '../../../operations/find-node.ts';
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

function requireLabel(text: string): string {
  const check = parseCapability(text);
  if (check.kind === 'accepted') return check.capability;
  const reason = check.reason.replaceAll('capability', 'label');
  return fail('invalid', `${reason}.`, 'copse up --labels gpu,linux');
}

/** `0s` is allowed: at once. */
export function requireWithin(text: string): number {
  if (/^0(s|m)?$/.test(text)) return 0;
  const parsed = duration.safeParse(text);
  if (parsed.success) return parsed.data;
  return fail('invalid', `--within must be a time like 10m or 0s, not "${text}".`, 'copse node drain --help');
}
