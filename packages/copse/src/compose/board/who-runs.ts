/**
 * Which orchestrators, servers and runners of this clone are running. An orchestrator holds the lock `orchestrator-<pid>` and a server
 * `server-<pid>`, which the system releases when it dies; a runner has a file that names its process. An orchestrator that
 * was told to end also holds `ending-<pid>`.
 */

import type { StoppedRunner } from '../../agents/ports/runners.ts';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';

import { knownAttempts, readOrdersOf, readStopped, readRunner } from '../../agents/files/attempt-files.ts';
import { BoardUnavailable } from '../../board/port.ts';
import { tryFileLock } from '../../git/lock.ts';
import type { AttemptId, BranchName, TaskId } from '../../kernel/ids.ts';
import { lockOf, queueResource } from '../../queue/lead/leadership.ts';
import { namesIn } from '../../kernel/system/names-in.ts';
import { counted } from '../../kernel/text.ts';
import { isAlive } from '../../processes/identity.ts';

type LongRunning = 'orchestrator' | 'server' | 'ending';

export function asOrchestrator<T>(home: string, work: () => Promise<T>): Promise<T> {
  return whileKnown(home, 'orchestrator', work);
}

export function asServer<T>(home: string, work: () => Promise<T>): Promise<T> {
  return whileKnown(home, 'server', work);
}

/**
 * For an orchestrator that was told to end: `work` gets the processes of the orchestrators that stay. Of two that are told
 * at the same time, at least one sees none.
 */
export function whileEnding<T>(home: string, work: (staying: readonly number[]) => Promise<T>): Promise<T> {
  return whileKnown(home, 'ending', async () => {
    const ending = await runningPids(home, 'ending');
    const orchestrators = await runningPids(home, 'orchestrator');
    return work(orchestrators.filter((pid) => pid !== process.pid && !ending.includes(pid)));
  });
}

async function whileKnown<T>(home: string, kind: LongRunning, work: () => Promise<T>): Promise<T> {
  const file = path.join(home, '.copse', 'locks', `${kind}-${process.pid}`);
  const held = await tryFileLock(file, async () => {
    try {
      return await work();
    } finally {
      rmSync(file, { force: true });
    }
  });
  // A second one in this process.
  return held === undefined ? work() : held.value;
}

interface RunningHere {
  readonly orchestrators: readonly number[];
  readonly runners: number;
  /** Their tasks, as far as their orders can be read. */
  readonly tasks: readonly TaskId[];
}

export async function whoRuns(home: string): Promise<RunningHere> {
  const orchestrators = await runningPids(home, 'orchestrator');
  let runners = 0;
  const tasks: TaskId[] = [];
  for (const attempt of knownAttempts(home)) {
    const runner = readRunner(home, attempt);
    if (runner === undefined || !(await isAlive(runner))) continue;
    runners += 1;
    const task = readOrdersOf(home, attempt)?.orders.task;
    if (task !== undefined) tasks.push(task);
  }
  return { orchestrators, runners, tasks };
}

async function runningPids(home: string, wanted: LongRunning): Promise<readonly number[]> {
  const folder = path.join(home, '.copse', 'locks');
  const pids: number[] = [];
  for (const name of namesIn(folder)) {
    const [, kind, pid] = /^([a-z]+)-(\d+)$/.exec(name) ?? [];
    if (kind !== wanted || pid === undefined) continue;
    const file = path.join(folder, name);
    // It was killed; the file is deleted under its lock, so that no other process holds it.
    const isFree = await tryFileLock(file, () => Promise.resolve(rmSync(file, { force: true })));
    if (isFree === undefined) pids.push(Number(pid));
  }
  return pids;
}

/** "An orchestrator (process 12) and 2 agents are running"; undefined when none are. */
export function runningText({ orchestrators, runners }: RunningHere): string | undefined {
  const parts = [
    ...orchestrators.map((pid) => `an orchestrator (process ${pid})`),
    ...(runners > 0 ? [counted(runners, 'agent')] : []),
  ];
  if (parts.length === 0) return undefined;
  const text = parts.join(' and ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)} ${parts.length + runners > 2 || runners > 1 ? 'are' : 'is'} running`;
}

/** How a person ends them without losing work. */
export function stopSteps({ orchestrators, tasks }: RunningHere): readonly [string, ...string[]] {
  const pauses = tasks.map((task) => `copse pause ${task}`);
  const [first = 'copse status', ...others] = pauses;
  return orchestrators.length === 0
    ? [first, ...others]
    : ['Stop the orchestrator: Ctrl+C in its terminal.', ...pauses];
}

/** Those that run have the older version: they would no longer understand the board. */
export async function refuseMigrationBeside(home: string, from: number, to: number): Promise<void> {
  const running = await whoRuns(home);
  const text = runningText(running);
  if (text === undefined) return;
  throw new BoardUnavailable(
    `${text} with an older Copse. This Copse would migrate the board from version ${from} to ${to}, which they cannot use. Nothing was changed. Stop the orchestrator (Ctrl+C), and let its agents end or pause them.`,
    pauseCommand(running.tasks),
  );
}

function pauseCommand(tasks: readonly TaskId[]): string {
  if (tasks.length === 0) return 'copse status # after you stop it';
  return `${tasks.map((task) => `copse pause ${task}`).join('; ')} # with the older Copse`;
}

/** Attempts whose runner could not tell the board why it stopped; the next orchestrator goes on with them. */
export function stoppedAttempts(
  home: string,
): readonly { readonly attempt: AttemptId; readonly because: StoppedRunner['because'] }[] {
  return knownAttempts(home).flatMap((attempt) => {
    const stopped = readStopped(home, attempt);
    return stopped === undefined ? [] : [{ attempt, because: stopped.because }];
  });
}

/** Whether an orchestrator of this clone runs on this machine, this process included. */
export async function isOrchestratedAt(home: string): Promise<boolean> {
  return (await runningPids(home, 'orchestrator')).length > 0;
}

/**
 * Whether a process of this machine leads the queue, or an orchestrator does again soon. The board says for a while that a killed
 * one leads.
 */
export async function isLedAt(home: string, target: BranchName): Promise<boolean> {
  if (await isOrchestratedAt(home)) return true;
  const file = path.join(home, '.copse', 'locks', lockOf(queueResource(target)));
  return existsSync(file) && (await tryFileLock(file, () => Promise.resolve())) === undefined;
}

/** Beside this process. */
export async function hasOtherServers(home: string): Promise<boolean> {
  return (await runningPids(home, 'server')).some((pid) => pid !== process.pid);
}
