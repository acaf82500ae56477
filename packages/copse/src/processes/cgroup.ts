/**
 * A control group for the processes of an attempt, a check or a command, where the system lets this user make one (cgroup v2). A process stays in the
 * group of the one that started it, whatever it does to its environment, its session and its parents, so none is missed.
 * A process that may write other groups can leave; inside a sandbox none can.
 *
 * Without one, processes are found by their reaper, their marks and the record (end.ts).
 */

import {
  accessSync,
  constants,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { hasCode } from '../kernel/system/error-code.ts';

/** The folder of the new group; undefined where there is none to be had. */
export function openGroup(name: string): string | undefined {
  const own = ownGroup();
  if (own === undefined || !/^[\w-]+$/.test(name)) return undefined;
  const folder = path.join(own, `copse-${name}`);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(path.join(folder, 'cgroup.kill'), constants.W_OK);
    return folder;
  } catch {
    void closeGroup(folder);
    return undefined;
  }
}

/** The group of this process, if a process of it may be moved into a group below. */
export function ownGroup(): string | undefined {
  try {
    const membership = readFileSync('/proc/self/cgroup', 'utf8');
    return groupFolders(readFileSync('/proc/self/mountinfo', 'utf8'), membership).find(
      (own) => isWritable(own) && isWritable(path.join(own, 'cgroup.procs')),
    );
  } catch {
    return undefined;
  }
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Where version 2 shows the group of a process: at /sys/fs/cgroup, beside version 1 (`unified`), or in a container, where only
 * a part of all groups is mounted.
 */
export function groupFolders(mountinfo: string, membership: string): readonly string[] {
  const place = /^0::(.*)$/m.exec(membership)?.[1];
  if (place === undefined || place.startsWith('/..')) return [];
  const mounts = mountinfo.split('\n').filter((line) => / - cgroup2 /.test(line));
  return mounts.flatMap((line) => {
    const [, , , root = '', mount = ''] = line.split(' ');
    const below = path.relative(root, place);
    return below.startsWith('..') ? [] : [path.join(mount, below)];
  });
}

/** The processes in the group and in the groups below it. */
export function groupMembers(group: string): readonly number[] {
  try {
    const own = readFileSync(path.join(group, 'cgroup.procs'), 'latin1')
      .split('\n')
      .filter(Boolean)
      .map(Number);
    const below = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...own, ...below.flatMap(({ name }) => groupMembers(path.join(group, name)))];
  } catch {
    return [];
  }
}

/** Kills whatever is left in it at once, and removes it. The kernel keeps it until the last process is gone. */
export async function closeGroup(group: string): Promise<void> {
  try {
    if (groupMembers(group).length > 0) writeFileSync(path.join(group, 'cgroup.kill'), '1');
    for (const entry of readdirSync(group, { withFileTypes: true }))
      if (entry.isDirectory()) await closeGroup(path.join(group, entry.name));
  } catch {
    return;
  }
  for (let look = 0; look < CLOSING_LOOKS; look += 1) {
    try {
      rmdirSync(group);
      return;
    } catch (error) {
      if (!hasCode(error, 'EBUSY')) return;
      await sleep(CLOSING_LOOK_MS);
    }
  }
}

const CLOSING_LOOKS = 100;
const CLOSING_LOOK_MS = 10;

/** The same program, which first puts itself into the group. */
export function inGroup(argv: readonly [string, ...string[]], group: string): [string, ...string[]] {
  const join = '{ echo $$ > "$0"; } 2>/dev/null || :; exec "$@"';
  return ['/bin/sh', '-c', join, path.join(group, 'cgroup.procs'), ...argv];
}
