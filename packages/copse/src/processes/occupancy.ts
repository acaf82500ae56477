/**
 * Which processes are in a folder: those that work in it or below, run a program from it, or have it as their root. Open
 * files do not count: listing them takes seconds, and a rename does not harm them.
 *
 * Linux: one pass over /proc, no program is started. A process in a container sees the folder under another path, so
 * there folders are compared by what they are and not by name. Elsewhere `lsof` is asked for working directories. If
 * neither works, the answer is `unknown`.
 *
 * Processes that may not be looked into: those of other users, which is every system service, are taken to be elsewhere, or
 * nothing could ever be removed. Those of this user are reported if they have a terminal (a program with rights of
 * its own that was started by hand); without one they are agents for keys and the like that live as long as the login.
 */

import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

import type { InsideProcess } from '../kernel/process.ts';
import type { Inside, Occupancy, Owners } from './ports/occupancy.ts';
import { hasCode } from '../kernel/system/error-code.ts';
import { endProcesses, userOf } from './end.ts';
import {
  type RunningProcess,
  descent,
  hasProc,
  identify,
  identifyNow,
  isAlive,
  isGone,
  listPids,
  listProcesses,
} from './identity.ts';
import { type TmuxServer, killTmuxSession, tmuxSessions } from './tmux.ts';

/** The processes of this machine. */
export function openOccupancy(tmux: TmuxServer = {}): Occupancy {
  return {
    inside: processesInside,
    identify,
    isAlive,
    below: async (processes) => [...descent(processes, await listProcesses()).values()],
    end: endProcesses,
    tmuxSessions: (name) => tmuxSessions(name, tmux),
    killTmuxSession: (name) => killTmuxSession(name, tmux),
  };
}

export async function processesInside(
  folder: string,
  owners: Owners = { roots: [], sessions: [] },
  except: readonly number[] = [],
): Promise<Inside> {
  const target = describeFolder(folder);
  const skipped = new Set([process.pid, ...except]);
  try {
    // Where all of them are is a few links each; who they are is asked only when one is here.
    const candidates = hasProc ? new Set(listPids().filter((pid) => mayBeInside(pid, target))) : undefined;
    for (const pid of skipped) candidates?.delete(pid);
    if (candidates?.size === 0) return { kind: 'known', processes: [], unreadable: [] };
    // Only the roots of owners make it necessary to know the others, between a root and what descends from it.
    const isAlone = candidates !== undefined && owners.roots.length === 0;
    const running = isAlone
      ? [...candidates].flatMap((pid) => identifyNow(pid) ?? [])
      : await listProcesses();
    const places = hasProc ? undefined : await askLsof();
    const ours = descent(owners.roots, running);
    const processes: InsideProcess[] = [];
    const unreadable: InsideProcess[] = [];
    for (const one of running) {
      if (skipped.has(one.pid) || candidates?.has(one.pid) === false) continue;
      const place = places === undefined ? look(one, target) : placeIn(places.get(one.pid) ?? [], target);
      if (place === undefined) continue;
      const isOurs = ours.has(one.pid) || wasLeftBehind(one, owners);
      const { pid, startTime, name } = one;
      if (place === UNREADABLE) unreadable.push({ pid, startTime, name, at: '', isOurs });
      else processes.push({ pid, startTime, name, at: place, isOurs });
    }
    return { kind: 'known', processes, unreadable };
  } catch (error) {
    return { kind: 'unknown', why: error instanceof Error ? error.message : String(error) };
  }
}

interface Target {
  readonly path: string;
  /** What the folder is, whatever it is called; undefined when it is gone. */
  readonly inode: string | undefined;
}

/** A deleted folder may still have processes in it. */
function describeFolder(folder: string): Target {
  const found = statSync(folder, { throwIfNoEntry: false, bigint: true });
  if (found === undefined) {
    const parent = path.dirname(folder);
    const above = statSync(parent, { throwIfNoEntry: false }) ? realpathSync(parent) : path.resolve(parent);
    return { path: path.join(above, path.basename(folder)), inode: undefined };
  }
  return { path: realpathSync(folder), inode: inodeOf(found) };
}

