/** The tools by which Claude reports (`copse mcp`), as its settings name such servers. */

import type { Turn } from '../../ports/runtime.ts';

/** To use them is never asked. */
export const REPORTING_TOOLS = 'mcp__copse';

export function reportingServers({ environment }: Turn): Readonly<Record<string, object>> {
  // Not all programs pass their environment on, and these say for whom it speaks.
  const own = Object.entries(environment).filter(([name]) => name.startsWith('COPSE_'));
  const env = Object.fromEntries(own);
  // Otherwise its tools are hidden until they are searched for.
  return { copse: { type: 'stdio', command: 'copse', args: ['mcp'], env, alwaysLoad: true } };
}
