/**
 * Gemini CLI, run once for each turn, going on with its own conversation where there is one.
 *
 *   what it prints → `<attempt>.jsonl`, read while it is written      what its own record says → gemini-record.ts
 *
 * The runner chooses the conversation’s id. There is no option for more system prompt, only one that replaces it all, so
 * instructions are the beginning of a conversation and stay in it.
 */

import { randomUUID } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';

import { type ProgramEnd, ProgramMissing, type Programs, type RunningProgram } from '../../ports/programs.ts';
import {
  type RunningTurn,
  type Runtime,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../ports/runtime.ts';
import { type GeminiReader, readGemini } from './gemini-events.ts';
import { outcomeOfFailure } from './gemini-failure.ts';
import { followRecord, isConversationKept } from './gemini-record.ts';
import { installCommand } from './installed.ts';
import { readJsonLines } from './json-lines.ts';
import { lastOutput } from './last-output.ts';
import { openTranscript, rawTranscript } from './transcript.ts';

export interface GeminiSettings {
  readonly permissions: 'ask' | 'accept_edits' | 'all' | { readonly allow: readonly string[] };
  readonly model?: string;
  readonly systemPrompt?: string;
  /** Where it is not `gemini` on the PATH. */
  readonly program?: readonly [string, ...string[]];
}

export function geminiRuntime(settings: GeminiSettings, programs: Programs): Runtime {
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'same_folder',
      permissions: 'decides',
      cost: 'tokens',
      commits: mayCommit(settings.permissions),
    },
    start: (turn) => startTurn(settings, programs, turn),
  };
}

async function startTurn(settings: GeminiSettings, programs: Programs, turn: Turn): Promise<RunningTurn> {
  const raw = rawTranscript(turn.log);
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const from = { raw: sizeOf(raw), log: sizeOf(turn.log) };
  const transcript = openTranscript(turn.log);
  const isKept = turn.conversation !== null && isConversationKept(turn, turn.conversation);
  const id = turn.conversation !== null && isKept ? turn.conversation : randomUUID();
  const command = commandOf(settings, turn, { id, isKept });
  if (turn.conversation !== null && !isKept)
    transcript.note('Its earlier conversation is gone; it begins anew.');
  const reader = readGemini({ turn, transcript });
  // Before it starts: what is in the record by then is of earlier turns.
  const record = followRecord(turn, id, (line) => reader.takeRecord(line));
  const running = await startProgram(programs, turn, command, raw).catch((error: unknown) => {
    record.stop();
    throw error;
  });
  const lines = readJsonLines(
    raw,
    from.raw,
    (value) => {
      reader.take(value);
      record.look();
    },
    (line) => transcript.note(line),
  );
  let isStopped = false;
  const ended = running.ended.then((end): RuntimeOutcome => {
    lines.stop();
    record.stop();
    reader.end();
    if (isStopped) return { outcome: 'cancelled' };
    return outcomeOf(end, reader, () => lastOutput(turn.log, from.log));
  });
  return {
    process: running.process,
    ended,
    stop: async (options) => {
      isStopped = true;
      await running.stop(options);
    },
  };
}

/** The prompt is a file and not a pipe: whoever would write into the pipe may be killed halfway. */
async function startProgram(
  programs: Programs,
  turn: Turn,
  { argv, prompt }: GeminiCommand,
  log: string,
): Promise<RunningProgram> {
  const { folder, attempt } = turn;
  // A new worktree is not among the folders that the user trusts, and one that is not trusted ends it.
  const environment = { ...turn.environment, GEMINI_CLI_TRUST_WORKSPACE: 'true' };
  const input = `${turn.log}.input`;
  writeFileSync(input, prompt, { mode: 0o600 });
  try {
    // Without a terminal, whatever the agent's settings say: what it prints is for programs.
    return await programs.start({ argv, folder, environment, attempt, input, log, terminal: null });
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    throw new RuntimeUnavailable(
      `Gemini CLI is not there to be started. Install it with: ${installCommand('gemini')}`,
      { cause: error },
    );
  } finally {
    // Who reads it has it open by now, and nobody else should read it.
    rmSync(input, { force: true });
  }
}

interface GeminiCommand {
  readonly argv: readonly [string, ...string[]];
  readonly prompt: string;
}

export function commandOf(
  settings: GeminiSettings,
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
  const about = mayCommit(settings.permissions) ? '' : CANNOT_COMMIT;
  const instructions = isKept ? [] : [settings.systemPrompt, turn.systemPrompt, about];
  const prompt = [...instructions, turn.prompt].filter(Boolean).join('\n\n');
  return {
    argv: [program, ...first, ...options],
    // What begins with a slash is a command to the program itself.
    prompt: prompt.startsWith('/') ? `\n${prompt}` : prompt,
  };
}

/** What needs somebody's consent is not even offered to the model when nobody can be asked. */
function approvalOf(permissions: GeminiSettings['permissions']): readonly string[] {
  if (permissions === 'all') return ['--approval-mode=yolo'];
  if (permissions === 'accept_edits') return ['--approval-mode=auto_edit'];
  if (permissions === 'ask')
    throw new RuntimeUnavailable(
      'Gemini CLI cannot ask anybody when it works on its own. Set the agent’s `permissions` to accept_edits, all or a list of tools, or let it ask through `runtime: acp` with `command: gemini`.',
    );
  return ['--approval-mode=default', ...permissions.allow.map((tool) => `--allowed-tools=${tool}`)];
}

function mayCommit(permissions: GeminiSettings['permissions']): boolean {
  if (typeof permissions === 'string') return permissions === 'all';
  return permissions.allow.some((tool) => /^(?:run_shell_command|ShellTool)(?:\(git\))?$/.test(tool));
}

const CANNOT_COMMIT =
  'You cannot run commands, so you cannot commit. Leave your changes in the files; they are committed for you when you end your turn.';

/** Of a program that has no way to log in. */
const NOT_LOGGED_IN = 41;

function outcomeOf(end: ProgramEnd, reader: GeminiReader, tail: () => string): RuntimeOutcome {
  const exitCode = end.how === 'exited' ? end.code : null;
  const failure = reader.failure();
  if (failure !== null) return outcomeOfFailure(failure, exitCode, Date.now());
  if (exitCode === 0 && reader.isComplete())
    return { outcome: 'completed', exitCode, lastWords: reader.lastWords() };
  const how =
    end.how === 'signalled'
      ? `Gemini was ended by ${end.signal}`
      : end.how === 'vanished'
        ? 'Gemini vanished'
        : end.code === 0
          ? 'Gemini ended without ending its turn'
          : `Gemini ended with exit code ${end.code}`;
  const printed = tail();
  const reason = printed === '' ? how : `${how}\n${printed}`;
  if (exitCode === NOT_LOGGED_IN) return { outcome: 'api_error', status: 401, isRetryable: false, reason };
  return { outcome: 'crashed', exitCode, reason };
}
