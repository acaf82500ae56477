/**
 * One turn of a program that runs without a terminal and prints its events as lines of JSON. The output goes to
 * `<attempt>.jsonl` and is read while it is written.
 */

import { rmSync, statSync, writeFileSync } from 'node:fs';

import {
  type ProgramEnd,
  ProgramMissing,
  type Programs,
  type RunningProgram,
} from '../../processes/ports/programs.ts';
import {
  type Permissions,
  type RunningTurn,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../ports/runtime.ts';
import { readJsonLines } from './json-lines.ts';
import type { VendorRuntime } from '../rules/runtimes.ts';
import { installCommand } from './installed.ts';
import { lastOutput } from './last-output.ts';
import { type Transcript, rawTranscript } from './transcript.ts';

export interface HeadlessSettings {
  readonly permissions: Permissions;
  readonly model?: string;
  readonly systemPrompt?: string;
  /** Needed unless it is on the PATH under its usual name. */
  readonly program?: readonly [string, ...string[]];
}

export interface HeadlessTurn {
  readonly argv: readonly [string, ...string[]];
  readonly prompt: string;
  /** Added to the agent's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The message when the program is not installed. */
  readonly missing: string;
  readonly take: (value: unknown) => void;
  /** Called when all output is read, and when the program did not start. */
  readonly end: () => void;
  readonly outcome: (end: ProgramEnd, tail: () => string) => RuntimeOutcome;
}

export async function startHeadlessTurn(
  programs: Programs,
  turn: Turn,
  transcript: Transcript,
  headless: HeadlessTurn,
): Promise<RunningTurn> {
  const raw = rawTranscript(turn.log);
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const from = { raw: sizeOf(raw), log: sizeOf(turn.log) };
  const running = await startProgram(programs, turn, headless, raw).catch((error: unknown) => {
    headless.end();
    throw error;
  });
  const lines = readJsonLines(raw, from.raw, headless.take, (line) => transcript.note(line));
  let isStopped = false;
  const ended = running.ended.then((end): RuntimeOutcome => {
    lines.stop();
    headless.end();
    if (isStopped) return { kind: 'cancelled' };
    return headless.outcome(end, () => lastOutput(turn.log, from.log));
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

/** The prompt is a file and not a pipe, because a runner that is killed halfway would leave half a prompt in a pipe. */
async function startProgram(
  programs: Programs,
  turn: Turn,
  { argv, prompt, environment: own, missing }: HeadlessTurn,
  log: string,
): Promise<RunningProgram> {
  const { folder, attempt } = turn;
  const environment = { ...turn.environment, ...own };
  const input = `${turn.log}.input`;
  writeFileSync(input, prompt, { mode: 0o600 });
  try {
    // Never in a terminal, also with `terminal: tmux`: its output is for programs.
    return await programs.start({ argv, folder, environment, attempt, input, log, terminal: null });
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    throw new RuntimeUnavailable(missing, { cause: error });
  } finally {
    // The program has it open by now, and no other program should read it.
    rmSync(input, { force: true });
  }
}

/** What the reader of a program's events knows at its end. */
interface ReadTurn {
  isComplete(): boolean;
  lastWords(): string;
}

/** Of a turn that reported no failure. It is complete only with exit code 0 and all of its events. */
export function outcomeOfEnd(
  name: string,
  end: ProgramEnd,
  reader: ReadTurn,
  tail: () => string,
): RuntimeOutcome {
  const exitCode = end.kind === 'exited' ? end.code : null;
  if (exitCode === 0 && reader.isComplete())
    return { kind: 'completed', exitCode, lastWords: reader.lastWords() };
  return { kind: 'crashed', exitCode, reason: endReason(name, end, tail) };
}

/** Why a turn ended early, with the last lines of output. */
export function endReason(name: string, end: ProgramEnd, tail: () => string): string {
  const how =
    end.kind === 'signalled'
      ? `${name} was killed by ${end.signal}`
      : end.kind === 'vanished'
        ? `${name} disappeared${end.why === undefined ? '' : `: ${end.why}`}`
        : end.code === 0
          ? `${name} ended before its turn was over`
          : `${name} ended with exit code ${end.code}`;
  const printed = tail();
  return printed === '' ? how : `${how}\n${printed}`;
}

/** For programs without an option for the system prompt: instructions begin the conversation, which keeps them. */
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
  'You cannot run commands, so you cannot commit. Leave your changes in the files; Copse commits them when you end your turn.';

export function cannotAsk(name: string, command: string): RuntimeUnavailable {
  return new RuntimeUnavailable(
    `${name} cannot ask a person when it runs without a terminal. Set the agent’s \`permissions\` to accept_edits, all or a list of tools, or let it ask through \`runtime: acp\` with \`command: ${command}\`.`,
  );
}

export function notInstalled(name: string, runtime: VendorRuntime): string {
  return `${name} is not installed. Install it: ${installCommand(runtime)}`;
}
