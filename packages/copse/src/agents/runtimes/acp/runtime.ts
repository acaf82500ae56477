/**
 * Any agent that speaks the Agent Client Protocol, with Copse as its client. The protocol uses pipes, so the program ends with
 * its runner. A turn is one run of the program; the agent keeps the conversation between turns.
 */

import { appendFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { defaultPolicy } from '../../../kernel/policy.ts';
import {
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
import type { WriteInside } from './files.ts';
import { type Rpc, openRpc } from './rpc.ts';
import { AcpSession, type SessionSettings } from './session.ts';
import { lastOutput } from '../last-output.ts';
import { openTranscript, rawTranscript } from '../transcript.ts';

export interface AcpSettings extends SessionSettings {
  /** A name from `AGENTS`, a shell line, or a program and its arguments. */
  readonly command: string | readonly string[];
}

interface KnownAgent {
  readonly argv: readonly [string, ...string[]];
  readonly install: string;
}

const AGENTS: Readonly<Record<string, KnownAgent>> = {
  claude: {
    argv: ['claude-agent-acp'],
    install: 'npm install --global @agentclientprotocol/claude-agent-acp',
  },
  codex: { argv: ['codex-acp'], install: 'npm install --global @agentclientprotocol/codex-acp' },
  gemini: { argv: ['gemini', '--acp'], install: 'npm install --global @google/gemini-cli' },
  opencode: { argv: ['opencode', 'acp'], install: 'npm install --global opencode-ai' },
};

export function acpRuntime(settings: AcpSettings, programs: Programs, writeInside: WriteInside): Runtime {
  const words = typeof settings.command === 'string' ? settings.command : settings.command.join(' ');
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'anywhere',
      permissions: 'asks',
      cost: /claude/.test(words) ? 'dollars' : 'tokens',
      // Codex's sandbox makes the .git folder read-only.
      commits: !/codex/.test(words) || settings.permissions === 'all',
    },
    start: (turn) => startTurn(settings, programs, writeInside, turn),
  };
}

async function startTurn(
  settings: AcpSettings,
  programs: Programs,
  writeInside: WriteInside,
  turn: Turn,
): Promise<RunningTurn> {
  const raw = rawTranscript(turn.log);
  const from = statSync(raw, { throwIfNoEntry: false })?.size ?? 0;
  const { connection, process } = await start(settings, programs, turn);
  const session = new AcpSession(settings, turn, openTranscript(turn.log), writeInside);
  const rpc = openRpc({
    input: connection.input,
    output: connection.output,
    onRequest: (method, params) => session.takeRequest(method, params),
    onNotice: (method, params) => session.takeNotice(method, params),
    record: (line) => appendFileSync(raw, `${line}\n`, { mode: 0o600 }),
  });
  let isStopped = false;
  const worked = work(session, rpc, connection, () => errorsIn(raw, from));
  const ended = worked.then(async (outcome): Promise<RuntimeOutcome> => {
    await leave(connection);
    return isStopped ? { kind: 'cancelled' } : outcome;
  });
  return {
    process,
    ended,
    stop: async ({ graceMs }) => {
      isStopped = true;
      session.cancel(rpc);
      // An agent that ends its own turn saves its conversation.
      await Promise.race([worked, sleep(graceMs / 2, undefined, { ref: false })]);
      await connection.stop({ graceMs: graceMs / 2 });
      await ended;
    },
  };
}

async function start(
  { command }: AcpSettings,
  programs: Programs,
  { folder, environment, attempt, log }: Turn,
): Promise<{ readonly connection: Connection; readonly process: RunningTurn['process'] }> {
  const known = typeof command === 'string' ? AGENTS[command] : undefined;
  const [file = '', ...rest] = known?.argv ?? (typeof command === 'string' ? ['sh', '-c', command] : command);
  const connection = programs.connect({
    argv: [file, ...rest],
    folder,
    environment,
    attempt,
    log: rawTranscript(log),
  });
  try {
    return { connection, process: await connection.started };
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    const sentence =
      known === undefined
        ? error.message
        : `The program ${file} is not installed. Install it: ${known.install}`;
    throw new RuntimeUnavailable(sentence, { cause: error });
  }
}

async function work(
  session: AcpSession,
  rpc: Rpc,
  connection: Connection,
  tail: () => string,
): Promise<RuntimeOutcome> {
  try {
    return await session.run(rpc);
  } catch (error) {
    const end = await Promise.race([connection.ended, sleep(EXIT_WAIT_MS, null, { ref: false })]);
    const how = end === null ? (error instanceof Error ? error.message : String(error)) : howOf(end);
    const printed = tail();
    return {
      kind: 'crashed',
      exitCode: end?.kind === 'exited' ? end.code : null,
      reason: printed === '' ? how : `${how}\n${printed}`,
    };
  }
}

/** The log mixes errors with messages; only the errors are shown, and only after a crash. */
function errorsIn(raw: string, from: number): string {
  const lines = lastOutput(raw, from).split('\n');
  return lines.filter((line) => !/^(?:…|\{"jsonrpc")/.test(line)).join('\n');
}

function howOf(end: ProgramEnd): string {
  if (end.kind === 'exited') return `the agent’s program ended with exit code ${end.code}`;
  return end.kind === 'signalled'
    ? `the agent’s program was killed by ${end.signal}`
    : 'the agent’s program disappeared';
}

const EXIT_WAIT_MS = defaultPolicy.agentPrograms.acpExitMs;
const GRACE_MS = defaultPolicy.agentPrograms.acpGraceMs;

/** Ends the program and all that it started. */
async function leave(connection: Connection): Promise<void> {
  connection.input.end();
  await Promise.race([connection.ended, sleep(EXIT_WAIT_MS, undefined, { ref: false })]);
  await connection.stop({ graceMs: GRACE_MS });
}
