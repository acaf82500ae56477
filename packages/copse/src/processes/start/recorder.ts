/**
 * Keeps a file with the processes of an attempt, so that they can be ended after their runner was killed. A process that was
 * once seen below one of the roots stays in it until it ends, also if its parent changes.
 *
 * It looks every second at little cost: on Linux it asks the kernel for the children of known processes and reads no others.
 * Processes that start between two looks are found by their mark (end.ts).
 *
 * A runner leads a session of its own, and so does every agent. Processes in the runner's session are its gits, which end
 * with it, so they are not recorded.
 */

import { readFileSync, readdirSync } from 'node:fs';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';

import { descent, hasProc, identifyNow, listProcesses } from '../identity.ts';
import { readIfPlain, readIfThere } from '../../kernel/system/plain-file.ts';

const LOOK_EVERY_MS = 1_000;
/** Where `ps` has to be asked, which costs as much as a hundred looks at /proc. */
const ASK_EVERY_MS = 5_000;

export interface ProcessRecorder {
  /** From now on it and all below it are recorded. */
  add(root: ProcessIdentity): void;
  /** One look, at once. */
  look(): Promise<void>;
  stop(): void;
}

/**
 * `around` is the process whose descendants are recorded, though not itself: the runner. `group` is the control group that they
 * are in, if they have one.
 */
export function recordProcesses({
  file,
  around,
  group,
}: {
  readonly file: string;
  readonly around: ProcessIdentity;
  readonly group?: string | undefined;
}): ProcessRecorder {
  const known = new Map<number, number>();
  let written = '';
  const look = async (): Promise<void> => {
    const found = hasProc ? walk(around, known) : await ask(around, known);
    known.clear();
    for (const [pid, startTime] of found) if (pid !== around.pid) known.set(pid, startTime);
    const text = render(known, group);
    if (text === written) return;
    writeAtomically(file, text);
    written = text;
  };
  const timer = setInterval(
    // A full disk must not end the attempt; the next look tries again.
    () => void look().catch(() => {}),
    hasProc ? LOOK_EVERY_MS : ASK_EVERY_MS,
  );
  timer.unref();
  return {
    add: ({ pid, startTime }) => void known.set(pid, startTime),
    look,
    stop: () => clearInterval(timer),
  };
}

/** Adds processes that nothing else leads to any more, when the one that kept the record is gone. */
export function addToRecord(file: string, processes: readonly ProcessIdentity[]): void {
  const all = [...readRecord(file), ...processes].map(({ pid, startTime }) => [pid, startTime] as const);
  writeAtomically(file, render(new Map(all), recordedGroup(file)));
}

/** What a record says, as far as it can be read and was written since this system started. */
export function readRecord(file: string): readonly ProcessIdentity[] {
  let value: unknown;
  try {
    value = JSON.parse(readIfThere(file) ?? '');
  } catch {
    return [];
  }
  const { boot, processes } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (boot !== bootId() || !Array.isArray(processes)) return [];
  return processes.flatMap((pair: unknown) => {
    const [pid, startTime] = Array.isArray(pair) ? (pair as unknown[]) : [];
    return isWhole(pid) && pid > 1 && isWhole(startTime) ? [{ pid, startTime }] : [];
  });
}

/** The control group of the recorded processes. */
export function recordedGroup(file: string): string | undefined {
  try {
    const { boot, group } = JSON.parse(readIfPlain(file) ?? '') as Partial<Record<string, unknown>>;
    return boot === bootId() && typeof group === 'string' ? group : undefined;
  } catch {
    return undefined;
  }
}

function render(known: ReadonlyMap<number, number>, group: string | undefined): string {
  const processes = [...known].toSorted(([a], [b]) => a - b);
  return `${JSON.stringify({ boot: bootId(), processes, ...(group && { group }) })}\n`;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

let boot: string | null | undefined;

/** Start times count from the start of the system, so those of an earlier one mean nothing. */
export function bootId(): string | null {
  boot ??= hasProc ? readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim() : null;
  return boot;
}

/** Those known that still run, and everything below them. */
function walk(around: ProcessIdentity, known: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const waiting: number[] = [];
  for (const [pid, startTime] of [[around.pid, around.startTime] as const, ...known]) {
    if (identifyNow(pid)?.startTime !== startTime) continue;
    found.set(pid, startTime);
    waiting.push(pid);
  }
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    for (const child of childrenOf(pid)) {
      if (found.has(child)) continue;
      const { startTime, session } = identifyNow(child) ?? {};
      if (startTime === undefined || (pid === around.pid && session === pid)) continue;
      found.set(child, startTime);
      waiting.push(child);
    }
  }
  return found;
}

/** A child belongs to the thread that started it. */
function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    // It ended meanwhile, or the kernel does not tell.
    return [];
  }
}

async function ask(
  around: ProcessIdentity,
  known: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, number>> {
  const roots = [...known].map(([pid, startTime]) => ({ pid, startTime }));
  const found = descent([around, ...roots], await listProcesses());
  return new Map([...found.values()].map(({ pid, startTime }) => [pid, startTime]));
}
