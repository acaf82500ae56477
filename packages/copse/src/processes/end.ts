/**
 * Finds and ends the processes of an attempt, a command or a check, and everything that descends from them.
 *
 * Finding: each is started with a mark, `NAME=value`, in its environment and hands it on, so that a process that left its
 * group, session and parents is still found. One that also wiped its environment is found if it was recorded before
 * (recorder.ts), if it is in the control group of the attempt (cgroup.ts), or if it stayed in the session or group of the
 * command. Only what Copse starts for an agent or a command
 * may carry a mark: Copse's own processes do not, and neither does a tmux server that Copse starts.
 *
 * Ending: collect → TERM → wait, collecting new ones → KILL → wait until gone. Every process is written down with its
 * start time before the first signal: a child that loses its parent stays on the list, and a process that gets the pid
 * of an ended one is not on it.
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AttemptId } from '../kernel/ids.ts';
import type { ProcessIdentity } from '../kernel/process.ts';
import type { Ended } from './ports/occupancy.ts';
import { hasCode } from '../kernel/system/error-code.ts';
import { type RunningProcess, descent, hasProc, isGone, listPids, listProcesses } from './identity.ts';
import { groupMembers } from './cgroup.ts';
import { readRecord, recordedGroup } from './start/recorder.ts';

const ATTEMPT_VARIABLE = 'COPSE_ATTEMPT_ID';

export function processesOfAttempt(attempt: AttemptId, record?: string): Promise<readonly ProcessIdentity[]> {
  return markedProcesses(`${ATTEMPT_VARIABLE}=${attempt}`, record);
}

/** Running processes with the mark, of the leader's session or group, or in the record, and what descends from them. */
export async function markedProcesses(
  mark: string,
  record?: string,
  leader?: number,
): Promise<readonly ProcessIdentity[]> {
  const group = record === undefined ? undefined : recordedGroup(record);
  const pids = new Set([
    ...(hasProc ? markedByProc(mark) : await markedByPs(mark)),
    ...(group === undefined ? [] : groupMembers(group)),
  ]);
  const running = await listProcesses();
  const marked = running.filter(
    ({ pid, session, group }) =>
      pids.has(pid) || (leader !== undefined && (session === leader || group === leader)),
  );
  const recorded = record === undefined ? [] : readRecord(record);
  return [...descent([...marked, ...recorded], running).values()]
    .filter(({ pid }) => pid !== process.pid)
    .map(({ pid, startTime }) => ({ pid, startTime }));
}

interface Ending {
  readonly graceMs: number;
  readonly record?: string;
  /** The pid of the first process. It led a session and a group, in which others stay after it ended. */
  readonly leader?: number;
}

export function endAttempt(
  attempt: AttemptId,
  roots: readonly ProcessIdentity[],
  ending: Ending,
): Promise<Ended> {
  return endMarked(`${ATTEMPT_VARIABLE}=${attempt}`, roots, ending);
}

/** Ends them, then looks again for those that were started meanwhile. */
export async function endMarked(
  mark: string,
  roots: readonly ProcessIdentity[],
  { graceMs, record, leader }: Ending,
): Promise<Ended> {
  const ended: ProcessIdentity[] = [];
  let remaining: readonly ProcessIdentity[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await markedProcesses(mark, record, leader);
    const list = round === 0 ? [...roots, ...found] : found;
    if (list.length === 0) break;
    const result = await endProcesses(list, { graceMs: round === 0 ? graceMs : 0 });
    ended.push(...result.ended);
    ({ remaining } = result);
    if (result.ended.length === 0) break;
  }
  return { ended, remaining };
}

// A process that keeps forking loses about half of its children in each round.
const ROUNDS = 20;

function markedByProc(mark: string): readonly number[] {
  const wanted = Buffer.from(`\0${mark}\0`);
  return listPids().filter((pid) => isMarked(pid, wanted));
}

const NUL = Buffer.from('\0');

/** False for processes that have ended and for those of other users, which cannot be read. */
function isMarked(pid: number, wanted: Buffer): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    return Buffer.concat([NUL, environment, NUL]).includes(wanted);
  } catch {
    return false;
  }
}

/** `ps` prints the environment after the command, and only of this user's processes. */
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

const LOOK_EVERY_MS = 20;
/** A process survives SIGKILL only while the kernel holds it, in a disk read for example. */
const KILL_WAIT_MS = 5_000;

export async function endProcesses(
  list: readonly ProcessIdentity[],
  { graceMs }: { readonly graceMs: number },
): Promise<Ended> {
  const first = await listProcesses();
  const meant = new Map<number, ProcessIdentity>(descent(list, first));
  const spared = ancestors(first).filter((pid) => meant.has(pid));
  if (spared.length > 0) {
    // This process is one of them. Ending only a part would leave an attempt that neither runs nor is over.
    return { ended: [], remaining: [...meant.values()].map(identity) };
  }
  for (const [signal, waitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', KILL_WAIT_MS],
  ] as const) {
    const remaining = await signalUntilGone(meant, signal, waitMs);
    if (remaining.length === 0) break;
  }
  const remaining = stillThere(meant, await listProcesses());
  const left = new Set(remaining.map(({ pid }) => pid));
  return {
    ended: [...meant.values()].filter(({ pid }) => !left.has(pid)).map(identity),
    remaining: remaining.map(identity),
  };
}

async function signalUntilGone(
  meant: Map<number, ProcessIdentity>,
  signal: NodeJS.Signals,
  waitMs: number,
): Promise<readonly RunningProcess[]> {
  const told = new Set<string>();
  const until = performance.now() + waitMs;
  for (;;) {
    const running = await listProcesses();
    for (const [pid, one] of descent([...meant.values()], running)) meant.set(pid, one);
    const remaining = stillThere(meant, running);
    for (const one of remaining) {
      const name = `${one.pid} ${one.startTime}`;
      if (!told.has(name)) send(one.pid, signal);
      told.add(name);
    }
    if (remaining.length === 0 || performance.now() >= until) return remaining;
    await sleep(LOOK_EVERY_MS);
  }
}

function stillThere(
  meant: ReadonlyMap<number, ProcessIdentity>,
  running: readonly RunningProcess[],
): readonly RunningProcess[] {
  return running.filter(({ pid, startTime }) => meant.get(pid)?.startTime === startTime);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Ended already, or another user's: then it is reported as remaining.
    if (!isGone(error) && !hasCode(error, 'EPERM')) throw error;
  }
}

/** This process, its parent and so on. */
function ancestors(running: readonly RunningProcess[]): readonly number[] {
  const parents = new Map(running.map(({ pid, parent }) => [pid, parent]));
  const line: number[] = [];
  for (let pid: number | undefined = process.pid; pid && !line.includes(pid); pid = parents.get(pid))
    line.push(pid);
  return line;
}

function identity({ pid, startTime }: ProcessIdentity): ProcessIdentity {
  return { pid, startTime };
}
