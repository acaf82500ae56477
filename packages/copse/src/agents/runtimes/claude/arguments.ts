/** The command line of Claude Code for one turn, with the hooks that ask its runner. */

import type { Program, RunningProgram } from '../../../processes/ports/programs.ts';
import type { Asks, Permissions, Turn } from '../../ports/runtime.ts';
import type { Windows } from './messages.ts';
import { claudePermissions, REPORTING_TOOLS, reportingServers } from './permissions.ts';

export interface ClaudeSettings {
  /** The program and its first arguments; without it, the `claude` on the agent's PATH. */
  readonly command?: readonly [string, ...string[]];
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly permissions: Permissions;
  /** The budget of the whole session. */
  readonly dollars?: number;
  /** Context sizes of models, learned from earlier conversations. */
  readonly windows?: Windows;
}

export interface Conversation {
  readonly id: string;
  /** Whether the program has it already. */
  readonly isKnown: boolean;
}

/** What a turn needs, with a terminal and without. */
export interface ClaudeParts {
  readonly settings: ClaudeSettings & Required<Pick<ClaudeSettings, 'command'>>;
  readonly asks: Asks;
  readonly start: (program: Program) => Promise<RunningProgram>;
  readonly conversation: Conversation;
  readonly windows: Windows;
}

/** Very long: accept commands run for minutes, and a person may answer the next day. */
const WAIT_S = 7 * 24 * 60 * 60;

/** Without the prompt. A list is one argument with `=`, because the program would take all following words for its items. */
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

/** With `permissions: all` the hook would allow these too; listing them saves a process for each question. */
const UNASKED = ['Bash', 'WebFetch', 'WebSearch', REPORTING_TOOLS];

export function environmentOf(turn: Turn): Readonly<Record<string, string>> {
  return {
    ...turn.environment,
    COPSE_ASK_FOLDER: turn.folder,
    // The runner counts handbacks; without this the program stops at the ninth block in a row.
    CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '0',
  };
}

/** Passed as an argument and not as a file: nothing to clean up, nothing to commit. They add to the user's own hooks. */
function hooks(): object {
  return { Stop: hook('stop', WAIT_S), PermissionRequest: hook('permission', WAIT_S) };
}

/**
 * In a terminal the program prints no events: hooks tell that it waits or that the model failed, and its status line tells the
 * cost. The status line runs at every change, so it must be cheap.
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
  // The program would take a failed hook for an answer.
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

/** Keeps the program from taking the prompt's first character for a command of its own. */
export function plainPrompt(prompt: string): string {
  return /^\s*[/!#]/.test(prompt) ? `Your instructions:\n\n${prompt}` : prompt;
}
