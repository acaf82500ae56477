/**
 * Any program as an agent: it gets a prompt, works, and exits. It keeps no conversation, so every turn is a new run, and only
 * its exit code says how it went.
 *
 *   0 → completed    75 (EX_TEMPFAIL) → a limit: retry later    other codes → crashed
 *
 * People and agents wrote the prompt. It is passed as an argument, as input or as a file, never as part of a shell line.
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
  /** A shell line, or a program and its arguments. */
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
  // A file and not a pipe, because a runner that is killed halfway would leave half a prompt in a pipe.
  if (input !== null) writeFileSync(input, turn.prompt, { mode: 0o600 });
  let running: RunningProgram;
  try {
    running = await programs.start(programOf(settings, turn, input));
  } catch (error) {
    if (error instanceof ProgramMissing) throw new RuntimeUnavailable(error.message, { cause: error });
    throw error;
  } finally {
    // The program has it open by now, and no other program should read it.
    if (input !== null) rmSync(input, { force: true });
  }
  let isStopped = false;
  const outcome = running.ended.then((end): RuntimeOutcome => {
    if (isStopped) return { kind: 'cancelled' };
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
      ? // The words after the line are its `$0` and `$1`.
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

/** Linux's limit for an argument or a variable, including the final NUL. */
const LONGEST = 128 * 1024;

function isTooMuch(text: string): boolean {
  return Buffer.byteLength(text) >= LONGEST || text.includes('\0');
}

function promptArgument({ prompt, promptFile }: Turn): string {
  if (!isTooMuch(prompt)) return prompt;
  return `Your instructions are too long for an argument. Read them from this file, and follow them: ${promptFile}`;
}

/** A plain program has no system prompt, so it gets this text as a variable. */
function systemPrompt(texts: readonly (string | undefined)[]): Readonly<Record<string, string>> {
  const text = texts.filter(Boolean).join('\n\n');
  return text === '' || isTooMuch(`${SYSTEM_PROMPT}=${text}`) ? {} : { [SYSTEM_PROMPT]: text };
}

const SYSTEM_PROMPT = 'COPSE_SYSTEM_PROMPT';

/** From sysexits.h: a temporary failure. */
const EX_TEMPFAIL = 75;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

function outcomeOf(end: ProgramEnd, tail: () => string): RuntimeOutcome {
  switch (end.kind) {
    case 'exited': {
      const { code } = end;
      if (code === 0) return { kind: 'completed', exitCode: code };
      if (code === EX_TEMPFAIL)
        return {
          kind: 'limit',
          until: null,
          reason: withTail('it asked for a retry later (exit code 75)', tail()),
        };
      return { kind: 'crashed', exitCode: code, reason: withTail(exitReason(code), tail()) };
    }
    case 'signalled':
      return {
        kind: 'crashed',
        exitCode: null,
        reason: withTail(`it was killed by ${end.signal}`, tail()),
      };
    case 'vanished':
      return {
        kind: 'crashed',
        exitCode: null,
        reason: withTail(end.why ?? 'its terminal was closed', tail()),
      };
    default:
      throw new Error(`A program cannot end by ${String(end satisfies never)}`);
  }
}

function exitReason(code: number): string {
  if (code === NOT_FOUND) return 'a program in its command was not found (exit code 127)';
  if (code === NOT_EXECUTABLE) return 'a program that its command names cannot be executed (exit code 126)';
  return `the agent program ended with exit code ${code}`;
}

function withTail(reason: string, tail: string): string {
  return tail === '' ? reason : `${reason}\n${tail}`;
}
