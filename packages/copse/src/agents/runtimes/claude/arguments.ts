/** The command line of Claude Code for one turn, with the hooks by which it asks its runner. */

import type { Turn } from '../../ports/runtime.ts';
import type { Windows } from './messages.ts';
import { type Permissions, claudePermissions } from './permissions.ts';
import { REPORTING_TOOLS, reportingServers } from './tools.ts';

export interface ClaudeSettings {
  /** The program and its first arguments; without it, the `claude` on the agent's PATH. */
  readonly command?: readonly [string, ...string[]];
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly permissions: Permissions;
  /** What the whole session may cost. */
  readonly dollars?: number;
  /** How much each model holds, as earlier conversations learned it. */
  readonly windows?: Windows;
}

export interface Conversation {
  readonly id: string;
  /** Whether the program knows it already. */
  readonly isKnown: boolean;
}

/** For as long as it takes: accept commands run for minutes, and a person may sleep before answering. */
const WAIT_S = 7 * 24 * 60 * 60;

/** Without the prompt, which is read or follows. Lists are one word each: the program takes all that follow for one. */
export function argumentsOf(
  settings: ClaudeSettings,
  turn: Turn,
  conversation: Conversation,
): readonly string[] {
  const { model } = settings;
  const { mode, allowed, isAllAllowed } = claudePermissions(settings.permissions);
  const tools = isAllAllowed ? UNASKED : allowed;
  const system = systemPromptOf(settings, turn);
  return [
    ...(conversation.isKnown ? ['--resume', conversation.id] : ['--session-id', conversation.id]),
    '--permission-mode',
    mode === 'default' ? 'manual' : mode,
    ...(tools.length === 0 ? [] : [`--allowedTools=${tools.join(',')}`]),
    ...(model === undefined ? [] : ['--model', model]),
    ...(system === '' ? [] : ['--append-system-prompt', system]),
    `--mcp-config=${JSON.stringify({ mcpServers: reportingServers(turn) })}`,
    '--settings',
    JSON.stringify(turn.terminal === null ? { hooks: hooks() } : terminalSettings()),
  ];
}

export function headlessArguments({ dollars }: ClaudeSettings): readonly string[] {
  return [
    '--print',
    '--verbose',
    '--output-format',
    'stream-json',
    ...(dollars === undefined ? [] : ['--max-budget-usd', String(dollars)]),
  ];
}

/** Where everything is allowed: the hook would say yes to these too, a process for each question later. */
const UNASKED = ['Bash', 'WebFetch', 'WebSearch', REPORTING_TOOLS];

/** What the program's environment needs besides the agent's. */
export function environmentOf(turn: Turn): Readonly<Record<string, string>> {
  return {
    ...turn.environment,
    COPSE_ASK_FOLDER: turn.folder,
    // The runner counts how often the gate was shut; the program would give up after the eighth time.
    CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '0',
  };
}

/**
 * As an argument and not in a file of the worktree or of the user: nothing has to be taken back, and nothing of it can be
 * committed. They come on top of the user's own.
 */
function hooks(): object {
  return { Stop: hook('stop', WAIT_S), PermissionRequest: hook('permission', WAIT_S) };
}

/**
 * What the program prints without a terminal, it tells here by other ways: that it waits, that the model failed, and what it
 * costs, which only its status line knows. The status line is run for every change, so it must be cheap.
 */
function terminalSettings(): object {
  const notice = hook('notice', 10);
  return {
    hooks: { ...hooks(), Notification: notice, StopFailure: notice },
    statusLine: {
      type: 'command',
      command: `cat > "$${STATUS_VARIABLE}.new" && mv -f "$${STATUS_VARIABLE}.new" "$${STATUS_VARIABLE}"`,
    },
  };
}

export const STATUS_VARIABLE = 'COPSE_STATUS_FILE';

function hook(kind: string, seconds: number): readonly object[] {
  // A hook that fails would be taken for an answer.
  const command = `copse hook ${kind} --timeout ${seconds} || true`;
  return [{ hooks: [{ type: 'command', command, timeout: seconds + 60 }] }];
}

/** The longest argument that Linux takes, with the NUL at its end. */
const LONGEST = 128 * 1024;

export function fitsArgument(text: string): boolean {
  return Buffer.byteLength(text) < LONGEST && !text.includes('\0');
}

function systemPromptOf({ systemPrompt }: ClaudeSettings, turn: Turn): string {
  const text = [systemPrompt, turn.systemPrompt].filter(Boolean).join('\n\n');
  if (fitsArgument(text)) return text;
  throw new Error('The system prompt does not fit into an argument: it has 128 KiB or more. Shorten it.');
}

/** A first character that the program takes for a command of its own loses that meaning. */
export function plainPrompt(prompt: string): string {
  return /^\s*[/!#]/.test(prompt) ? `Your instructions:\n\n${prompt}` : prompt;
}
