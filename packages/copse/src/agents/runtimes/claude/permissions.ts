/** An agent's permissions in terms of Claude Code. Claude asks for everything else. */

import type { Permissions, Turn } from '../../ports/runtime.ts';

/** The tools by which Claude reports (`copse mcp`). Claude uses them without a question. */
export const REPORTING_TOOLS = 'mcp__copse';

export interface ClaudePermissions {
  readonly mode: 'default' | 'acceptEdits';
  /** Rules for tools that need no question. */
  readonly allowed: readonly string[];
  /**
   * Whether Copse allows every question. Claude Code's `bypassPermissions` is not used: it refuses to start as root, and it
   * overrides what the project forbids.
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

/** An agent that may edit may also commit and report. */
const KEEPING_WORK = [
  'Bash(git add:*)',
  'Bash(git commit:*)',
  ...['finish', 'stuck', 'phase', 'heartbeat', 'ledger add', 'sync'].map((name) => `Bash(copse ${name}:*)`),
  REPORTING_TOOLS,
];

/** The server of these tools, in the form that Claude's settings have. */
export function reportingServers({ environment }: Turn): Readonly<Record<string, object>> {
  // Some versions do not pass their environment to servers; these variables name the task.
  const own = Object.entries(environment).filter(([name]) => name.startsWith('COPSE_'));
  const env = Object.fromEntries(own);
  // Without `alwaysLoad` Claude does not see the tools until it searches for them.
  return { copse: { type: 'stdio', command: 'copse', args: ['mcp'], env, alwaysLoad: true } };
}
