/**
 * A control group for the processes of an attempt, where the system lets this user make one (cgroup v2). A process stays in the
 * group of the one that started it, whatever it does to its environment, its session and its parents, so none is missed.
 * A process that may write other groups can leave; inside a sandbox none can.
 *
 * Without one, processes are found by their marks and by the record (end.ts).
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
    closeGroup(folder);
    return undefined;
  }
}

/** The group of this process, if a process of it may be moved into a group below. */
export function ownGroup(): string | undefined {
  try {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    const mount = mounts.find((line) => / - cgroup2 /.test(line))?.split(' ')[4];
    const place = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    if (mount === undefined || place === undefined || place.startsWith('/..')) return undefined;
    const own = path.join(mount, place);
    accessSync(own, constants.W_OK);
    accessSync(path.join(own, 'cgroup.procs'), constants.W_OK);
    return own;
  } catch {
    return undefined;
  }
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

/** Kills whatever is left in it at once, and removes it. */
export function closeGroup(group: string): void {
  try {
    if (groupMembers(group).length > 0) writeFileSync(path.join(group, 'cgroup.kill'), '1');
    for (const entry of readdirSync(group, { withFileTypes: true }))
      if (entry.isDirectory()) closeGroup(path.join(group, entry.name));
    rmdirSync(group);
  } catch {
    // It is gone, or a process is just ending in it: an empty group costs nothing.
  }
}

/** The same program, which first puts itself into the group. */
export function inGroup(argv: readonly [string, ...string[]], group: string): [string, ...string[]] {
  const join = '{ echo $$ > "$0"; } 2>/dev/null || :; exec "$@"';
  return ['/bin/sh', '-c', join, path.join(group, 'cgroup.procs'), ...argv];
}
