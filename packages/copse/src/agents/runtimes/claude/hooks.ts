/**
 * What Claude Code asks through its hooks, and what it hears, each in the form that its hooks have.
 *
 *   Stop               → may it stop?       → nothing, or { decision: 'block', reason }
 *   PermissionRequest  → may it use this?   → { hookSpecificOutput: { decision: { behavior: 'allow' | 'deny' } } }
 *   Notification, StopFailure               → nothing is asked
 */

import type { Ask } from '../../ports/asks.ts';
import type { PermissionAnswer, Turn } from '../../ports/runtime.ts';
import { describeInput } from './messages.ts';
import { fields, text } from '../fields.ts';
import { type Permissions, claudePermissions } from './permissions.ts';

export interface HookEvents {
  /** The first that says where the program keeps its conversation. */
  readonly onRecord?: (file: string) => void;
  /** It may stop and is about to. */
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
        const answer = await turn.beforeStop().catch(() => ({ may: true }) as const);
        if (!answer.may) return { decision: 'block', reason: answer.because };
        onStop?.(text(input, 'last_assistant_message'));
        return null;
      }
      case 'permission':
        return answerPermission(turn, permissions, input);
      case 'notice':
        onNotice?.(input);
        return null;
      default:
        throw new Error(`Nobody asks ${String(kind satisfies never)}`);
    }
  };
}

/** These are questions to a person rather than tools; allowing them would answer them with nothing. */
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
