/**
 * Codex, run once for each turn (`codex exec`), going on with its own conversation where there is one.
 *
 *   what it prints → `<attempt>.jsonl`, read while it is written      what its own record says → codex-record.ts
 *
 * Codex prints neither how full a conversation is nor what kind of failure ended it; its record of the conversation has
 * both. Where the record is missing, only that is missing. The user's settings stay as they are: what has to differ is
 * said on the command line.
 */

import path from 'node:path';

import type { ProgramEnd, Programs } from '../../../processes/ports/programs.ts';
import {
  type RunningTurn,
  type Runtime,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../ports/runtime.ts';
import { type CodexReader, readCodex } from './events.ts';
import { outcomeOfFailure } from './failure.ts';
import { followRecord } from './record.ts';
import { type HeadlessSettings, endReason, startHeadlessTurn } from '../headless-turn.ts';
import { notThere } from '../headless-words.ts';
import { openTranscript } from '../transcript.ts';

export function codexRuntime(settings: HeadlessSettings, programs: Programs): Runtime {
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'anywhere',
      permissions: 'decides',
      cost: 'tokens',
      // Inside its sandbox git's own folder cannot be written.
      commits: settings.permissions === 'all',
    },
    start: async (turn) => startTurn(settings, programs, turn),
  };
}

function startTurn(settings: HeadlessSettings, programs: Programs, turn: Turn): Promise<RunningTurn> {
  const transcript = openTranscript(turn.log);
  const command = commandOf(settings, turn);
  const reader = readCodex({ turn, transcript });
  // Before it starts: what is in the record by then is of earlier turns.
  const record = followRecord(codexHome(turn.environment), turn.conversation, (line) =>
    reader.takeRecord(line),
  );
  return startHeadlessTurn(programs, turn, transcript, {
    ...command,
    missing: notThere('Codex', 'codex'),
    take: (value) => {
      reader.take(value);
      record.look(reader.conversation());
    },
    end: () => record.stop(reader.conversation()),
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

function sandboxOf(permissions: HeadlessSettings['permissions']): Sandbox {
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
  if (end.kind === 'exited' && end.code === 0 && reader.isComplete())
    return { outcome: 'completed', exitCode: 0, lastWords: reader.lastWords() };
  const reason = endReason('Codex', end, tail);
  return { outcome: 'crashed', exitCode: end.kind === 'exited' ? end.code : null, reason };
}
