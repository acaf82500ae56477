/** Files about an attempt while it runs: its orders, its runner's process, and the processes that it started. */

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { type AttemptId, brand } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { Orders, StoppedRunner } from '../ports/runners.ts';
import { readIfThere } from '../../kernel/system/plain-file.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

export interface AttemptFiles {
  readonly orders: string;
  readonly runner: string;
  readonly processes: string;
  /** Left by a runner that could not tell the board why it stopped. */
  readonly outdated: string;
  /** A folder, for an agent with a sandbox. */
  readonly sandbox: string;
}

export function attemptFiles(home: string, attempt: AttemptId): AttemptFiles {
  const base = path.join(home, '.copse', 'attempts', attempt);
  return {
    orders: `${base}.json`,
    runner: `${base}.runner.json`,
    processes: `${base}.processes.json`,
    outdated: `${base}.outdated.json`,
    sandbox: `${base}.sandbox`,
  };
}

export function knownAttempts(home: string): readonly AttemptId[] {
  const folder = path.join(home, '.copse', 'attempts');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const ids = names.flatMap(
    (name) => /^([\w-]+)(?:\.(?:processes|runner|outdated))?\.json$/.exec(name)?.[1] ?? [],
  );
  return [...new Set(ids)].map((id) => brand<AttemptId>(id));
}

export interface WrittenOrders {
  readonly orders: Orders;
  readonly settings: unknown;
}

/** Written atomically and readable by the owner only: a person's answer may be in it. */
export function writeOrders(home: string, written: WrittenOrders): string {
  const { orders: file } = attemptFiles(home, written.orders.attempt);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeAtomically(file, JSON.stringify(written));
  return file;
}

/** It may hold the whole text of a task, and answers. */
const ORDERS = { mostBytes: defaultPolicy.files.packedRefsBytes };

/** The runner gets the file's name as its last argument. */
export function readOrders(file: string): WrittenOrders {
  return JSON.parse(readIfThere(file, ORDERS) ?? '') as WrittenOrders;
}

/** Undefined once the attempt is over. */
export function readOrdersOf(home: string, attempt: AttemptId): WrittenOrders | undefined {
  const text = readIfThere(attemptFiles(home, attempt).orders, ORDERS);
  return text === undefined ? undefined : (JSON.parse(text) as WrittenOrders);
}

export function writeRunner(home: string, attempt: AttemptId, runner: ProcessIdentity): void {
  writeAtomically(attemptFiles(home, attempt).runner, JSON.stringify(runner));
}

export function readRunner(home: string, attempt: AttemptId): ProcessIdentity | undefined {
  const { runner: file } = attemptFiles(home, attempt);
  const text = readIfThere(file);
  return text === undefined ? undefined : (JSON.parse(text) as ProcessIdentity);
}

export function writeStopped(ordersFile: string, stopped: StoppedRunner): void {
  writeAtomically(ordersFile.replace(/\.json$/, '.outdated.json'), JSON.stringify(stopped));
}

export function readStopped(home: string, attempt: AttemptId): StoppedRunner | undefined {
  const text = readIfThere(attemptFiles(home, attempt).outdated);
  if (text === undefined) return undefined;
  // An older Copse wrote only the reason.
  return { because: 'outdated', ...(JSON.parse(text) as Pick<StoppedRunner, 'reason'>) };
}
