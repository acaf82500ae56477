/**
 * Claude through its Agent SDK: the package talks to a Claude Code of its own, and calls back when the agent wants to stop
 * or to use something. The process is Copse's: it is started, marked and ended like any other agent's.
 *
 *   load the package → start → messages … → ( the Stop hook asks the gate )* → result → the process exits
 *
 * A turn has ended when the process is gone and not when there is a result. Of the two ways in which the SDK says that
 * something failed, a result and an exception after it, the result counts, because it has the facts.
 */

import { randomUUID } from 'node:crypto';
import { appendFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

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
      // The SDK would say that the program is missing.
      if (!statSync(turn.folder, { throwIfNoEntry: false })?.isDirectory())
        throw new Error(`The agent cannot be started: its folder ${turn.folder} is gone.`);
      const sdk = await loadClaudeSdk(settings.packageFrom ?? [], turn.environment);
      return startTurn(sdk, settings, programs, windows, turn);
    },
  };
}

/** What became known besides messages. */
interface Facts {
  isStopped: boolean;
  /** What the agent wants to know of a person. */
  question: string | null;
  /** What the SDK threw. */
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
  const facts: Facts = { isStopped: false, question: null, failure: null };
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
  // Before there is one: whoever is killed now can still go on with it.
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
      // Asked, it writes down that it was interrupted, and the conversation can go on later.
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

/** What begins with a slash would be one of the program's own commands. */
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

function requireProcess({ failure }: Facts): never {
  throw unavailable(failure);
}

function unavailable(error: unknown): RuntimeUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new RuntimeUnavailable(`The package ${SDK_PACKAGE} cannot start its program: ${reason}`, {
    cause: error,
  });
}

/** Until there is nothing more to hear. Never rejects. */
async function listen(query: SdkQuery, raw: string, reader: ClaudeReader, facts: Facts): Promise<void> {
  try {
    for await (const message of query) {
      appendFileSync(raw, `${JSON.stringify(message)}\n`, { mode: 0o600 });
      reader.take(message);
    }
  } catch (error) {
    facts.failure = error instanceof Error ? error.message : String(error);
  }
}

/** All was heard and the process is gone. One of both is not always followed by the other. */
async function settle(listened: Promise<void>, connection: Connection): Promise<ProgramEnd> {
  await Promise.race([listened, connection.ended]);
  const both = Promise.all([listened, connection.ended]);
  if ((await Promise.race([both, sleep(LAST_MS, 'late')])) === 'late')
    await connection.stop({ graceMs: LAST_MS });
  return connection.ended;
}

/** How long it has to go after its last message, and its last messages have to arrive after it went. */
const LAST_MS = 5_000;

function outcomeOf(end: ProgramEnd, facts: Facts, reader: ClaudeReader, tail: () => string): RuntimeOutcome {
  if (facts.isStopped) return { outcome: 'cancelled' };
  if (facts.question !== null) return { outcome: 'needs_input', question: facts.question };
  const outcome = reader.outcome();
  if (outcome !== undefined) return outcome;
  const exitCode = end.kind === 'exited' ? end.code : null;
  const how =
    end.kind === 'signalled' ? `it was ended by ${end.signal}` : 'its program ended without a result';
  const reason = [how, facts.failure ?? '', tail()].filter((line) => line !== '').join('\n');
  return { outcome: 'crashed', exitCode, reason };
}
