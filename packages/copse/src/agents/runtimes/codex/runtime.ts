/**
 * Codex, run once for each turn (`codex exec`); later turns resume its conversation.
 *
 *   its output → `<attempt>.jsonl`, read while it is written (events.ts)      its own record of the conversation → record.ts
 *
 * Only the record says how full the context is and which kind of failure ended a turn. Without a record, only these are
 * missing. Copse does not change the user's settings: it overrides some on the command line.
 */

import path from 'node:path';

import type { ProgramEnd, Programs } from '../../../processes/ports/programs.ts';
import {
  type Permissions,
  type RunningTurn,
  type Runtime,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../ports/runtime.ts';
import { type CodexReader, readCodex } from './events.ts';
import { outcomeOfFailure } from './failure.ts';
import { findRecord } from './record.ts';
import { type HeadlessSettings, outcomeOfEnd, startHeadlessTurn, notInstalled } from '../headless-turn.ts';
import { followRecord } from '../json-lines.ts';
import { openTranscript } from '../transcript.ts';

export function codexRuntime(settings: HeadlessSettings, programs: Programs): Runtime {
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'anywhere',
      permissions: 'decides',
      cost: 'tokens',
      // Codex's sandbox makes the .git folder read-only.
      commits: settings.permissions === 'all',
    },
    start: async (turn) => startTurn(settings, programs, turn),
  };
}

function startTurn(settings: HeadlessSettings, programs: Programs, turn: Turn): Promise<RunningTurn> {
  const transcript = openTranscript(turn.log);
  const command = commandOf(settings, turn);
  const reader = readCodex({ turn, transcript });
  // Before the start: the record so far is of earlier turns.
  const record = followRecord(
    () => findRecord(codexHome(turn.environment), reader.conversation()),
    (line) => reader.takeRecord(line),
  );
  return startHeadlessTurn(programs, turn, transcript, {
    ...command,
    missing: notInstalled('Codex', 'codex'),
    take: (value) => {
      reader.take(value);
      record.look();
    },
    end: () => record.stop(),
    outcome: (end, tail) => outcomeOf(end, reader, tail),
  });
}

function codexHome(environment: Turn['environment']): string {
  const { CODEX_HOME: own = '', HOME: home = '' } = environment;
  return own === '' ? path.join(home, '.codex') : own;
}

interface CodexCommand {
  readonly argv: readonly [string, ...string[]];
  readonly prompt: string;
}

export function commandOf(settings: HeadlessSettings, turn: Turn): CodexCommand {
  const sandbox = sandboxOf(settings.permissions);
  const [program, ...first] = settings.program ?? ['codex'];
  const instructions = [settings.systemPrompt, turn.systemPrompt, ABOUT_SANDBOX[sandbox]]
    .filter(Boolean)
    .join('\n\n');
  const setting = `developer_instructions=${tomlString(instructions)}`;
  const fits = Buffer.byteLength(setting) < LONGEST_ARGUMENT;
  const options = [
    '--json',
    // A task without files has no repository, and the user has not trusted a new worktree.
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

/** Linux's limit of 128 KiB, less the option's name. */
const LONGEST_ARGUMENT = 127 * 1024;

type CodexSandbox = 'workspace-write' | 'danger-full-access';

function sandboxOf(permissions: Permissions): CodexSandbox {
  if (permissions === 'accept_edits') return 'workspace-write';
  if (permissions === 'all') return 'danger-full-access';
  const what = permissions === 'ask' ? 'cannot ask a person' : 'takes no list of allowed tools';
  throw new RuntimeUnavailable(
    `Codex ${what} when it runs without a terminal. Set the agent’s \`permissions\` to accept_edits or all, or let it ask through \`runtime: acp\` with \`command: codex\` (npm install --global @agentclientprotocol/codex-acp).`,
  );
}

const ABOUT_SANDBOX: Readonly<Record<CodexSandbox, string>> = {
  'danger-full-access': '',
  'workspace-write':
    'Your sandbox cannot write to the .git folder, so `git add` and `git commit` fail: do not try them. Leave your changes in the files; Copse commits them when you end your turn.',
};

/** A JSON string is a TOML string, except for NUL, DEL and lone surrogates. */
function tomlString(text: string): string {
  return JSON.stringify(text.toWellFormed().replaceAll('\0', '')).replaceAll('\u007f', String.raw`\u007f`);
}

function outcomeOf(end: ProgramEnd, reader: CodexReader, tail: () => string): RuntimeOutcome {
  const failure = reader.failure();
  return failure === null ? outcomeOfEnd('Codex', end, reader, tail) : outcomeOfFailure(failure, Date.now());
}
