/**
 * Codex, run once for each turn (`codex exec`), going on with its own conversation where there is one.
 *
 *   what it prints → `<attempt>.jsonl`, read while it is written      what its own record says → codex-record.ts
 *
 * Codex prints neither how full a conversation is nor what kind of failure ended it; its record of the conversation has
 * both. Where the record is missing, only that is missing. The user's settings stay as they are: what has to differ is
 * said on the command line.
 */

import { rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type ProgramEnd, ProgramMissing, type Programs, type RunningProgram } from '../../ports/programs.ts';
import {
  type RunningTurn,
  type Runtime,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../ports/runtime.ts';
import { type CodexReader, readCodex } from './codex-events.ts';
import { outcomeOfFailure } from './codex-failure.ts';
import { followRecord } from './codex-record.ts';
import { readJsonLines } from './json-lines.ts';
import { lastOutput } from './last-output.ts';
import { openTranscript, rawTranscript } from './transcript.ts';

export interface CodexSettings {
  readonly permissions: 'ask' | 'accept_edits' | 'all' | { readonly allow: readonly string[] };
  readonly model?: string;
  readonly systemPrompt?: string;
  /** Where it is not `codex` on the PATH. */
  readonly program?: readonly [string, ...string[]];
}

export function codexRuntime(settings: CodexSettings, programs: Programs): Runtime {
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'anywhere',
      permissions: 'decides',
      cost: 'tokens',
      // Inside its sandbox git's own folder cannot be written.
      commits: settings.permissions === 'all',
    },
    start: (turn) => startTurn(settings, programs, turn),
  };
}

async function startTurn(settings: CodexSettings, programs: Programs, turn: Turn): Promise<RunningTurn> {
  const raw = rawTranscript(turn.log);
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const from = { raw: sizeOf(raw), log: sizeOf(turn.log) };
  const transcript = openTranscript(turn.log);
  const reader = readCodex({ turn, transcript });
  // Before it starts: what is in the record by then is of earlier turns.
  const record = followRecord(codexHome(turn.environment), turn.conversation, (line) =>
    reader.takeRecord(line),
  );
  const { argv, prompt } = commandOf(settings, turn);
  const running = await startProgram(programs, turn, argv, prompt, raw).catch((error: unknown) => {
    record.stop(null);
    throw error;
  });
  const lines = readJsonLines(
    raw,
    from.raw,
    (value) => {
      reader.take(value);
      record.look(reader.conversation());
    },
    (line) => transcript.note(line),
  );
  let isStopped = false;
  const ended = running.ended.then((end): RuntimeOutcome => {
    lines.stop();
    record.stop(reader.conversation());
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
  argv: readonly [string, ...string[]],
  prompt: string,
  log: string,
): Promise<RunningProgram> {
  const { folder, environment, attempt } = turn;
  const input = `${turn.log}.input`;
  writeFileSync(input, prompt, { mode: 0o600 });
  try {
    // Without a terminal, whatever the agent's settings say: what it prints is for programs.
    return await programs.start({ argv, folder, environment, attempt, input, log, terminal: null });
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    throw new RuntimeUnavailable(
      'Codex is not there to be started. Install it with: npm install --global @openai/codex',
      { cause: error },
    );
  } finally {
    // Who reads it has it open by now, and nobody else should read it.
    rmSync(input, { force: true });
  }
}

function codexHome(environment: Turn['environment']): string {
  const { CODEX_HOME: own = '', HOME: home = '' } = environment;
  return own === '' ? path.join(home, '.codex') : own;
}

interface CodexCommand {
  readonly argv: readonly [string, ...string[]];
  readonly prompt: string;
}

export function commandOf(settings: CodexSettings, turn: Turn): CodexCommand {
  const sandbox = sandboxOf(settings.permissions);
  const [program, ...first] = settings.program ?? ['codex'];
  const instructions = [settings.systemPrompt, turn.systemPrompt, ABOUT_SANDBOX[sandbox]]
    .filter(Boolean)
    .join('\n\n');
  const setting = `developer_instructions=${tomlString(instructions)}`;
  const fits = Buffer.byteLength(setting) < LONGEST_ARGUMENT;
  const options = [
    '--json',
    // A task without files has no repository either, and a new worktree is not among those that the user trusts.
    '--skip-git-repo-check',
    `--sandbox=${sandbox}`,
    '--config=approval_policy="never"',
    ...(instructions !== '' && fits ? [`--config=${setting}`] : []),
    ...(settings.model === undefined ? [] : [`--model=${settings.model}`]),
  ];
  const goOn = turn.conversation === null ? [] : ['resume', turn.conversation];
  return {
    argv: [program, ...first, 'exec', ...options, ...goOn, '-'],
    prompt: fits ? turn.prompt : `${instructions}\n\n${turn.prompt}`,
  };
}

/** With room for the option's name below the longest that Linux takes. */
const LONGEST_ARGUMENT = 127 * 1024;

type Sandbox = 'workspace-write' | 'danger-full-access';

function sandboxOf(permissions: CodexSettings['permissions']): Sandbox {
  if (permissions === 'accept_edits') return 'workspace-write';
  if (permissions === 'all') return 'danger-full-access';
  const what = permissions === 'ask' ? 'cannot ask anybody' : 'knows no list of tools that it may use';
  throw new RuntimeUnavailable(
    `Codex ${what} when it works on its own. Set the agent’s \`permissions\` to accept_edits or all, or let it ask through \`runtime: acp\` with \`command: codex\` (npm install --global @agentclientprotocol/codex-acp).`,
  );
}

const ABOUT_SANDBOX: Readonly<Record<Sandbox, string>> = {
  'danger-full-access': '',
  'workspace-write':
    'Your sandbox cannot write into git’s own folder, so `git add`, `git commit` and the like fail: do not try. Leave your changes in the files; they are committed for you when you end your turn.',
};

/** JSON’s strings are TOML’s, but for two characters that TOML wants escaped and halves of pairs that it does not have. */
function tomlString(text: string): string {
  return JSON.stringify(text.toWellFormed().replaceAll('\0', '')).replaceAll('\u007f', String.raw`\u007f`);
}

function outcomeOf(end: ProgramEnd, reader: CodexReader, tail: () => string): RuntimeOutcome {
  const failure = reader.failure();
  if (failure !== null) return outcomeOfFailure(failure, Date.now());
  if (end.how === 'exited' && end.code === 0 && reader.isComplete())
    return { outcome: 'completed', exitCode: 0, lastWords: reader.lastWords() };
  const how =
    end.how === 'signalled'
      ? `Codex was ended by ${end.signal}`
      : end.how === 'vanished'
        ? 'Codex vanished'
        : end.code === 0
          ? 'Codex ended without ending its turn'
          : `Codex ended with exit code ${end.code}`;
  const printed = tail();
  return {
    outcome: 'crashed',
    exitCode: end.how === 'exited' ? end.code : null,
    reason: printed === '' ? how : `${how}\n${printed}`,
  };
}
