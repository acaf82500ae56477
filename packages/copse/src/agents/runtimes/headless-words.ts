/** What is said to an agent that has no option for more system prompt, and to the person who set up what it cannot do. */

import { RuntimeUnavailable, type Turn } from '../ports/runtime.ts';
import type { HeadlessSettings } from './headless-turn.ts';
import { type VendorRuntime, installCommand } from './installed.ts';

/** Instructions are the beginning of a conversation and stay in it. */
export function promptOf(
  settings: Pick<HeadlessSettings, 'systemPrompt'>,
  turn: Pick<Turn, 'prompt' | 'systemPrompt'>,
  { isNew, mayCommit }: { readonly isNew: boolean; readonly mayCommit: boolean },
): string {
  const about = mayCommit ? '' : CANNOT_COMMIT;
  const instructions = isNew ? [settings.systemPrompt, turn.systemPrompt, about] : [];
  return [...instructions, turn.prompt].filter(Boolean).join('\n\n');
}

const CANNOT_COMMIT =
  'You cannot run commands, so you cannot commit. Leave your changes in the files; they are committed for you when you end your turn.';

export function cannotAsk(name: string, command: string): RuntimeUnavailable {
  return new RuntimeUnavailable(
    `${name} cannot ask anybody when it works on its own. Set the agent’s \`permissions\` to accept_edits, all or a list of tools, or let it ask through \`runtime: acp\` with \`command: ${command}\`.`,
  );
}

export function notThere(name: string, runtime: VendorRuntime): string {
  return `${name} is not there to be started. Install it with: ${installCommand(runtime)}`;
}
