/** An agent's policy, in the words of the protocol: which of its modes it works in, and what it may do when it asks. */

import path from 'node:path';

import { isWithin } from '../../../kernel/system/within.ts';
import { fields, list, text } from '../fields.ts';
import type { ToolCall } from './updates.ts';

export type Permissions = 'ask' | 'accept_edits' | 'all' | { readonly allow: readonly string[] };

/** As Claude, Codex and Gemini name them, the best first. */
const MODES = {
  ask: ['default', 'read-only'],
  accept_edits: ['acceptEdits', 'workspace-write', 'autoEdit', 'auto_edit', 'default'],
  // Claude does not offer the first to root: then it asks, and is allowed.
  all: ['bypassPermissions', 'agent-full-access', 'yolo', 'default'],
} as const;

/** The mode to set; null when it is set, or when the agent offers none that is known. */
export function modeFor(permissions: Permissions, session: unknown): string | null {
  const modes = fields(session, 'modes');
  const offered = new Set(list(modes, 'availableModes').map((mode) => text(mode, 'id')));
  const wanted = MODES[typeof permissions === 'string' ? permissions : 'ask'];
  const mode = wanted.find((id) => offered.has(id)) ?? null;
  return mode === text(modes, 'currentModeId') ? null : mode;
}

/** Whether it may without anybody being asked. */
export function isAllowed(permissions: Permissions, call: ToolCall, folder: string): boolean {
  if (permissions === 'all') return true;
  if (permissions === 'ask') return false;
  if (permissions === 'accept_edits')
    return (
      call.kind === 'edit' && call.paths.length > 0 && call.paths.every((file) => isInside(folder, file))
    );
  return [call.name, call.kind].some((name) => name !== undefined && permissions.allow.includes(name));
}

/** By name; a link that leads out is followed by the agent itself, which no answer of ours can prevent. */
export function isInside(folder: string, file: string): boolean {
  const place = path.resolve(folder, file);
  return place !== path.resolve(folder) && isWithin(folder, place);
}

type Outcome =
  | { readonly outcome: 'cancelled' }
  | { readonly outcome: 'selected'; readonly optionId: string };

/** Once and never for good: what a person allowed is not allowed for the next time. */
export function answerFor(mayUse: boolean, request: unknown): { readonly outcome: Outcome } {
  const wanted = mayUse ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const options = list(request, 'options');
  for (const kind of wanted) {
    const optionId = text(
      options.find((option) => text(option, 'kind') === kind),
      'optionId',
    );
    if (optionId !== undefined) return { outcome: { outcome: 'selected', optionId } };
  }
  return { outcome: { outcome: 'cancelled' } };
}
