/** An agent's permissions in terms of the protocol: its mode, and the answers to its questions. */

import path from 'node:path';

import { isWithin } from '../../../kernel/system/within.ts';
import type { Permissions } from '../../ports/runtime.ts';
import { fields, list, text } from '../fields.ts';
import type { ToolCall } from './updates.ts';

/** The names of Claude, Codex and Gemini, best first. */
const MODES = {
  ask: ['default', 'read-only'],
  accept_edits: ['acceptEdits', 'workspace-write', 'autoEdit', 'auto_edit', 'default'],
  // Claude does not offer the first to root; then it asks, and Copse allows.
  all: ['bypassPermissions', 'agent-full-access', 'yolo', 'default'],
} as const;

/** The mode to set; null when it is set already, or when the agent offers no known mode. */
export function modeFor(permissions: Permissions, session: unknown): string | null {
  const modes = fields(session, 'modes');
  const offered = new Set(list(modes, 'availableModes').map((mode) => text(mode, 'id')));
  const wanted = MODES[typeof permissions === 'string' ? permissions : 'ask'];
  const mode = wanted.find((id) => offered.has(id)) ?? null;
  return mode === text(modes, 'currentModeId') ? null : mode;
}

/** Whether it is allowed without asking a person. */
export function isAllowed(permissions: Permissions, call: ToolCall, folder: string): boolean {
  if (permissions === 'all') return true;
  if (permissions === 'ask') return false;
  if (permissions === 'accept_edits')
    return (
      call.kind === 'edit' && call.paths.length > 0 && call.paths.every((file) => isInside(folder, file))
    );
  return [call.name, call.kind].some((name) => name !== undefined && permissions.allow.includes(name));
}

/** Compares paths only: Copse's answer cannot keep the agent from following a link that leads outside. */
export function isInside(folder: string, file: string): boolean {
  const place = path.resolve(folder, file);
  return place !== path.resolve(folder) && isWithin(folder, place);
}

type PermissionOutcome =
  | { readonly outcome: 'cancelled' }
  | { readonly outcome: 'selected'; readonly optionId: string };

/** Prefers `once`: a person's permission does not count for the next time. */
export function answerFor(mayUse: boolean, request: unknown): { readonly outcome: PermissionOutcome } {
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
