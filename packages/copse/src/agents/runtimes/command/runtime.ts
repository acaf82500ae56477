/**
 * Any program as an agent: it gets a prompt, works, and exits. There is nobody to talk to: it cannot be asked to go on, so
 * every turn is a run of its own, and only its exit code says how it went.
 *
 *   0 → completed    75 (EX_TEMPFAIL) → a limit: try again later    anything else → crashed
 *
 * The prompt is text that people and agents wrote. It is an argument, input or a file, and never part of a shell line.
 */

import { rmSync, statSync, writeFileSync } from 'node:fs';

import {
  type Program,
  type ProgramEnd,
  ProgramMissing,
  type Programs,
  type RunningProgram,
} from '../../../processes/ports/programs.ts';
import {
  type RunningTurn,
  type Runtime,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../ports/runtime.ts';
import { lastOutput } from '../last-output.ts';

export interface CommandSettings {
  /** A line for the shell, or a program and its arguments. */
  readonly command: string | readonly string[];
  readonly promptBy: 'file' | 'stdin' | 'argument';
  readonly systemPrompt?: string;
}

export function commandRuntime(settings: CommandSettings, programs: Programs): Runtime {
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'never',
      permissions: 'decides',
      cost: 'nothing',
      commits: true,
    },
    start: (turn) => startTurn(settings, programs, turn),
  };
}

async function startTurn(settings: CommandSettings, programs: Programs, turn: Turn): Promise<RunningTurn> {
  const from = statSync(turn.log, { throwIfNoEntry: false })?.size ?? 0;
  const input = settings.promptBy === 'stdin' ? `${turn.log}.input` : null;
  // A file and not a pipe: whoever would write into the pipe may be killed halfway.
  if (input !== null) writeFileSync(input, turn.prompt, { mode: 0o600 });
  let running: RunningProgram;
  try {
    running = await programs.start(programOf(settings, turn, input));
  } catch (error) {
    if (error instanceof ProgramMissing) throw new RuntimeUnavailable(error.message, { cause: error });
    throw error;
  } finally {
    // Who reads it has it open by now, and nobody else should read it.
    if (input !== null) rmSync(input, { force: true });
  }
  let isStopped = false;
  const outcome = running.ended.then((end): RuntimeOutcome => {
    if (isStopped) return { outcome: 'cancelled' };
    return outcomeOf(end, () => lastOutput(turn.log, from));
  });
  return {
    process: running.process,
    ended: outcome,
    stop: async (options) => {
      isStopped = true;
      await running.stop(options);
    },
  };
}

function programOf(settings: CommandSettings, turn: Turn, input: string | null): Program {
  const { command, promptBy } = settings;
  const prompt = promptBy === 'argument' ? [promptArgument(turn)] : [];
  const [file = '', ...rest] =
    typeof command === 'string'
      ? // What follows the line is `$0` and `$1` in it.
        ['sh', '-c', command, 'sh']
      : command.map((word) => word.replaceAll('{prompt_file}', () => turn.promptFile));
  return {
    argv: [file, ...rest, ...prompt],
    folder: turn.folder,
    environment: {
      ...turn.environment,
      COPSE_PROMPT_FILE: turn.promptFile,
      ...systemPrompt([settings.systemPrompt, turn.systemPrompt]),
    },
    attempt: turn.attempt,
    input,
    log: turn.log,
    terminal: turn.terminal,
  };
}

/** The longest argument or variable that Linux takes, with the NUL at its end. */
const LONGEST = 128 * 1024;

function isTooMuch(text: string): boolean {
  return Buffer.byteLength(text) >= LONGEST || text.includes('\0');
}

function promptArgument({ prompt, promptFile }: Turn): string {
  if (!isTooMuch(prompt)) return prompt;
  return `Your instructions do not fit into an argument. Read them from this file, and follow them: ${promptFile}`;
}

/** A program has no system prompt that something could be added to, so it gets it as a variable, to use or not. */
function systemPrompt(texts: readonly (string | undefined)[]): Readonly<Record<string, string>> {
  const text = texts.filter(Boolean).join('\n\n');
  return text === '' || isTooMuch(`${SYSTEM_PROMPT}=${text}`) ? {} : { [SYSTEM_PROMPT]: text };
}

const SYSTEM_PROMPT = 'COPSE_SYSTEM_PROMPT';

/** From sysexits.h: a failure that will go away by itself. */
const EX_TEMPFAIL = 75;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

function outcomeOf(end: ProgramEnd, tail: () => string): RuntimeOutcome {
  switch (end.kind) {
    case 'exited': {
      const { code } = end;
      if (code === 0) return { outcome: 'completed', exitCode: code };
      if (code === EX_TEMPFAIL)
        return {
          outcome: 'limit',
          until: null,
          reason: withTail('it asked to be tried again later (exit code 75)', tail()),
        };
      return { outcome: 'crashed', exitCode: code, reason: withTail(exitReason(code), tail()) };
    }
    case 'signalled':
      return {
        outcome: 'crashed',
        exitCode: null,
        reason: withTail(`it was ended by ${end.signal}`, tail()),
      };
    case 'vanished':
      return { outcome: 'crashed', exitCode: null, reason: withTail('its terminal was closed', tail()) };
    default:
      throw new Error(`A program cannot end by ${String(end satisfies never)}`);
  }
}

function exitReason(code: number): string {
  if (code === NOT_FOUND) return 'a program that its command names was not found (exit code 127)';
  if (code === NOT_EXECUTABLE) return 'a program that its command names cannot be executed (exit code 126)';
  return `its program ended with exit code ${code}`;
}

function withTail(reason: string, tail: string): string {
  return tail === '' ? reason : `${reason}\n${tail}`;
}
