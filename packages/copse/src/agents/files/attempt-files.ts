/** Files about an attempt while it runs: its orders, its runner's process, and the processes that it started. */

import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { type AttemptId, brand } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { Orders } from '../ports/runners.ts';
import { hasCode } from '../../kernel/system/error-code.ts';

export interface AttemptFiles {
  readonly orders: string;
  readonly runner: string;
  readonly processes: string;
  /** A folder, for an agent with a sandbox. */
  readonly sandbox: string;
}

export function attemptFiles(home: string, attempt: AttemptId): AttemptFiles {
  const base = path.join(home, '.copse', 'attempts', attempt);
  return {
    orders: `${base}.json`,
    runner: `${base}.runner.json`,
    processes: `${base}.processes.json`,
    sandbox: `${base}.sandbox`,
  };
}

export function knownAttempts(home: string): readonly AttemptId[] {
  const folder = path.join(home, '.copse', 'attempts');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const ids = names.flatMap((name) => /^([\w-]+)(?:\.(?:processes|runner))?\.json$/.exec(name)?.[1] ?? []);
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

/** The runner gets the file's name as its last argument. */
export function readOrders(file: string): WrittenOrders {
  return JSON.parse(readFileSync(file, 'utf8')) as WrittenOrders;
}

/** Undefined once the attempt is over. */
export function readOrdersOf(home: string, attempt: AttemptId): WrittenOrders | undefined {
  try {
    return readOrders(attemptFiles(home, attempt).orders);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export function writeRunner(home: string, attempt: AttemptId, runner: ProcessIdentity): void {
  writeAtomically(attemptFiles(home, attempt).runner, JSON.stringify(runner));
}

export function readRunner(home: string, attempt: AttemptId): ProcessIdentity | undefined {
  const { runner: file } = attemptFiles(home, attempt);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
