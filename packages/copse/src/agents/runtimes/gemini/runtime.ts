/**
 * Gemini CLI, run once for each turn; later turns resume its conversation.
 *
 *   its output → `<attempt>.jsonl`, read while it is written (events.ts)      its own record of the conversation → record.ts
 *
 * The runner chooses the conversation's id. The program can only replace its system prompt, not extend it, so instructions
 * begin the conversation, which keeps them.
 */

import { randomUUID } from 'node:crypto';

import type { ProgramEnd, Programs } from '../../../processes/ports/programs.ts';
import type { Permissions, RunningTurn, Runtime, RuntimeOutcome, Turn } from '../../ports/runtime.ts';
import { type GeminiReader, readGemini } from './events.ts';
import { outcomeOfFailure } from './failure.ts';
import { findRecord, isConversationKept } from './record.ts';
import {
  type HeadlessSettings,
  endReason,
  outcomeOfEnd,
  startHeadlessTurn,
  cannotAsk,
  notInstalled,
  promptOf,
} from '../headless-turn.ts';
import { followRecord } from '../json-lines.ts';
import { openTranscript } from '../transcript.ts';

export function geminiRuntime(settings: HeadlessSettings, programs: Programs): Runtime {
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'same_folder',
      permissions: 'decides',
      cost: 'tokens',
      commits: mayCommit(settings.permissions),
    },
    start: async (turn) => startTurn(settings, programs, turn),
  };
}

function startTurn(settings: HeadlessSettings, programs: Programs, turn: Turn): Promise<RunningTurn> {
  const transcript = openTranscript(turn.log);
  const isKept = turn.conversation !== null && isConversationKept(turn, turn.conversation);
  const id = turn.conversation !== null && isKept ? turn.conversation : randomUUID();
  const command = commandOf(settings, turn, { id, isKept });
  if (turn.conversation !== null && !isKept)
    transcript.note('Its earlier conversation is gone: it begins a new one.');
  const reader = readGemini({ turn, transcript });
  // Before the start: the record so far is of earlier turns.
  const record = followRecord(
    () => findRecord(turn, id),
    (line) => reader.takeRecord(line),
  );
  return startHeadlessTurn(programs, turn, transcript, {
    ...command,
    // The user has not trusted a new worktree, and Gemini exits in an untrusted folder.
    environment: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    missing: notInstalled('Gemini CLI', 'gemini'),
    take: (value) => {
      reader.take(value);
      record.look();
    },
    end: () => {
      record.stop();
      reader.end();
    },
    outcome: (end, tail) => outcomeOf(end, reader, tail),
  });
}

interface GeminiCommand {
  readonly argv: readonly [string, ...string[]];
  readonly prompt: string;
}

export function commandOf(
  settings: HeadlessSettings,
  turn: Pick<Turn, 'prompt' | 'systemPrompt'>,
  { id, isKept }: { readonly id: string; readonly isKept: boolean },
): GeminiCommand {
  const [program, ...first] = settings.program ?? ['gemini'];
  const options = [
    '--output-format=stream-json',
    ...approvalOf(settings.permissions),
    isKept ? `--resume=${id}` : `--session-id=${id}`,
    ...(settings.model === undefined ? [] : [`--model=${settings.model}`]),
  ];
  const prompt = promptOf(settings, turn, { isNew: !isKept, mayCommit: mayCommit(settings.permissions) });
  return {
    argv: [program, ...first, ...options],
    // The program would take a leading slash for a command of its own.
    prompt: prompt.startsWith('/') ? `\n${prompt}` : prompt,
  };
}

/** Without a person to ask, Gemini does not offer its model the tools that need consent. */
function approvalOf(permissions: Permissions): readonly string[] {
  if (permissions === 'all') return ['--approval-mode=yolo'];
  if (permissions === 'accept_edits') return ['--approval-mode=auto_edit'];
  if (permissions === 'ask') throw cannotAsk('Gemini CLI', 'gemini');
  return ['--approval-mode=default', ...permissions.allow.map((tool) => `--allowed-tools=${tool}`)];
}

function mayCommit(permissions: Permissions): boolean {
  if (typeof permissions === 'string') return permissions === 'all';
  return permissions.allow.some((tool) => /^(?:run_shell_command|ShellTool)(?:\(git\))?$/.test(tool));
}

/** Gemini's exit code without a login. */
const NOT_LOGGED_IN = 41;

function outcomeOf(end: ProgramEnd, reader: GeminiReader, tail: () => string): RuntimeOutcome {
  const exitCode = end.kind === 'exited' ? end.code : null;
  const failure = reader.failure();
  if (failure !== null) return outcomeOfFailure(failure, exitCode, Date.now());
  if (exitCode !== NOT_LOGGED_IN) return outcomeOfEnd('Gemini', end, reader, tail);
  return { kind: 'api_error', status: 401, isRetryable: false, reason: endReason('Gemini', end, tail) };
}
