/**
 * Finds and ends the processes of an attempt, a command or a check, and everything that descends from them.
 *
 * Finding: each is started with a mark, `NAME=value`, in its environment, below a reaper, which has the mark too and is the
 * parent of all that lose theirs (start/reaper.ts). Without a reaper, because the system has none or the agent killed it, a
 * process is found by the mark, by the record (recorder.ts), by its control group (cgroup.ts), or if it stayed in the session
 * or group of the command. Only what Copse starts for an agent or a command may carry a mark: Copse's own processes do not,
 * and neither does a tmux server that Copse starts.
 *
 * Ending: collect → TERM → wait, collecting new ones → KILL → wait until gone. Every process is written down with its
 * start time before the first signal: a child that loses its parent stays on the list, and a process that gets the pid
 * of an ended one is not on it. A reaper makes them findable, so it gets no TERM, and KILL a second after the others.
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AttemptId } from '../kernel/ids.ts';
import type { NamedProcess, ProcessIdentity } from '../kernel/process.ts';
import type { Ended } from './ports/occupancy.ts';
import { hasCode } from '../kernel/system/error-code.ts';
import {
  type RunningProcess,
  descent,
  hasProc,
  identifyNow,
  isGone,
  listPids,
  listProcesses,
} from './identity.ts';
import { groupMembers } from './cgroup.ts';
import { REAPER } from './start/reaper.ts';
import { readRecord, recordedGroup } from './start/recorder.ts';

const ATTEMPT_VARIABLE = 'COPSE_ATTEMPT_ID';

export function processesOfAttempt(attempt: AttemptId, record?: string): Promise<readonly ProcessIdentity[]> {
  const records = record === undefined ? [] : [record];
  return markedProcesses(`${ATTEMPT_VARIABLE}=${attempt}`, { records });
}

interface Known {
  /** Files in which they were recorded. */
  readonly records?: readonly string[];
  /** Their control group, if it is in no record. */
  readonly group?: string | undefined;
  /** The pid of the first process. It led a session and a group, in which others stay after it ended. */
  readonly leader?: number;
}

/** Running processes with the mark, in the record or the group, of the leader's session, and what descends from them. */
export async function markedProcesses(
  mark: string,
  { records = [], group: own, leader }: Known = {},
): Promise<readonly ProcessIdentity[]> {
  const groups = [own, ...records.map(recordedGroup)].filter((one) => one !== undefined);
  const recorded = records.flatMap(readRecord).filter(mayRun);
  const pids = new Set([
    ...(hasProc ? markedByProc(mark) : await markedByPs(mark)),
    ...groups.flatMap(groupMembers),
  ]);
  // Usually all have ended; then there is no reason to look at every process of the machine again.
  if (pids.size === 0 && recorded.length === 0 && leader === undefined) return [];
  const running = await listProcesses();
  const marked = running.filter(
    ({ pid, session, group }) =>
      pids.has(pid) || (leader !== undefined && (session === leader || group === leader)),
  );
  return [...descent([...marked, ...recorded], running).values()]
    .filter(({ pid }) => pid !== process.pid)
    .map(({ pid, startTime }) => ({ pid, startTime }));
}

/** True where only a new process could tell. */
function mayRun({ pid, startTime }: ProcessIdentity): boolean {
  return !hasProc || identifyNow(pid)?.startTime === startTime;
}

