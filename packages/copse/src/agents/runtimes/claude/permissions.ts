/** An agent's policy in the words of Claude Code. What a policy does not allow is asked. */

import type { Permissions, Turn } from '../../ports/runtime.ts';

/** The tools by which Claude reports (`copse mcp`). Claude uses them without a question. */
export const REPORTING_TOOLS = 'mcp__copse';

export interface ClaudePermissions {
  readonly mode: 'default' | 'acceptEdits';
  /** Rules for what needs no question. */
  readonly allowed: readonly string[];
  /**
   * Whether every question is answered with yes. Claude Code's own mode for that is not used: it refuses to start as root,
   * and it overrides what the project forbids.
   */
  readonly isAllAllowed: boolean;
}

export function claudePermissions(policy: Permissions): ClaudePermissions {
  switch (policy) {
    case 'ask':
      return { mode: 'default', allowed: [REPORTING_TOOLS], isAllAllowed: false };
    case 'accept_edits':
      return { mode: 'acceptEdits', allowed: KEEPING_WORK, isAllAllowed: false };
    case 'all':
      return { mode: 'acceptEdits', allowed: KEEPING_WORK, isAllAllowed: true };
    default:
      return { mode: 'default', allowed: [...policy.allow, REPORTING_TOOLS], isAllAllowed: false };
  }
}

/** Who may edit may also commit that, and say how it goes. */
const KEEPING_WORK = ['Bash(git add:*)', 'Bash(git commit:*)', 'Bash(copse:*)', REPORTING_TOOLS];

/** The server of these tools, in the form that Claude's settings have. */
export function reportingServers({ environment }: Turn): Readonly<Record<string, object>> {
  // Not all programs pass their environment on, and these say for whom it speaks.
  const own = Object.entries(environment).filter(([name]) => name.startsWith('COPSE_'));
  const env = Object.fromEntries(own);
  // Otherwise its tools are hidden until they are searched for.
  return { copse: { type: 'stdio', command: 'copse', args: ['mcp'], env, alwaysLoad: true } };
}
