/**
 * Gemini CLI, run once for each turn, going on with its own conversation where there is one.
 *
 *   what it prints → `<attempt>.jsonl`, read while it is written      what its own record says → gemini-record.ts
 *
 * The runner chooses the conversation’s id. There is no option for more system prompt, only one that replaces it all, so
 * instructions are the beginning of a conversation and stay in it.
 */

import { randomUUID } from 'node:crypto';

import type { ProgramEnd, Programs } from '../../../processes/ports/programs.ts';
import type { RunningTurn, Runtime, RuntimeOutcome, Turn } from '../../ports/runtime.ts';
import { type GeminiReader, readGemini } from './events.ts';
import { outcomeOfFailure } from './failure.ts';
import { followRecord, isConversationKept } from './record.ts';
import { type HeadlessSettings, endReason, startHeadlessTurn } from '../headless-turn.ts';
import { cannotAsk, notThere, promptOf } from '../headless-words.ts';
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
    transcript.note('Its earlier conversation is gone; it begins anew.');
  const reader = readGemini({ turn, transcript });
  // Before it starts: what is in the record by then is of earlier turns.
  const record = followRecord(turn, id, (line) => reader.takeRecord(line));
  return startHeadlessTurn(programs, turn, transcript, {
    ...command,
    // A new worktree is not among the folders that the user trusts, and one that is not trusted ends it.
    environment: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    missing: notThere('Gemini CLI', 'gemini'),
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
    // What begins with a slash is a command to the program itself.
    prompt: prompt.startsWith('/') ? `\n${prompt}` : prompt,
  };
}

/** What needs somebody's consent is not even offered to the model when nobody can be asked. */
function approvalOf(permissions: HeadlessSettings['permissions']): readonly string[] {
  if (permissions === 'all') return ['--approval-mode=yolo'];
  if (permissions === 'accept_edits') return ['--approval-mode=auto_edit'];
  if (permissions === 'ask') throw cannotAsk('Gemini CLI', 'gemini');
  return ['--approval-mode=default', ...permissions.allow.map((tool) => `--allowed-tools=${tool}`)];
}

function mayCommit(permissions: HeadlessSettings['permissions']): boolean {
  if (typeof permissions === 'string') return permissions === 'all';
  return permissions.allow.some((tool) => /^(?:run_shell_command|ShellTool)(?:\(git\))?$/.test(tool));
}

/** Of a program that has no way to log in. */
const NOT_LOGGED_IN = 41;

function outcomeOf(end: ProgramEnd, reader: GeminiReader, tail: () => string): RuntimeOutcome {
  const exitCode = end.kind === 'exited' ? end.code : null;
  const failure = reader.failure();
  if (failure !== null) return outcomeOfFailure(failure, exitCode, Date.now());
  if (exitCode === 0 && reader.isComplete())
    return { outcome: 'completed', exitCode, lastWords: reader.lastWords() };
  const reason = endReason('Gemini', end, tail);
  if (exitCode === NOT_LOGGED_IN) return { outcome: 'api_error', status: 401, isRetryable: false, reason };
  return { outcome: 'crashed', exitCode, reason };
}
