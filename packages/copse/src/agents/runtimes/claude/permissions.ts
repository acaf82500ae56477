/** An agent's policy in the words of Claude Code. What a policy does not allow is asked. */

import { REPORTING_TOOLS } from './tools.ts';

export type Permissions = 'ask' | 'accept_edits' | 'all' | { readonly allow: readonly string[] };

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
