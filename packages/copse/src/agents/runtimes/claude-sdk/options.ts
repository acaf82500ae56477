/** The SDK's options for an agent's settings and one turn. */

import type { Permissions, StopAnswer, Turn } from '../../ports/runtime.ts';
import type { PermissionAnswer } from '../../rules/session/session.ts';
import { isConversationKept } from '../claude/record.ts';
import { fields, list, text } from '../fields.ts';
import { type Windows, describeInput } from '../claude/messages.ts';
import { claudePermissions, reportingServers } from '../claude/permissions.ts';
import type { SpawnRequest, SpawnedProcess } from './process.ts';

export interface ClaudeSdkSettings {
  readonly permissions: Permissions;
  readonly model?: string;
  readonly systemPrompt?: string;
  /** The budget of the whole conversation. */
  readonly dollars?: number;
  /** The main checkout, for the project's settings: an agent could change those in its worktree. */
  readonly projectFolder?: string;
  /** Context sizes of models, learned from earlier conversations. */
  readonly windows?: Windows;
  /** Folders that are searched for the package first. */
  readonly packageFrom?: readonly string[];
  /** Whether a file is outside of the repository; the package is loaded from nowhere else. */
  readonly mayTake?: (file: string) => boolean;
  /** Started instead of the package's own program. */
  readonly program?: string;
}

export interface SdkOptions {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly abortController: AbortController;
  readonly canUseTool: (
    tool: string,
    input: unknown,
    asked: { readonly signal: AbortSignal },
  ) => Promise<unknown>;
  readonly spawnClaudeCodeProcess: (request: SpawnRequest) => SpawnedProcess;
  readonly [more: string]: unknown;
}

export interface TurnParts {
  readonly conversation: string;
  readonly abort: AbortController;
  readonly spawn: (request: SpawnRequest) => SpawnedProcess;
  /** The agent asks a person a question. */
  readonly onQuestion: (question: string) => void;
}

export function optionsFor(settings: ClaudeSdkSettings, turn: Turn, parts: TurnParts): SdkOptions {
  const { conversation, abort, spawn } = parts;
  const { mode, allowed, isAllAllowed } = claudePermissions(settings.permissions);
  const isKept = isConversationKept(turn.environment, conversation);
  const append = [settings.systemPrompt, turn.systemPrompt].filter(Boolean).join('\n\n');
  return {
    cwd: turn.folder,
    env: { ...turn.environment, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: MANY },
    ...(isKept ? { resume: conversation } : { sessionId: conversation }),
    systemPrompt: { type: 'preset', preset: 'claude_code', append },
    // Not the user's settings, whose hooks are for the user's own conversations.
    settingSources: ['project'],
    ...(settings.projectFolder && { projectConfigRoot: settings.projectFolder }),
    ...(settings.model && { model: settings.model }),
    mcpServers: reportingServers(turn),
    ...(settings.program && { pathToClaudeCodeExecutable: settings.program }),
    ...(settings.dollars !== undefined && { maxBudgetUsd: dollarsLeft(settings.dollars, turn) }),
    permissionMode: mode,
    allowedTools: allowed,
    disallowedTools: NOT_HERE,
    canUseTool: (tool, input, { signal }) =>
      tool === QUESTION
        ? askPerson(input, parts)
        : permit(isAllAllowed ? YES : mayUse(turn, tool, input, signal), input),
    hooks: { Stop: [{ hooks: [() => stopHook(turn)], timeout: LONG_SECONDS }] },
    abortController: abort,
    spawnClaudeCodeProcess: spawn,
  };
}

/** The program counts the cost of this turn only. */
function dollarsLeft(dollars: number, { used }: Turn): number {
  return Math.max(LEAST_DOLLARS, dollars - (used.dollars ?? 0));
}

const LEAST_DOLLARS = 0.000_001;

/** The program stops after this many blocks in a row; the gate has its own limit. */
const MANY = '1000000';

/** Very long: the gate runs accept commands, and a person may answer the next day. */
const LONG_SECONDS = 7 * 24 * 60 * 60;

/** An agent works in this worktree and this turn: no other worktrees, no plan approval, no scheduled wake-ups. */
const NOT_HERE = [
  'EnterWorktree',
  'ExitWorktree',
  'EnterPlanMode',
  'ExitPlanMode',
  'CronCreate',
  'CronDelete',
  'CronList',
  'ScheduleWakeup',
];

/** Never throws. When the gate cannot be asked, the agent may stop, as after a hook that throws. */
async function stopHook(turn: Turn): Promise<unknown> {
  let answer: StopAnswer;
  try {
    answer = await turn.beforeStop();
  } catch {
    return {};
  }
  return answer.kind === 'allowed' ? {} : { decision: 'block', reason: answer.reason };
}

const YES = Promise.resolve<PermissionAnswer>({ isAllowed: true, message: null });

/** Refuses a question that is withdrawn because the turn is interrupted. */
async function mayUse(
  turn: Turn,
  tool: string,
  input: unknown,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  const takenBack = new Promise<PermissionAnswer>((resolve) => {
    signal.addEventListener('abort', () => resolve({ isAllowed: false, message: null }), { once: true });
  });
  return Promise.race([turn.mayUse({ tool, what: describeInput(input) }), takenBack]);
}

async function permit(answer: Promise<PermissionAnswer>, input: unknown): Promise<unknown> {
  const { isAllowed, message } = await answer.catch(() => ({ isAllowed: false, message: null }));
  if (isAllowed) return { behavior: 'allow', updatedInput: input };
  return {
    behavior: 'deny',
    message: message ?? 'This is not allowed. Find another way, or report that you are stuck.',
  };
}

const QUESTION = 'AskUserQuestion';

/** Ends the turn with the question as its outcome: a person answers later. */
async function askPerson(input: unknown, { onQuestion }: TurnParts): Promise<unknown> {
  const questions = list(input, 'questions').flatMap((one) => {
    const choices = list(one, 'options').flatMap((option) => text(option, 'label') ?? []);
    const question = text(one, 'question');
    return question === undefined ? [] : [[question, ...choices.map((choice) => `- ${choice}`)].join('\n')];
  });
  onQuestion(questions.join('\n\n') || describeInput(fields({ input }, 'input')));
  return { behavior: 'deny', message: 'A person will answer later.', interrupt: true };
}