interface Ending extends Known {
  readonly graceMs: number;
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
  { graceMs, ...known }: Ending,
): Promise<Ended> {
  const ended: ProcessIdentity[] = [];
  let remaining: readonly NamedProcess[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await markedProcesses(mark, known);
    const list = round === 0 ? [...roots.filter(mayRun), ...found] : found;
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
  const wanted = `\0${mark}\0`;
  return listPids().filter((pid) => isMarked(pid, wanted));
}

/** False for processes that have ended and for those of other users, which cannot be read. */
function isMarked(pid: number, wanted: string): boolean {
  try {
    // Node reads a file as UTF-8 in half the time of any other way; a mark is ASCII.
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}\0`.includes(wanted);
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
  if (meant.size === 0) return { ended: [], remaining: [] };
  const spared = line(process.pid, first).filter((pid) => meant.has(pid));
  if (spared.length > 0) {
    // This process is one of them. Ending only a part would leave an attempt that neither runs nor is over.
    return { ended: [], remaining: named(first.filter(({ pid }) => meant.has(pid))) };
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
    remaining: named(remaining),
  };
}

function named(remaining: readonly RunningProcess[]): readonly NamedProcess[] {
  return remaining.map(({ pid, startTime, name }) => {
    const user = userOf(pid);
    return { pid, startTime, name, user: user === process.getuid?.() ? null : user };
  });
}

async function signalUntilGone(
  meant: Map<number, ProcessIdentity>,
  signal: NodeJS.Signals,
  waitMs: number,
): Promise<readonly RunningProcess[]> {
  const told = new Set<string>();
  const denied = new Set<number>();
  const endReaper = reaperEnding();
  const until = performance.now() + waitMs;
  for (;;) {
    const running = await listProcesses();
    for (const [pid, one] of descent([...meant.values()], running)) meant.set(pid, one);
    const remaining = stillThere(meant, running);
    const reapers = topReapers(remaining, running);
    for (const one of remaining) {
      if (reapers.has(one.pid)) {
        if (signal === 'SIGKILL' && !endReaper(one.pid)) denied.add(one.pid);
        continue;
      }
      const name = `${one.pid} ${one.startTime}`;
      if (!told.has(name) && !send(one.pid, signal)) denied.add(one.pid);
      told.add(name);
    }
    if (remaining.length === 0 || performance.now() >= until) return remaining;
    // Waiting ends none of those that may not be killed.
    if (signal === 'SIGKILL' && remaining.every(({ pid }) => denied.has(pid))) return remaining;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Those below no other: a program can take the name of a reaper, and is ended by the reaper above it. */
function topReapers(
  remaining: readonly RunningProcess[],
  running: readonly RunningProcess[],
): ReadonlySet<number> {
  const pids = new Set(remaining.filter(({ name }) => name === REAPER).map(({ pid }) => pid));
  return new Set(
    [...pids].filter((pid) => !line(pid, running).some((above) => above !== pid && pids.has(above))),
  );
}

/**
 * It is asked to kill its children, after which it ends. One that still runs a second later may be a program with that name:
 * it is stopped, so that the next look finds all its children, and then killed. False for another user's.
 */
function reaperEnding(): (pid: number) => boolean {
  const asked = new Map<number, number>();
  const stopped = new Set<number>();
  return (pid) => {
    const since = asked.get(pid) ?? performance.now();
    asked.set(pid, since);
    if (stopped.has(pid)) return send(pid, 'SIGKILL');
    if (performance.now() - since < REAPER_WAIT_MS) return send(pid, 'SIGCONT') && send(pid, 'SIGUSR1');
    stopped.add(pid);
    return send(pid, 'SIGSTOP');
  };
}

const REAPER_WAIT_MS = 1_000;

function stillThere(
  meant: ReadonlyMap<number, ProcessIdentity>,
  running: readonly RunningProcess[],
): readonly RunningProcess[] {
  return running.filter(({ pid, startTime }) => meant.get(pid)?.startTime === startTime);
}

/** False for another user's process, which is reported as remaining. */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'EPERM')) return false;
    if (!isGone(error)) throw error;
    return true;
  }
}

/** The process, its parent and so on. */
function line(from: number, running: readonly RunningProcess[]): readonly number[] {
  const parents = new Map(running.map(({ pid, parent }) => [pid, parent]));
  const found: number[] = [];
  for (let pid: number | undefined = from; pid && !found.includes(pid); pid = parents.get(pid))
    found.push(pid);
  return found;
}

/** The files of a process with rights of its own belong to root, so their owner says nothing. */
export function userOf(pid: number): number | null {
  try {
    const [, user] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return user === undefined ? null : Number(user);
  } catch {
    // It is gone, or it may not be looked into, or there is no /proc.
    return null;
  }
}

function identity({ pid, startTime }: ProcessIdentity): ProcessIdentity {
  return { pid, startTime };
}
