/**
 * Claude Code on its command line: headless, with its events as lines of JSON; or in tmux, as people use it, with the prompt as
 * its argument (terminal.ts).
 *
 * The runner chooses the conversation's id, so it is recorded before the program starts. The program asks by hooks before it
 * stops and before it uses tools that its settings do not allow (hooks.ts).
 */

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';

import {
  type Asks,
  type RunningTurn,
  type Runtime,
  RuntimeUnavailable,
  type Turn,
} from '../../ports/runtime.ts';
import {
  type Program,
  ProgramMissing,
  type Programs,
  type RunningProgram,
} from '../../../processes/ports/programs.ts';
import {
  type ClaudeSettings,
  type Conversation,
  argumentsOf,
  environmentOf,
  headlessArguments,
  plainPrompt,
  type ClaudeParts,
} from './arguments.ts';
import { isConversationKept } from './record.ts';
import { answerHooks } from './hooks.ts';
import { ClaudeReader, type Windows } from './messages.ts';
import { outcomeOf } from './outcome.ts';
import { startInTerminal } from './terminal.ts';
import { readJsonLines } from '../json-lines.ts';
import { openTranscript, rawTranscript } from '../transcript.ts';

export function claudeRuntime(settings: ClaudeSettings, programs: Programs, asks: Asks): Runtime {
  const windows: Windows = settings.windows ?? new Map<string, number>();
  const command = settings.command ?? ['claude'];
  const start = async (program: Program): Promise<RunningProgram> => {
    try {
      return await programs.start(program);
    } catch (error) {
      if (!(error instanceof ProgramMissing)) throw error;
      const isOurs = error.message.includes(command[0]);
      throw new RuntimeUnavailable(isOurs ? INSTALL : error.message, { cause: error });
    }
  };
  return {
    capabilities: {
      stop: 'native',
      resume: 'anywhere',
      permissions: 'asks',
      cost: 'dollars',
      commits: true,
    },
    start: (turn) => {
      const conversation = conversationOf(turn);
      const parts = { settings: { ...settings, command }, asks, start, conversation, windows };
      return turn.terminal === null ? startHeadless(parts, turn) : startInTerminal(parts, turn);
    },
  };
}

const INSTALL =
  'Claude Code is not installed. Install it: npm install --global @anthropic-ai/claude-code, then log in once: claude';

function conversationOf(turn: Turn): Conversation {
  const id = turn.conversation ?? randomUUID();
  const isKnown = turn.conversation !== null && isConversationKept(turn.environment, id);
  if (turn.conversation !== null && !isKnown)
    openTranscript(turn.log).note('Its earlier conversation is gone: it begins a new one.');
  turn.on({ type: 'conversation', id });
  return { id, isKnown };
}

async function startHeadless(
  { settings, asks, start, conversation, windows }: ClaudeParts,
  turn: Turn,
): Promise<RunningTurn> {
  const raw = rawTranscript(turn.log);
  closeSync(openSync(raw, 'a', 0o600));
  const from = statSync(raw).size;
  const input = `${turn.log}.input`;
  writeFileSync(input, plainPrompt(turn.prompt), { mode: 0o600 });
  const transcript = openTranscript(turn.log);
  const answering = asks.answer(turn.folder, answerHooks(turn, settings.permissions));
  let running: RunningProgram;
  try {
    running = await start({
      argv: [
        ...settings.command,
        ...headlessArguments(settings),
        ...argumentsOf(settings, turn, conversation),
      ],
      folder: turn.folder,
      environment: environmentOf(turn),
      attempt: turn.attempt,
      input,
      log: raw,
      terminal: null,
    });
  } catch (error) {
    answering.stop();
    throw error;
  } finally {
    // The program has it open by now, and no other program should read it.
    rmSync(input, { force: true });
  }
  const on: Turn['on'] = (event) => {
    const isTold = event.type === 'conversation' && event.id === conversation.id;
    if (!isTold) turn.on(event);
  };
  const reader = new ClaudeReader({ used: turn.used, on, transcript, windows });
  const others: string[] = [];
  const lines = readJsonLines(
    raw,
    from,
    (message) => reader.take(message),
    (line) => {
      transcript.note(line);
      others.splice(0, others.length + 1 - LAST_LINES, line);
    },
  );
  let isStopped = false;
  return {
    process: running.process,
    ended: running.ended.then((end) => {
      lines.stop();
      answering.stop();
      return isStopped ? { kind: 'cancelled' } : outcomeOf(end, reader.outcome(), others);
    }),
    stop: async (options) => {
      isStopped = true;
      await running.stop(options);
    },
  };
}

const LAST_LINES = 20;
