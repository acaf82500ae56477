/**
 * The processes of one attempt. Every process of an agent has `COPSE_ATTEMPT_ID` in its environment and hands it on, so
 * that one which left its group, its session and its parents is still found. One that also wiped its environment is found
 * if it was recorded before (recorder.ts).
 *
 * Nothing but agents may carry the mark: Copse's own processes do not, and neither does a tmux server that Copse starts.
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

import type { AttemptId } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { Ended } from '../ports/occupancy.ts';
import { descent } from '../descent.ts';
import { endProcesses } from '../end.ts';
import { hasProc, listPids, listProcesses } from '../identity.ts';
import { readRecord } from './recorder.ts';

const ATTEMPT_VARIABLE = 'COPSE_ATTEMPT_ID';

export function processesOfAttempt(attempt: AttemptId, record?: string): Promise<readonly ProcessIdentity[]> {
  return markedProcesses(`${ATTEMPT_VARIABLE}=${attempt}`, record);
}

/** All that run: those with the mark, `NAME=value`, those in the record, and what descends from them. */
export async function markedProcesses(mark: string, record?: string): Promise<readonly ProcessIdentity[]> {
  const pids = new Set(hasProc ? markedByProc(mark) : await markedByPs(mark));
  const running = await listProcesses();
  const marked = running.filter(({ pid }) => pids.has(pid));
  const recorded = record === undefined ? [] : readRecord(record);
  return [...descent([...marked, ...recorded], running).values()]
    .filter(({ pid }) => pid !== process.pid)
    .map(({ pid, startTime }) => ({ pid, startTime }));
}

interface Ending {
  readonly graceMs: number;
  readonly record?: string;
}

export function endAttempt(
  attempt: AttemptId,
  roots: readonly ProcessIdentity[],
  ending: Ending,
): Promise<Ended> {
  return endMarked(`${ATTEMPT_VARIABLE}=${attempt}`, roots, ending);
}

/** Ends them, and looks again for those that were born or had hidden meanwhile. */
export async function endMarked(
  mark: string,
  roots: readonly ProcessIdentity[],
  { graceMs, record }: Ending,
): Promise<Ended> {
  const ended: ProcessIdentity[] = [];
  let remaining: readonly ProcessIdentity[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await markedProcesses(mark, record);
    const list = round === 0 ? [...roots, ...found] : found;
    if (list.length === 0) break;
    const result = await endProcesses(list, { graceMs: round === 0 ? graceMs : 0 });
    ended.push(...result.ended);
    ({ remaining } = result);
    if (result.ended.length === 0) break;
  }
  return { ended, remaining };
}

// One that keeps forking loses half of its children in each.
const ROUNDS = 20;

function markedByProc(mark: string): readonly number[] {
  const wanted = Buffer.from(`\0${mark}\0`);
  return listPids().filter((pid) => isMarked(pid, wanted));
}

const NUL = Buffer.from('\0');

/** Those that are gone, and those of others, are not ours. */
function isMarked(pid: number, wanted: Buffer): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    return Buffer.concat([NUL, environment, NUL]).includes(wanted);
  } catch {
    return false;
  }
}

/** As well as it goes: `ps` prints the environment behind the command, and only of this user's processes. */
function markedByPs(mark: string): Promise<readonly number[]> {
  return new Promise((resolve) => {
    execFile(
      'ps',
      ['-axwwE', '-o', 'pid=', '-o', 'command='],
      { maxBuffer: 256 * 1024 * 1024 },
      (error, stdout) => {
        if (error !== null) return resolve([]);
        const lines = stdout.split('\n').filter((line) => line.split(' ').includes(mark));
        resolve(lines.map((line) => Number.parseInt(line, 10)));
      },
    );
  });
}
