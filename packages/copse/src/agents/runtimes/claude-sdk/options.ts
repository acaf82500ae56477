/** What the SDK is asked for: an agent's settings and one turn, in its words. */

import type { PermissionAnswer, StopAnswer, Turn } from '../../ports/runtime.ts';
import { isConversationKept } from '../claude/conversation.ts';
import { fields, list, text } from '../fields.ts';
import { type Windows, describeInput } from '../claude/messages.ts';
import { type Permissions, claudePermissions } from '../claude/permissions.ts';
import type { SpawnRequest, SpawnedProcess } from './process.ts';
import { reportingServers } from '../claude/tools.ts';

export interface ClaudeSdkSettings {
  readonly permissions: Permissions;
  readonly model?: string;
  readonly systemPrompt?: string;
  /** What the whole conversation may cost. */
  readonly dollars?: number;
  /** The main checkout. The project's settings come from it: those in a worktree may be an agent's. */
  readonly projectFolder?: string;
  /** How much each model holds, as earlier conversations learned it. */
  readonly windows?: Windows;
  /** Folders from which the package is looked for first. */
  readonly packageFrom?: readonly string[];
  /** The program to start in place of the one that the package carries. */
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
  /** The agent wants to know something of a person. */
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
    // Without the user's own, whose hooks are meant for conversations with that user.
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

/** The program counts what this turn costs, and not what was before. */
function dollarsLeft(dollars: number, { used }: Turn): number {
  return Math.max(LEAST_DOLLARS, dollars - (used.dollars ?? 0));
}

const LEAST_DOLLARS = 0.000_001;

/** After so many refusals in a row the program would stop all the same; how often is for the finish gate to say. */
const MANY = '1000000';

/** The gate runs the project's own commands, and a person may sleep before answering. */
const LONG_SECONDS = 7 * 24 * 60 * 60;

/** Work happens in this worktree and in this turn: no other worktrees, no plans to be approved, no appointments. */
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

/** Never throws: a hook that does lets the agent stop, and so does this when the gate cannot be asked. */
async function stopHook(turn: Turn): Promise<unknown> {
  let answer: StopAnswer;
  try {
    answer = await turn.beforeStop();
  } catch {
    return {};
  }
  return answer.may ? {} : { decision: 'block', reason: answer.because };
}

const YES = Promise.resolve<PermissionAnswer>({ isAllowed: true, message: null });

/** A question that is taken back, because the turn is interrupted, is answered with no. */
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
    message: message ?? 'This is not allowed here. Find another way, or say that you are stuck.',
  };
}

const QUESTION = 'AskUserQuestion';

/** Nobody is there to answer now: the turn ends, and the question is what it ends with. */
async function askPerson(input: unknown, { onQuestion }: TurnParts): Promise<unknown> {
  const questions = list(input, 'questions').flatMap((one) => {
    const choices = list(one, 'options').flatMap((option) => text(option, 'label') ?? []);
    const question = text(one, 'question');
    return question === undefined ? [] : [[question, ...choices.map((choice) => `- ${choice}`)].join('\n')];
  });
  onQuestion(questions.join('\n\n') || describeInput(fields({ input }, 'input')));
  return { behavior: 'deny', message: 'A person will answer later.', interrupt: true };
}
