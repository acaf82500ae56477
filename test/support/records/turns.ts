/** Turns of the command runtime with real programs, in folders whose names are hard to quote. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { endAttempt, processesOfAttempt } from '../../../packages/copse/src/processes/end.ts';
import {
  type AttemptId,
  type SessionId,
  type TaskId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import { noUsage } from '../../../packages/copse/src/kernel/usage.ts';
import type { Turn } from '../../../packages/copse/src/agents/ports/runtime.ts';

export const AWKWARD = `wörk 'tree' "x" $(touch pwned) \`touch pwned\` #(touch pwned) #{pid} %H\n林;`;

let turns = 0;
const attempts: AttemptId[] = [];

export function newTurn(area: string, changes: Partial<Turn> = {}): Turn {
  turns += 1;
  const base = path.join(area, String(turns));
  const folder = path.join(base, AWKWARD);
  const logs = path.join(base, `logs ${AWKWARD}`);
  for (const made of [folder, logs]) mkdirSync(made, { recursive: true });
  const attempt = brand<AttemptId>(`at-${process.pid}-${turns}`);
  attempts.push(attempt);
  const promptFile = path.join(folder, 'session-prompt.md');
  const prompt = changes.prompt ?? 'Do it.';
  writeFileSync(promptFile, prompt);
  return {
    task: brand<TaskId>('cp-test'),
    session: brand<SessionId>('se-test'),
    attempt,
    number: 1,
    folder,
    environment: { PATH: process.env['PATH'] ?? '', COPSE_ATTEMPT_ID: attempt },
    prompt,
    promptFile,
    systemPrompt: '',
    conversation: null,
    log: path.join(logs, `${attempt}.log`),
    terminal: null,
    used: noUsage,
    on: () => {},
    beforeStop: () => Promise.resolve({ kind: 'allowed' }),
    mayUse: () => Promise.resolve({ isAllowed: true, message: null }),
    ...changes,
  };
}

export function printedIn(turn: Turn): string {
  return readFileSync(turn.log, 'utf8');
}

/** For after each test: none of these tests is to leave anything running. */
export async function endTurns(): Promise<void> {
  for (const attempt of attempts.splice(0)) await endAttempt(attempt, [], { graceMs: 0 });
}

export async function pidsOf({ attempt }: Turn): Promise<readonly number[]> {
  return (await processesOfAttempt(attempt)).map(({ pid }) => pid);
}

export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await sleep(10);
}

/** The words of a file, once so many are there. */
export async function wordsIn(file: string, count: number): Promise<readonly string[]> {
  const read = (): readonly string[] => {
    try {
      return readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
    } catch {
      return [];
    }
  };
  await until(() => read().length >= count);
  return read();
}
