/**
 * Claude Code as people use it, in a tmux session that they can join.
 *
 *   trust the folder → start with the prompt → it works, asks, is told to go on → it may stop → it is ended
 *
 * It would wait for the next prompt for ever, so the turn is over, and the program ended, once its stop hook was told that
 * it may stop or a failure of the model stopped it. A person who joined sees it close; the conversation is kept.
 *
 * It does not print what it does for a program to read. That comes from its hooks, its record and its status line. A
 * program that shows no status line stands in a dialog, and is told to wait for a person.
 */

import { rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { RunningProgram } from '../../../processes/ports/programs.ts';
import type { RunningTurn, RuntimeEvent, RuntimeOutcome, Turn } from '../../ports/runtime.ts';
import { STATUS_VARIABLE, argumentsOf, environmentOf, fitsArgument, plainPrompt } from './arguments.ts';
import { answerHooks } from './hooks.ts';
import { ClaudeReader } from './messages.ts';
import { type Fields, text } from '../fields.ts';
import { outcomeOf } from './outcome.ts';
import type { ClaudeParts } from './parts.ts';
import { ClaudeRecord, ClaudeStatus, failureResult, messageOfEntry } from './record.ts';
import { trustFolder } from './trust.ts';
import { lastOutput } from '../last-output.ts';
import { openTranscript } from '../transcript.ts';

/** Until its last words are written down and its hook has ended. */
const SETTLE_MS = 500;
const END_GRACE_MS = 5_000;
/** It is ready in a second or two, unless it asks something before. */
const READY_MS = 60_000;

export async function startInTerminal(parts: ClaudeParts, turn: Turn): Promise<RunningTurn> {
  const { settings, asks, windows } = parts;
  const transcript = openTranscript(turn.log);
  if (!(await trustFolder(turn.environment, turn.folder)))
    transcript.note(
      'Claude Code may ask whether it trusts the worktree: its .claude.json cannot be changed.',
    );
  let told: RuntimeOutcome | undefined;
  let isStopped = false;
  let isOver = false;
  let pending = 0;
  let failed: Fields | undefined;

  const finish = (outcome: RuntimeOutcome): void => {
    if (told !== undefined || isOver) return;
    told = outcome;
    void sleep(SETTLE_MS).then(() => running.stop({ graceMs: END_GRACE_MS }));
  };
  const attend = attention(turn.on);
  const reader = new ClaudeReader({ used: turn.used, on: turn.on, transcript, windows });
  const record = new ClaudeRecord(Date.now(), (entry) => {
    if (entry['isApiErrorMessage'] === true) failed = entry;
    if (pending === 0) attend(null);
    reader.take(messageOfEntry(entry));
  });
  const statusFile = `${turn.log}.status`;
  rmSync(statusFile, { force: true });
  const unready = setTimeout(() => attend('idle'), READY_MS);
  const status = new ClaudeStatus(statusFile, turn.used, turn.on, ({ record: file, dollars }) => {
    clearTimeout(unready);
    if (file !== undefined) record.isAt(file);
    if (settings.dollars !== undefined && (dollars ?? 0) >= settings.dollars)
      finish({ outcome: 'needs_input', question: `It may not go on: it has cost ${dollars} dollars.` });
  });
  const mayUse: Turn['mayUse'] = async (permission) => {
    pending += 1;
    try {
      return await turn.mayUse(permission);
    } finally {
      pending -= 1;
    }
  };
  const fail = async (notice: unknown): Promise<void> => {
    // Its record, which knows the status, is written at the same moment.
    await sleep(SETTLE_MS);
    reader.take(failureResult(notice, failed));
    finish(reader.outcome() ?? { outcome: 'crashed', exitCode: null, reason: 'the model failed' });
  };
  const answer = answerHooks({ ...turn, mayUse }, settings.permissions, {
    onRecord: (file) => record.isAt(file),
    onStop: (lastWords) =>
      finish({ outcome: 'completed', exitCode: 0, ...(lastWords !== undefined && { lastWords }) }),
    onNotice: (notice) => {
      if (text(notice, 'hook_event_name') === 'StopFailure') {
        void fail(notice);
      } else if (pending === 0) attend(noticed(text(notice, 'notification_type')));
    },
  });
  const answering = asks.answer(turn.folder, answer);
  const screen = turn.log.replace(/(\.log)?$/, '.screen');
  const from = statSync(screen, { throwIfNoEntry: false })?.size ?? 0;
  const close = (): void => {
    isOver = true;
    clearTimeout(unready);
    answering.stop();
    status.stop();
    record.stop();
    rmSync(statusFile, { force: true });
  };
  let running: RunningProgram;
  try {
    running = await parts.start({
      argv: [
        ...settings.command,
        ...argumentsOf(settings, turn, parts.conversation),
        '--',
        promptArgument(turn),
      ],
      folder: turn.folder,
      environment: { ...environmentOf(turn), [STATUS_VARIABLE]: statusFile },
      attempt: turn.attempt,
      input: null,
      log: screen,
      terminal: turn.terminal,
    });
  } catch (error) {
    close();
    throw error;
  }
  return {
    process: running.process,
    ended: running.ended.then((end) => {
      close();
      if (isStopped) return { outcome: 'cancelled' };
      if (told !== undefined) return told;
      // A person who joined has left it.
      if (end.kind === 'exited' && end.code === 0) return { outcome: 'completed', exitCode: 0 };
      return outcomeOf(end, undefined, end.kind === 'exited' ? [lastOutput(screen, from)] : []);
    }),
    stop: async (options) => {
      isStopped = true;
      await running.stop(options);
    },
  };
}

type Attention = Extract<RuntimeEvent, { type: 'attention' }>['attention'];

/** Tells only what is new. */
function attention(on: Turn['on']): (attention: Attention) => void {
  let last: Attention = null;
  return (now) => {
    if (now !== last) on({ type: 'attention', attention: now });
    last = now;
  };
}

function noticed(notification: string | undefined): Attention {
  return notification === 'idle_prompt' ? 'idle' : 'permission';
}

function promptArgument({ prompt, promptFile }: Turn): string {
  const plain = plainPrompt(prompt);
  if (fitsArgument(plain)) return plain;
  return `Your instructions do not fit into an argument. Read them from this file, and follow them: ${promptFile}`;
}
