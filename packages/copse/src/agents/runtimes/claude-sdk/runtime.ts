/**
 * Claude through its Agent SDK: the package talks to its own Claude Code, and calls back when the agent wants to stop or to
 * use a tool. Copse starts, marks and ends the process like that of any other agent.
 *
 *   load the package → start → messages … → ( the Stop hook asks the gate )* → result → the process exits
 *
 * A turn ends when the process is gone, not with the result. The SDK reports a failure twice, as a result and then as an
 * exception: the result counts, because it has the facts.
 */

import { randomUUID } from 'node:crypto';
import { appendFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { defaultPolicy } from '../../../kernel/policy.ts';
import {
  type ConnectedProgram,
  type Connection,
  type Programs,
  type ProgramEnd,
  ProgramMissing,
} from '../../../processes/ports/programs.ts';
import {
  type RunningTurn,
  type Runtime,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../ports/runtime.ts';
import { ClaudeReader, type Windows } from '../claude/messages.ts';
import { type ClaudeSdkSettings, type SdkOptions, optionsFor } from './options.ts';
import { type ClaudeSdk, SDK_PACKAGE, type SdkQuery, loadClaudeSdk } from './package.ts';
import { type SpawnRequest, asSpawned } from './process.ts';
import { lastOutput } from '../last-output.ts';
import { openTranscript, rawTranscript } from '../transcript.ts';

export type { ClaudeSdkSettings } from './options.ts';

export function claudeSdkRuntime(settings: ClaudeSdkSettings, programs: Programs): Runtime {
  const windows: Windows = settings.windows ?? new Map<string, number>();
  return {
    capabilities: {
      stop: 'native',
      resume: 'anywhere',
      permissions: 'asks',
      cost: 'dollars',
      commits: true,
    },
    start: async (turn) => {
      // The SDK's own error would say that the program is missing.
      if (!statSync(turn.folder, { throwIfNoEntry: false })?.isDirectory())
        throw new Error(`The agent cannot start: its folder ${turn.folder} is gone.`);
      const sdk = await loadClaudeSdk({
        environment: turn.environment,
        mayTake: settings.mayTake ?? (() => true),
        folders: settings.packageFrom ?? [],
      });
      return startTurn(sdk, settings, programs, windows, turn);
    },
  };
}

/** Facts about the turn besides its messages. */
interface TurnFacts {
  isStopped: boolean;
  /** The agent's question to a person. */
  question: string | null;
  /** The SDK's exception. */
  failure: string | null;
}

async function startTurn(
  sdk: ClaudeSdk,
  settings: ClaudeSdkSettings,
  programs: Programs,
  windows: Windows,
  turn: Turn,
): Promise<RunningTurn> {
  const from = statSync(turn.log, { throwIfNoEntry: false })?.size ?? 0;
  const conversation = turn.conversation ?? randomUUID();
  const facts: TurnFacts = { isStopped: false, question: null, failure: null };
  const abort = new AbortController();
  const opened = Promise.withResolvers<Connection>();
  const options = optionsFor(settings, turn, {
    conversation,
    abort,
    spawn: (request) => {
      const connection = programs.connect(programOf(turn, request));
      opened.resolve(connection);
      return asSpawned(connection);
    },
    onQuestion: (question) => {
      facts.question = question;
    },
  });
  // Recorded before the conversation exists, so that it can be resumed after a kill.
  turn.on({ type: 'conversation', id: conversation });
  const query = ask(sdk, asWritten(turn.prompt), options);
  const { used, on } = turn;
  const reader = new ClaudeReader({ used, on, transcript: openTranscript(turn.log), windows });
  const listened = listen(query, rawTranscript(turn.log), reader, facts);
  const connection = await Promise.race([opened.promise, listened.then(() => requireProcess(facts))]);
  const process = await connection.started.catch((error: unknown) => {
    throw error instanceof ProgramMissing ? new RuntimeUnavailable(error.message, { cause: error }) : error;
  });
  const ended = settle(listened, connection).then((end) =>
    outcomeOf(end, facts, reader, () => lastOutput(turn.log, from)),
  );
  return {
    process,
    ended,
    stop: async ({ graceMs }) => {
      facts.isStopped = true;
      const untilMs = Date.now() + graceMs;
      // An interrupted program saves the conversation, so that it can be resumed.
      query.interrupt().catch(() => {});
      await Promise.race([ended, sleep(graceMs / 2)]);
      await connection.stop({ graceMs: Math.max(0, untilMs - Date.now()) });
      abort.abort();
      await ended;
    },
  };
}

function programOf(turn: Turn, { command, args, env }: SpawnRequest): ConnectedProgram {
  const environment = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return {
    argv: [command, ...args],
    folder: turn.folder,
    environment: Object.fromEntries(environment),
    attempt: turn.attempt,
    log: turn.log,
  };
}

/** The program would take a leading slash for a command of its own. */
function asWritten(prompt: string): string {
  return prompt.trimStart().startsWith('/') ? `Your task:\n\n${prompt}` : prompt;
}

function ask(sdk: ClaudeSdk, prompt: string, options: SdkOptions): SdkQuery {
  try {
    return sdk.query({ prompt, options });
  } catch (error) {
    throw unavailable(error);
  }
}

function requireProcess({ failure }: TurnFacts): never {
  throw unavailable(failure);
}

function unavailable(error: unknown): RuntimeUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new RuntimeUnavailable(`The package ${SDK_PACKAGE} cannot start its program: ${reason}`, {
    cause: error,
  });
}

/** Reads all messages. Never rejects. */
async function listen(query: SdkQuery, raw: string, reader: ClaudeReader, facts: TurnFacts): Promise<void> {
  try {
    for await (const message of query) {
      appendFileSync(raw, `${JSON.stringify(message)}\n`, { mode: 0o600 });
      reader.take(message);
    }
  } catch (error) {
    facts.failure = error instanceof Error ? error.message : String(error);
  }
}

/** Waits for the last message and for the process's end; either may stay away, so the second is waited for briefly. */
async function settle(listened: Promise<void>, connection: Connection): Promise<ProgramEnd> {
  await Promise.race([listened, connection.ended]);
  const both = Promise.all([listened, connection.ended]);
  if ((await Promise.race([both, sleep(LAST_MS, 'late')])) === 'late')
    await connection.stop({ graceMs: LAST_MS });
  return connection.ended;
}

const LAST_MS = defaultPolicy.agentPrograms.sdkLastMs;

function outcomeOf(
  end: ProgramEnd,
  facts: TurnFacts,
  reader: ClaudeReader,
  tail: () => string,
): RuntimeOutcome {
  if (facts.isStopped) return { kind: 'cancelled' };
  if (facts.question !== null) return { kind: 'needs_input', question: facts.question };
  const outcome = reader.outcome();
  if (outcome !== undefined) return outcome;
  const exitCode = end.kind === 'exited' ? end.code : null;
  const how =
    end.kind === 'signalled' ? `it was killed by ${end.signal}` : 'its program ended without a result';
  const reason = [how, facts.failure ?? '', tail()].filter((line) => line !== '').join('\n');
  return { kind: 'crashed', exitCode, reason };
}
