/**
 * Which process a pid means. A pid comes back for another process once the first is gone, so it is always taken together
 * with the time the process began: ticks since the system started on Linux, milliseconds since the epoch elsewhere.
 *
 * On Linux this reads /proc and starts nothing; other systems are asked with `ps`.
 */

import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

import type { ProcessIdentity } from '../kernel/process.ts';
import { hasCode } from '../kernel/system/error-code.ts';

export interface RunningProcess extends ProcessIdentity {
  readonly parent: number;
  readonly group: number;
  /** The pid of the session's leader: all that were started from one terminal, or by one daemon. */
  readonly session: number;
  readonly hasTerminal: boolean;
  readonly name: string;
}

export const hasProc = process.platform === 'linux';

export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const found = hasProc
    ? readProcess(pid)
    : (await askPs(['-p', String(pid)])).find((one) => one.pid === pid);
  return found && { pid: found.pid, startTime: found.startTime };
}

export async function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  return (await identify(pid))?.startTime === startTime;
}

/** The same without waiting, where there is /proc. */
export function identifyNow(pid: number): RunningProcess | undefined {
  return hasProc ? readProcess(pid) : undefined;
}

/** Everything that runs; zombies do not. */
export async function listProcesses(): Promise<readonly RunningProcess[]> {
  if (!hasProc) return askPs(['-ax']);
  return listPids().flatMap((pid) => readProcess(pid) ?? []);
}

export function listPids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Undefined when there is no such process or it is a zombie. */
function readProcess(pid: number): RunningProcess | undefined {
  let stat: string;
  try {
    // Node reads a file as UTF-8 in half the time of any other way.
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  return parseStat(stat);
}

/** The name stands in parentheses and may hold spaces and parentheses itself, so only the last one ends it. */
export function parseStat(stat: string): RunningProcess | undefined {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).split(' ');
  const [state = '', parent, group, session, terminal] = fields;
  if (open < 0 || close < open || DEAD.has(state)) return undefined;
  return {
    pid: Number.parseInt(stat, 10),
    name: stat.slice(open + 1, close),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    hasTerminal: terminal !== '0',
    // Field 22 of the line; the third is the first after the name.
    startTime: Number(fields[22 - 3]),
  };
}

const DEAD: ReadonlySet<string> = new Set(['Z', 'X', 'x']);

/**
 * The roots that still run, all that descend from them, and all that belong to a session one of these leads: a child that
 * lost its parent has another one now, but stays in its session. A root whose pid another process has now is left out.
 */
export function descent(
  roots: readonly ProcessIdentity[],
  running: readonly RunningProcess[],
): ReadonlyMap<number, RunningProcess> {
  const began = new Map(roots.map(({ pid, startTime }) => [pid, startTime]));
  const below = new Map<number, RunningProcess[]>();
  for (const one of running) {
    for (const above of new Set([one.parent, one.session])) {
      const others = below.get(above);
      if (others === undefined) below.set(above, [one]);
      else others.push(one);
    }
  }
  const found = new Map<number, RunningProcess>();
  const waiting = running.filter(({ pid, startTime }) => began.get(pid) === startTime);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next.pid)) continue;
    found.set(next.pid, next);
    waiting.push(...(below.get(next.pid) ?? []));
  }
  return found;
}

/** It ended while it was looked at. */
export function isGone(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ESRCH');
}

export function askPs(which: readonly string[]): Promise<readonly RunningProcess[]> {
  const columns = ['pid=', 'ppid=', 'pgid=', 'sess=', 'stat=', 'tty=', 'lstart=', 'comm='];
  return new Promise((resolve, reject) => {
    execFile(
      'ps',
      [...which, ...columns.flatMap((column) => ['-o', column])],
      { env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => {
        // It ends with 1 when no process matches.
        if (error !== null && error.code !== 1) return reject(new Error(`ps failed: ${error.message}`));
        resolve(stdout.split('\n').flatMap((line) => parsePs(line) ?? []));
      },
    );
  });
}

const PS_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\w+ +\w+ +\d+ [\d:]+ \d+)\s+(.*)$/;

function parsePs(line: string): RunningProcess | undefined {
  const [, pid, parent, group, session, state = '', terminal = '', began = '', name = ''] =
    PS_LINE.exec(line) ?? [];
  if (pid === undefined || DEAD.has(state.charAt(0))) return undefined;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    // Some systems print an address instead of a pid; then the session is unknown.
    session: Number(session) || 0,
    hasTerminal: !/^\?+$|^-$/.test(terminal),
    startTime: Date.parse(`${began} UTC`),
    name: name.slice(name.lastIndexOf('/') + 1),
  };
}
