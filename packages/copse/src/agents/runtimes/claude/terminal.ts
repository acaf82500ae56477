/**
 * Claude Code in a tmux session that people can join.
 *
 *   trust the folder → start with the prompt → it works, asks, is told to continue → it may stop → Copse ends it
 *
 * The program would wait for another prompt, so Copse ends it when the stop hook allowed it to stop, or when the model failed.
 * A person who joined sees it close; the conversation is kept.
 *
 * It prints no events: these come from its hooks, its record and its status line. A program without a status line after
 * `READY_MS` shows a dialog, and is reported as idle.
 *
 * Fields: `told` is the outcome once it is known, `pending` the number of permission questions to a person, `failed` the
 * entry of the model's last error, `isStopped` that Copse stopped the turn, `isOver` that the program is gone.
 */

import { rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { defaultPolicy } from '../../../kernel/policy.ts';
import type { RunningProgram } from '../../../processes/ports/programs.ts';
import type { Attention } from '../../rules/session/session.ts';
import type { RunningTurn, RuntimeOutcome, Turn } from '../../ports/runtime.ts';
import {
  STATUS_VARIABLE,
  argumentsOf,
  environmentOf,
  fitsArgument,
  plainPrompt,
  type ClaudeParts,
} from './arguments.ts';
import { answerHooks } from './hooks.ts';
import { ClaudeReader } from './messages.ts';
import { type Fields, text } from '../fields.ts';
import { outcomeOf } from './outcome.ts';
import { ClaudeRecord, ClaudeStatus, failureResult, messageOfEntry } from './record.ts';
import { trustFolder } from './trust.ts';
import { lastOutput } from '../last-output.ts';
import { openTranscript } from '../transcript.ts';

/** Time for the program to write its last message and for the hook to end. */
const SETTLE_MS = 500;
const END_GRACE_MS = defaultPolicy.agentPrograms.terminalGraceMs;
const READY_MS = defaultPolicy.agentPrograms.terminalReadyMs;

export async function startInTerminal(parts: ClaudeParts, turn: Turn): Promise<RunningTurn> {
  const { settings, asks, windows } = parts;
  const transcript = openTranscript(turn.log);
  if (!(await trustFolder(turn.environment, turn.folder)))
    transcript.note(
      'Claude Code may ask whether to trust the worktree: its .claude.json could not be changed.',
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
      finish({ kind: 'needs_input', question: `It stopped at its budget: it has cost ${dollars} dollars.` });
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
    // The record, which has the status, is written at the same moment.
    await sleep(SETTLE_MS);
    reader.take(failureResult(notice, failed));
    finish(reader.outcome() ?? { kind: 'crashed', exitCode: null, reason: 'the model failed' });
  };
  const answer = answerHooks({ ...turn, mayUse }, settings.permissions, {
    onRecord: (file) => record.isAt(file),
    onStop: (lastWords) =>
      finish({ kind: 'completed', exitCode: 0, ...(lastWords !== undefined && { lastWords }) }),
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
      if (isStopped) return { kind: 'cancelled' };
      if (told !== undefined) return told;
      // A person who joined has closed it.
      if (end.kind === 'exited' && end.code === 0) return { kind: 'completed', exitCode: 0 };
      return outcomeOf(end, undefined, end.kind === 'exited' ? [lastOutput(screen, from)] : []);
    }),
    stop: async (options) => {
      isStopped = true;
      await running.stop(options);
    },
  };
}

/** Reports changes only. */
function attention(on: Turn['on']): (attention: Attention | null) => void {
  let last: Attention | null = null;
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
  return `Your instructions are too long for an argument. Read them from this file, and follow them: ${promptFile}`;
}
