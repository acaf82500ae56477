/**
 * One turn of a program that runs without a terminal, once for each turn, and prints what it does as lines of JSON. What it
 * prints goes to `<attempt>.jsonl` and is read while it is written.
 */

import { rmSync, statSync, writeFileSync } from 'node:fs';

import {
  type ProgramEnd,
  ProgramMissing,
  type Programs,
  type RunningProgram,
} from '../../processes/ports/programs.ts';
import { type RunningTurn, type RuntimeOutcome, RuntimeUnavailable, type Turn } from '../ports/runtime.ts';
import { readJsonLines } from './json-lines.ts';
import { lastOutput } from './last-output.ts';
import { type Transcript, rawTranscript } from './transcript.ts';

export interface HeadlessSettings {
  readonly permissions: 'ask' | 'accept_edits' | 'all' | { readonly allow: readonly string[] };
  readonly model?: string;
  readonly systemPrompt?: string;
  /** Where it is not on the PATH by its usual name. */
  readonly program?: readonly [string, ...string[]];
}

export interface HeadlessTurn {
  readonly argv: readonly [string, ...string[]];
  readonly prompt: string;
  /** What is added to the agent's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What a person hears who has not installed it. */
  readonly missing: string;
  readonly take: (value: unknown) => void;
  /** All that it printed is read, or it never started. */
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
    if (isStopped) return { outcome: 'cancelled' };
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

/** The prompt is a file and not a pipe: whoever would write into the pipe may be killed halfway. */
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
    // Without a terminal, whatever the agent's settings say: what it prints is for programs.
    return await programs.start({ argv, folder, environment, attempt, input, log, terminal: null });
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    throw new RuntimeUnavailable(missing, { cause: error });
  } finally {
    // Who reads it has it open by now, and nobody else should read it.
    rmSync(input, { force: true });
  }
}

/** Why a turn ended that did not come to its end, with the last that was printed. */
export function endReason(name: string, end: ProgramEnd, tail: () => string): string {
  const how =
    end.kind === 'signalled'
      ? `${name} was ended by ${end.signal}`
      : end.kind === 'vanished'
        ? `${name} vanished`
        : end.code === 0
          ? `${name} ended without ending its turn`
          : `${name} ended with exit code ${end.code}`;
  const printed = tail();
  return printed === '' ? how : `${how}\n${printed}`;
}
