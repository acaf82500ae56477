/**
 * Ends everything a command started. A process group is not enough: a daemon leaves the group and even its parents. So
 * each command carries a mark in its environment, which whatever it starts inherits, and on Linux all processes are asked
 * for it. Elsewhere the group has to do.
 */

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import { hasCode } from '../kernel/system/error-code.ts';

export interface Tree {
  /** The first process, which leads a group of its own. */
  readonly pid: number;
  /** `NAME=value`, in the environment of the first process. */
  readonly mark: string;
}

const LOOK_EVERY_MS = 50;

/** Asks politely, and after `graceMs` does not ask. */
export async function endTree(tree: Tree, graceMs: number): Promise<void> {
  const known = new Map<number, string>();
  remember(tree, known);
  signal(tree, known, 'SIGTERM');
  for (let waitedMs = 0; waitedMs < graceMs && isAnyoneLeft(tree, known); waitedMs += LOOK_EVERY_MS) {
    await setTimeout(LOOK_EVERY_MS);
    remember(tree, known);
  }
  // One that forks while it is being ended is caught by looking again.
  for (let round = 0; round < 20 && isAnyoneLeft(tree, known); round += 1) {
    remember(tree, known);
    signal(tree, known, 'SIGKILL');
    await setTimeout(LOOK_EVERY_MS);
  }
}

/** Adds the processes of the tree that run now, each with its start, so that a reused number is not taken for it. */
function remember(tree: Tree, known: Map<number, string>): void {
  const all = processes();
  let size = -1;
  const isOurs = (one: Process): boolean =>
    one.pid === tree.pid ||
    one.group === tree.pid ||
    known.get(one.parent) !== undefined ||
    hasMark(one.pid, tree.mark);
  while (size !== known.size) {
    size = known.size;
    for (const one of all) if (!known.has(one.pid) && isOurs(one)) known.set(one.pid, one.start);
  }
}

function signal(tree: Tree, known: ReadonlyMap<number, string>, name: 'SIGTERM' | 'SIGKILL'): void {
  send(-tree.pid, name);
  for (const [pid, start] of known) if (processAt(pid)?.start === start) send(pid, name);
}

function send(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!hasCode(error, 'ESRCH', 'EPERM')) throw error;
  }
}

function isAnyoneLeft(tree: Tree, known: ReadonlyMap<number, string>): boolean {
  if (!hasProc()) return isGroupAlive(tree.pid);
  return [...known].some(([pid, start]) => {
    const found = processAt(pid);
    return found?.start === start && !found.isZombie;
  });
}

function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly start: string;
  readonly isZombie: boolean;
}

function hasProc(): boolean {
  return existsSync('/proc/self/stat');
}

function processes(): readonly Process[] {
  if (!hasProc()) return [];
  return readdirSync('/proc').flatMap((name) => {
    const found = /^\d+$/.test(name) ? processAt(Number(name)) : undefined;
    return found === undefined || found.pid === process.pid ? [] : [found];
  });
}

function processAt(pid: number): Process | undefined {
  const text = read(`/proc/${pid}/stat`);
  // The name, in brackets, may itself hold brackets and spaces.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  const [state = '', parent = '', group = ''] = fields;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    start: fields[19] ?? '',
    isZombie: state === 'Z',
  };
}

function hasMark(pid: number, mark: string): boolean {
  return read(`/proc/${pid}/environ`)?.split('\0').includes(mark) ?? false;
}

/** Undefined for a process that is gone or belongs to somebody else. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
