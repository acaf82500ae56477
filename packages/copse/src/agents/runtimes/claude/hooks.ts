/**
 * Questions of Claude Code's hooks, and the answers, in the form of its hooks.
 *
 *   Stop               → may it stop?       → nothing, or { decision: 'block', reason }
 *   PermissionRequest  → may it use this?   → { hookSpecificOutput: { decision: { behavior: 'allow' | 'deny' } } }
 *   Notification, StopFailure               → no answer
 */

import type { Ask, Permissions, Turn } from '../../ports/runtime.ts';
import type { PermissionAnswer } from '../../rules/session/session.ts';
import { describeInput } from './messages.ts';
import { fields, text } from '../fields.ts';
import { claudePermissions } from './permissions.ts';

export interface HookEvents {
  /** Called with the file of the program's conversation. */
  readonly onRecord?: (file: string) => void;
  /** The gate allowed it to stop, and it is about to. */
  readonly onStop?: (lastWords: string | undefined) => void;
  readonly onNotice?: (input: unknown) => void;
}

export function answerHooks(
  turn: Turn,
  permissions: Permissions,
  { onRecord, onStop, onNotice }: HookEvents = {},
): (ask: Ask) => Promise<unknown> {
  return async ({ kind, input }) => {
    const record = text(input, 'transcript_path');
    if (record !== undefined) onRecord?.(record);
    switch (kind) {
      case 'stop': {
        const answer = await turn.beforeStop().catch(() => ({ kind: 'allowed' }) as const);
        if (answer.kind === 'refused') return { decision: 'block', reason: answer.reason };
        onStop?.(text(input, 'last_assistant_message'));
        return null;
      }
      case 'permission':
        return answerPermission(turn, permissions, input);
      case 'notice':
        onNotice?.(input);
        return null;
      case 'command':
        // Comes on a channel of its own.
        return null;
      default:
        throw new Error(`There is no hook ${String(kind satisfies never)}`);
    }
  };
}

/** Questions to a person in the form of tools; allowing them would answer them with nothing. */
const QUESTIONS: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode']);

async function answerPermission(turn: Turn, permissions: Permissions, input: unknown): Promise<unknown> {
  const tool = text(input, 'tool_name') ?? 'A tool';
  if (QUESTIONS.has(tool)) return null;
  if (claudePermissions(permissions).isAllAllowed) return decision({ isAllowed: true, message: null });
  return decision(await turn.mayUse({ tool, what: describeInput(fields(input, 'tool_input')) }));
}

function decision({ isAllowed, message }: PermissionAnswer): object {
  return {
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: isAllowed
        ? { behavior: 'allow' }
        : { behavior: 'deny', message: message ?? 'A person did not allow this.' },
    },
  };
}
