/**
 * Ends processes and everything that descends from them.
 *
 *   collect → TERM → wait, collecting what is born meanwhile → KILL → wait until gone
 *
 * Who is meant is written down with its start time before the first signal: children that leave the process group or
 * lose their parent are still on the list, and a pid that another process gets meanwhile is not.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import type { ProcessIdentity } from '../kernel/process.ts';
import type { Ended } from './ports/occupancy.ts';
import { hasCode } from '../kernel/system/error-code.ts';
import { descent } from './descent.ts';
import { type RunningProcess, isGone, listProcesses } from './identity.ts';

const LOOK_EVERY_MS = 20;
/** Nobody survives SIGKILL but those whom the kernel holds, for as long as it does. */
const KILL_WAIT_MS = 5_000;

export async function endProcesses(
  list: readonly ProcessIdentity[],
  { graceMs }: { readonly graceMs: number },
): Promise<Ended> {
  const first = await listProcesses();
  const meant = new Map<number, ProcessIdentity>(descent(list, first));
  const spared = ancestors(first).filter((pid) => meant.has(pid));
  if (spared.length > 0) {
    // Whoever asked is part of what is to be ended; half of it gone would help nobody.
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
    // Gone already, or somebody else's: then it is reported as remaining.
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
