/**
 * opencode, run once for each turn (`opencode run`); later turns resume its conversation. Its output goes to
 * `<attempt>.jsonl` and is read while it is written (events.ts).
 *
 * A conversation belongs to the folder that it began in: started elsewhere, opencode works in the old folder. It has no
 * option for the system prompt, so instructions begin the conversation, which keeps them.
 */

import type { ProgramEnd, Programs } from '../../../processes/ports/programs.ts';
import type { Permissions, RunningTurn, Runtime, RuntimeOutcome, Turn } from '../../ports/runtime.ts';
import {
  type HeadlessSettings,
  outcomeOfEnd,
  startHeadlessTurn,
  cannotAsk,
  notInstalled,
  promptOf,
} from '../headless-turn.ts';
import { type OpencodeReader, readOpencode } from './events.ts';
import { outcomeOfFailure } from './failure.ts';
import { openTranscript } from '../transcript.ts';

export function opencodeRuntime(settings: HeadlessSettings, programs: Programs): Runtime {
  return {
    capabilities: {
      stop: 'reprompt',
      resume: 'same_folder',
      permissions: 'decides',
      // Dollars only for models with a known price.
      cost: 'tokens',
      commits: mayCommit(settings.permissions),
    },
    start: async (turn) => startTurn(settings, programs, turn),
  };
}

function startTurn(settings: HeadlessSettings, programs: Programs, turn: Turn): Promise<RunningTurn> {
  const transcript = openTranscript(turn.log);
  const { environment, ...command } = commandOf(settings, turn);
  const reader = readOpencode({ turn, transcript });
  return startHeadlessTurn(programs, turn, transcript, {
    ...command,
    // opencode trusts PWD more than its working directory.
    environment: { ...environment, PWD: turn.folder },
    missing: notInstalled('opencode', 'opencode'),
    take: (value) => reader.take(value),
    end: () => {},
    outcome: (end, tail) => outcomeOf(end, reader, tail),
  });
}

interface OpencodeCommand {
  readonly argv: readonly [string, ...string[]];
  readonly prompt: string;
  readonly environment: Readonly<Record<string, string>>;
}

export function commandOf(
  settings: HeadlessSettings,
  turn: Pick<Turn, 'prompt' | 'systemPrompt' | 'conversation'>,
): OpencodeCommand {
  const [program, ...first] = settings.program ?? ['opencode'];
  const { options, environment } = rulesOf(settings.permissions);
  const isNew = turn.conversation === null;
  return {
    argv: [
      program,
      ...first,
      'run',
      '--format=json',
      ...options,
      ...(settings.model === undefined ? [] : [`--model=${settings.model}`]),
      ...(turn.conversation === null ? [] : [`--session=${turn.conversation}`]),
    ],
    prompt: promptOf(settings, turn, { isNew, mayCommit: mayCommit(settings.permissions) }),
    environment,
  };
}

interface PermissionRules {
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** The last matching rule counts, and these come after the user's. */
function rulesOf(permissions: Permissions): PermissionRules {
  if (permissions === 'all') return { options: ['--auto'], environment: {} };
  if (permissions === 'ask') throw cannotAsk('opencode', 'opencode');
  const allowed = permissions === 'accept_edits' ? [...READING, 'edit'] : permissions.allow;
  const rules: Readonly<Record<string, string>> = Object.fromEntries([
    ['*', 'deny'],
    ...allowed.map((tool) => [tool, 'allow'] as const),
  ]);
  return { options: [], environment: { OPENCODE_PERMISSION: JSON.stringify(rules) } };
}

const READING: readonly string[] = ['read', 'glob', 'grep', 'list', 'todowrite', 'todoread'];

function mayCommit(permissions: Permissions): boolean {
  if (typeof permissions === 'string') return permissions === 'all';
  return permissions.allow.includes('bash') || permissions.allow.includes('*');
}

function outcomeOf(end: ProgramEnd, reader: OpencodeReader, tail: () => string): RuntimeOutcome {
  const failure = reader.failure();
  return failure === null
    ? outcomeOfEnd('opencode', end, reader, tail)
    : outcomeOfFailure(failure, Date.now());
}
