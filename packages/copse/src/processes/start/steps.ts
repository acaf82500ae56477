/** Runs commands that can be cancelled, and ends what they leave running. */

import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ProcessIdentity } from '../../kernel/process.ts';
import type { EndedLeftovers, Leftovers, Step, StepEnd, StepEnding, Steps } from '../ports/programs.ts';
import { endMarked, endProcesses, markedProcesses } from '../end.ts';
import { identify, identifyNow, listProcesses } from '../identity.ts';
import { processesInside } from '../occupancy.ts';
import { closeGroup, openGroup } from '../cgroup.ts';
import { bootId, recordProcesses, recordedGroup } from './recorder.ts';
import { LONGEST_MS, type Watched, startWatched } from './watched.ts';

export const steps: Steps = {
  run: runStep,
  end: endLeftovers,
  visitors: visitorsOf,
  async moment() {
    const own = await identify(process.pid);
    return { since: own?.startTime ?? 0, boot: bootId() };
  },
};

async function runStep(step: Step): Promise<StepEnd> {
  if (step.signal.aborted) return { ending: { kind: 'cancelled' }, since: 0, drain: async () => {} };
  const group = openGroup(`step-${randomUUID()}`);
  const recorder = recordProcesses({ file: step.record, around: NO_PROCESS, group });
  // Until there is a record, no other process knows of the group.
  await recorder.look().catch(() => {});
  const watched = start(step, group);
  const { child } = watched;
  const closed = once(child, 'close').catch(() => {});
  const isOver = new AbortController();
  try {
    const ended = endingOf(watched);
    const since = await beginOf(child);
    if (child.pid !== undefined) recorder.add({ pid: child.pid, startTime: since });
    const limitMs = Math.min(step.timeoutMs, LONGEST_MS);
    const ending = await Promise.race([
      ended,
      sleep(limitMs, { kind: 'timeout' as const }, { signal: isOver.signal }),
      calledOff(step.signal, isOver.signal),
    ]);
    // A process that just lost its parent is still found by its session.
    await recorder.look().catch(() => {});
    return { ending, since, drain: () => drain(child, closed) };
  } finally {
    isOver.abort();
    recorder.stop();
  }
}

const NO_PROCESS = { pid: -1, startTime: 0 };
const DRAIN_MS = 1_000;

function start({ command, folder, environment, output }: Step, group: string | undefined): Watched {
  // A shell joins both streams, so that lines keep their order.
  const [file = '', ...args] = typeof command === 'string' ? ['sh', '-c', `exec 2>&1; ${command}`] : command;
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const watched = startWatched({ argv: [file, ...args], folder, environment, stdio, group });
  const { stdout, stderr } = watched.child;
  for (const stream of [stdout, stderr])
    stream?.on('data', (chunk: Buffer) => output.write(chunk)).on('error', () => {});
  return watched;
}

async function endingOf({ started, ended }: Watched): Promise<StepEnding> {
  try {
    await started;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { kind: 'not_started', code, message };
  }
  const end = await ended;
  if (end.kind === 'exited') return { kind: 'exit', code: end.code };
  return { kind: 'signal', signal: end.kind === 'signalled' ? (end.signal as NodeJS.Signals) : 'SIGKILL' };
}

/** If it has already ended, the start of this process: it began after that. */
async function beginOf({ pid }: ChildProcess): Promise<number> {
  const found = pid === undefined ? undefined : (identifyNow(pid) ?? (await identify(pid)));
  return (found ?? (await identify(process.pid)))?.startTime ?? 0;
}

function calledOff(signal: AbortSignal, isOver: AbortSignal): Promise<{ readonly kind: 'cancelled' }> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'cancelled' }), { once: true, signal: isOver });
  });
}

async function drain({ stdout, stderr }: ChildProcess, closed: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  await Promise.race([closed, sleep(DRAIN_MS, null, { signal: patience.signal })]);
  patience.abort();
  stdout?.destroy();
  stderr?.destroy();
}

async function endLeftovers(of: Leftovers): Promise<EndedLeftovers> {
  const { graceMs } = of;
  const started = await endMarked(of.mark, [], { graceMs, records: of.records });
  for (const group of of.records.map(recordedGroup)) if (group !== undefined) await closeGroup(group);
  const strays = await leftInside(of);
  const inside = strays.length === 0 ? { ended: [], remaining: [] } : await endProcesses(strays, { graceMs });
  const ended = new Set([...started.ended, ...inside.ended].map(({ pid }) => pid)).size;
  const remaining = new Map([...started.remaining, ...inside.remaining].map((one) => [one.pid, one]));
  return { ended, remaining: [...remaining.values()] };
}

/** None if that cannot be found out: then none of them is ended either. */
async function visitorsOf(folder: string): Promise<readonly ProcessIdentity[]> {
  const inside = await processesInside(folder);
  return inside.kind === 'known' ? inside.processes.map(({ pid, startTime }) => ({ pid, startTime })) : [];
}

async function leftInside(of: Leftovers): Promise<readonly ProcessIdentity[]> {
  const { folder, since, spare } = of;
  const inside = await processesInside(folder);
  if (inside.kind === 'unknown' || inside.processes.length === 0) return [];
  const mayStay = new Set(spare === undefined ? [] : await pidsOf(spare));
  const running = await listProcesses();
  const onTerminal = new Set(running.filter(({ hasTerminal }) => hasTerminal).map(({ pid }) => pid));
  const wasThere = new Map(of.visitors.map(({ pid, startTime }) => [pid, startTime]));
  return inside.processes.filter(
    ({ pid, startTime }) =>
      startTime >= since && wasThere.get(pid) !== startTime && !mayStay.has(pid) && !onTerminal.has(pid),
  );
}

async function pidsOf({ mark, records }: NonNullable<Leftovers['spare']>): Promise<readonly number[]> {
  return (await markedProcesses(mark, { records })).map(({ pid }) => pid);
}
