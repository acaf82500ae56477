/**
 * Starts a runner for each attempt, and finds the files and processes that it leaves.
 *
 * A runner depends on no other process: it leads its own session, so the terminal's signals do not reach it; it reads its orders
 * from a file and prints into one; and its working directory is the board's, which is never removed.
 */

import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import path from 'node:path';

import type { AttemptId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { withPlainFile } from '../../kernel/system/plain-file.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { Orders, Runners } from '../ports/runners.ts';
import { closeGroup } from '../../processes/cgroup.ts';
import { addToRecord, recordedGroup } from '../../processes/start/recorder.ts';
import { lastLineOf } from './attempt-log.ts';
import {
  attemptFiles,
  knownAttempts,
  readStopped,
  readRunner,
  writeOrders,
  writeRunner,
} from './attempt-files.ts';

export interface RunnersSettings {
  /** The folder that has `.copse`. */
  readonly home: string;
  /** The runner program; the file with its orders becomes its last argument. */
  readonly program: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The agent's settings, kept with the orders because copse.yml may change before the runner reads them. */
  readonly settingsOf?: (orders: Orders) => unknown;
  /** The process with a pid. Needed to start runners. */
  readonly identify?: (pid: number) => Promise<ProcessIdentity | undefined>;
  /** All live processes of the attempt, including those in the record. */
  readonly processesOf: (attempt: AttemptId, record: string) => Promise<readonly ProcessIdentity[]>;
}

export function openRunners(settings: RunnersSettings): Runners {
  const { home, processesOf } = settings;
  return {
    start: (orders) => start(settings, orders),
    processesOf: (attempt) => processesOf(attempt, attemptFiles(home, attempt).processes),
    remember: async (attempt, processes) => addToRecord(attemptFiles(home, attempt).processes, processes),
    runnerOf: async (attempt) => readRunner(home, attempt),
    stoppedOf: async (attempt) => readStopped(home, attempt),
    lastWordsOf: async (task, attempt) => lastWords(logOf(home, { task, attempt })),
    lastLineOf: async (task, attempt) => lastLineOf(home, task, attempt),
    known: async () => knownAttempts(home),
    forget: async (attempt) => {
      const { orders, runner, processes, outdated, sandbox } = attemptFiles(home, attempt);
      const group = recordedGroup(processes);
      if (group !== undefined) await closeGroup(group);
      for (const file of [orders, runner, processes, outdated]) rmSync(file, { force: true });
      rmSync(sandbox, { recursive: true, force: true });
    },
  };
}

async function start(settings: RunnersSettings, orders: Orders): Promise<void> {
  const { home, program, environment, settingsOf, identify } = settings;
  const file = writeOrders(home, { orders, settings: settingsOf?.(orders) ?? null });
  const log = openLog(home, orders);
  const [command, ...args] = program;
  try {
    const pid = await new Promise<number | undefined>((resolve, reject) => {
      const child = spawn(command, [...args, file], {
        cwd: home,
        env: environment,
        stdio: ['ignore', log, log],
        detached: true,
      });
      child.once('error', reject);
      child.once('spawn', () => {
        child.unref();
        resolve(child.pid);
      });
    });
    // Until the runner records itself on the board, only this file names its process. Without the file, orchestrators
    // wait for the runner.
    const runner = pid === undefined ? undefined : await identify?.(pid);
    if (runner !== undefined) writeRunner(home, orders.attempt, runner);
  } catch (error) {
    rmSync(file, { force: true });
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The runner of ${orders.task} could not be started: ${why}`, { cause: error });
  } finally {
    closeSync(log);
  }
}

type OfAttempt = Pick<Orders, 'task' | 'attempt'>;

function logOf(home: string, { task, attempt }: OfAttempt): string {
  return path.join(home, '.copse', 'logs', task, `${attempt}.runner.log`);
}

function openLog(home: string, of: OfAttempt): number {
  const log = logOf(home, of);
  mkdirSync(path.dirname(log), { recursive: true, mode: 0o700 });
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  return openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
}

const { lastBytes: MOST_BYTES, lastWordsLength: MOST_LENGTH } = defaultPolicy.agentOutput;

/** Without what Node prints after an error: where it happened, its fields, its own version. */
function lastWords(log: string): string | undefined {
  const found = withPlainFile(log, (opened, { size }) => {
    const length = Math.min(size, MOST_BYTES);
    const bytes = Buffer.alloc(length);
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, length, size - length));
  });
  const lines = found.kind === 'plain' ? found.value.split('\n') : [];
  const said = lines.findLast((line) => /^[^\s}]/.test(line) && !line.startsWith('Node.js v'));
  return said?.trimEnd().slice(0, MOST_LENGTH);
}