const UNREADABLE = Symbol('unreadable');

function mayBeInside(pid: number, target: Target): boolean {
  return placeOf(pid, target) !== undefined;
}

/** Looked at once more: between a first look and learning its name, a pid may have become another process. */
function look(one: RunningProcess, target: Target): string | typeof UNREADABLE | undefined {
  const place = placeOf(one.pid, target);
  if (place !== UNREADABLE) return place;
  return one.hasTerminal && userOf(one.pid) === process.getuid?.() ? UNREADABLE : undefined;
}

/** Where in the folder the process is, or undefined when it is not. */
function placeOf(pid: number, target: Target): string | typeof UNREADABLE | undefined {
  const proc = `/proc/${pid}`;
  try {
    // First: threads of the kernel have no program, so their other links need not be read.
    const program = readlinkSync(`${proc}/exe`);
    const place = placeIn([readlinkSync(`${proc}/cwd`), readlinkSync(`${proc}/root`), program], target);
    if (place !== undefined) return place;
    if (target.inode === undefined || readlinkSync(`${proc}/ns/mnt`) === ownMounts()) return undefined;
    return isBelow(`${proc}/cwd`, target.inode) ? target.path : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    if (isForbidden(error)) return UNREADABLE;
    throw error;
  }
}

function placeIn(places: readonly string[], target: Target): string | undefined {
  return places.find((place) => isWithin(withoutMark(place), target.path));
}

/** Linux marks a folder or program that no longer has a name. */
function withoutMark(place: string): string {
  return place.endsWith(DELETED) ? place.slice(0, -DELETED.length) : place;
}

const DELETED = ' (deleted)';

function isWithin(place: string, folder: string): boolean {
  return place === folder || place.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

let mounts: string | undefined;

function ownMounts(): string {
  mounts ??= readlinkSync('/proc/self/ns/mnt');
  return mounts;
}

/** Goes up from the working directory as the process itself would, so it sees through its mounts. */
function isBelow(cwd: string, inode: string): boolean {
  let place = cwd;
  let before = '';
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const found = statSync(place, { throwIfNoEntry: false, bigint: true });
    const here = found && inodeOf(found);
    if (here === undefined || here === before) return false;
    if (here === inode) return true;
    before = here;
    place += '/..';
  }
  return false;
}

// A path has at most 4096 bytes.
const DEEPEST = 1_000;

function inodeOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}

function isForbidden(error: unknown): boolean {
  return hasCode(error, 'EACCES', 'EPERM');
}

/** A server or watcher that an agent started and that outlived it. A person's shell has a terminal. */
function wasLeftBehind({ pid, hasTerminal }: RunningProcess, { sessions }: Owners): boolean {
  if (!hasProc || hasTerminal || sessions.length === 0) return false;
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return sessions.some((session) => variables.includes(`COPSE_SESSION_ID=${session}`));
  } catch (error) {
    if (isGone(error) || isForbidden(error)) return false;
    throw error;
  }
}

/** Working directories and programs by pid. */
export function askLsof(): Promise<ReadonlyMap<number, readonly string[]>> {
  return new Promise((resolve, reject) => {
    execFile(
      'lsof',
      ['-w', '-n', '-P', '-d', 'cwd,rtd,txt', '-F', 'pn0'],
      { maxBuffer: 256 * 1024 * 1024 },
      (error, stdout) => {
        // It ends with 1 when it could not look at everything, which is usual.
        if (error !== null && (error.code !== 1 || stdout === ''))
          return reject(new Error(`lsof failed: ${error.message}`));
        resolve(parseLsof(stdout));
      },
    );
  });
}

/** With `-F0` every field ends with NUL, and every process and file with a line feed. */
function parseLsof(output: string): ReadonlyMap<number, readonly string[]> {
  const places = new Map<number, string[]>();
  let current: string[] = [];
  for (const field of output.split('\0')) {
    const text = field.replace(/^\n/, '');
    if (text.startsWith('p')) {
      current = [];
      places.set(Number(text.slice(1)), current);
    } else if (text.startsWith('n')) {
      current.push(text.slice(1));
    }
  }
  return places;
}
