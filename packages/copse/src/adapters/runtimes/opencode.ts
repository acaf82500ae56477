/**
 * opencode, run once for each turn (`opencode run`), going on with its own conversation where there is one. What it prints
 * goes to `<attempt>.jsonl` and is read while it is written.
 *
 * A conversation belongs to the folder that it began in: started elsewhere, opencode would go on working in the old one.
 * There is no option for more system prompt, so instructions are the beginning of a conversation and stay in it.
 */

import { rmSync, statSync, writeFileSync } from 'node:fs';

import { type ProgramEnd, ProgramMissing, type Programs, type RunningProgram } from '../../ports/programs.ts';
import {
  type RunningTurn,
  type Runtime,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../ports/runtime.ts';
import { installCommand } from './installed.ts';
import { readJsonLines } from './json-lines.ts';
import { lastOutput } from './last-output.ts';
import { type OpencodeReader, readOpencode } from './opencode-events.ts';
import { outcomeOfFailure } from './opencode-failure.ts';
import { openTranscript, rawTranscript } from './transcript.ts';

export interface OpencodeSettings {
  readonly permissions: 'ask' | 'accept_edits' | 'all' | { readonly allow: readonly string[] };
  readonly model?: string;
  readonly systemPrompt?: string;
  /** Where it is not `opencode` on the PATH. */
  readonly program?: readonly [string, ...string[]];
}

export function opencodeRuntime(settings: OpencodeSettings, programs: Programs): Runtime {
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'same_folder',
      permissions: 'decides',
      // Dollars too, but only for models whose price it knows.
      cost: 'tokens',
      commits: mayCommit(settings.permissions),
    },
    start: (turn) => startTurn(settings, programs, turn),
  };
}

async function startTurn(settings: OpencodeSettings, programs: Programs, turn: Turn): Promise<RunningTurn> {
  const raw = rawTranscript(turn.log);
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const from = { raw: sizeOf(raw), log: sizeOf(turn.log) };
  const transcript = openTranscript(turn.log);
  const reader = readOpencode({ turn, transcript });
  const running = await startProgram(programs, turn, commandOf(settings, turn), raw);
  const lines = readJsonLines(
    raw,
    from.raw,
    (value) => reader.take(value),
    (line) => transcript.note(line),
  );
  let isStopped = false;
  const ended = running.ended.then((end): RuntimeOutcome => {
    lines.stop();
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
  { argv, prompt, environment: own }: OpencodeCommand,
  log: string,
): Promise<RunningProgram> {
  const { folder, attempt } = turn;
  // It believes PWD more than where it is.
  const environment = { ...turn.environment, ...own, PWD: folder };
  const input = `${turn.log}.input`;
  writeFileSync(input, prompt, { mode: 0o600 });
  try {
    // Without a terminal, whatever the agent's settings say: what it prints is for programs.
    return await programs.start({ argv, folder, environment, attempt, input, log, terminal: null });
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    throw new RuntimeUnavailable(
      `opencode is not there to be started. Install it with: ${installCommand('opencode')}`,
      { cause: error },
    );
  } finally {
    // Who reads it has it open by now, and nobody else should read it.
    rmSync(input, { force: true });
  }
}

interface OpencodeCommand {
  readonly argv: readonly [string, ...string[]];
  readonly prompt: string;
  readonly environment: Readonly<Record<string, string>>;
}

export function commandOf(
  settings: OpencodeSettings,
  turn: Pick<Turn, 'prompt' | 'systemPrompt' | 'conversation'>,
): OpencodeCommand {
  const [program, ...first] = settings.program ?? ['opencode'];
  const { options, environment } = rulesOf(settings.permissions);
  const about = mayCommit(settings.permissions) ? '' : CANNOT_COMMIT;
  const instructions = turn.conversation === null ? [settings.systemPrompt, turn.systemPrompt, about] : [];
  return {
    argv: [
      program,
      ...first,
      'run',
      '--format=json',
      ...options,
      ...(settings.model === undefined ? [] : [`--model=${settings.model}`]),
      ...(turn.conversation === null ? [] : [`--session=${turn.conversation}`]),
    ],
    prompt: [...instructions, turn.prompt].filter(Boolean).join('\n\n'),
    environment,
  };
}

interface Rules {
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Of its own rules the last that fits counts, and these come after the user's. */
function rulesOf(permissions: OpencodeSettings['permissions']): Rules {
  if (permissions === 'all') return { options: ['--auto'], environment: {} };
  if (permissions === 'ask')
    throw new RuntimeUnavailable(
      'opencode cannot ask anybody when it works on its own. Set the agent’s `permissions` to accept_edits, all or a list of tools, or let it ask through `runtime: acp` with `command: opencode`.',
    );
  const allowed = permissions === 'accept_edits' ? [...READING, 'edit'] : permissions.allow;
  const rules: Readonly<Record<string, string>> = Object.fromEntries([
    ['*', 'deny'],
    ...allowed.map((tool) => [tool, 'allow'] as const),
  ]);
  return { options: [], environment: { OPENCODE_PERMISSION: JSON.stringify(rules) } };
}

const READING: readonly string[] = ['read', 'glob', 'grep', 'list', 'todowrite', 'todoread'];

function mayCommit(permissions: OpencodeSettings['permissions']): boolean {
  if (typeof permissions === 'string') return permissions === 'all';
  return permissions.allow.includes('bash') || permissions.allow.includes('*');
}

const CANNOT_COMMIT =
  'You cannot run commands, so you cannot commit. Leave your changes in the files; they are committed for you when you end your turn.';

function outcomeOf(end: ProgramEnd, reader: OpencodeReader, tail: () => string): RuntimeOutcome {
  const exitCode = end.how === 'exited' ? end.code : null;
  const failure = reader.failure();
  if (failure !== null) return outcomeOfFailure(failure, Date.now());
  if (exitCode === 0 && reader.isComplete())
    return { outcome: 'completed', exitCode, lastWords: reader.lastWords() };
  const how =
    end.how === 'signalled'
      ? `opencode was ended by ${end.signal}`
      : end.how === 'vanished'
        ? 'opencode vanished'
        : end.code === 0
          ? 'opencode ended without ending its turn'
          : `opencode ended with exit code ${end.code}`;
  const printed = tail();
  return { outcome: 'crashed', exitCode, reason: printed === '' ? how : `${how}\n${printed}` };
}
