/** Where the control group of a process is, by how the system shows groups; and groups with processes in them. */

import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { groupFolders } from '../../../packages/copse/src/processes/cgroup.ts';

const mount = (root: string, at: string, kind: string) =>
  `31 24 0:27 ${root} ${at} rw,nosuid shared:9 - ${kind} ${kind} rw`;

describe('the folder of a control group', () => {
  const v1 = mount('/', '/sys/fs/cgroup/cpu', 'cgroup');
  it.each([
    [
      'version 2 alone',
      mount('/', '/sys/fs/cgroup', 'cgroup2'),
      '0::/user.slice/user-1.slice/session-2.scope',
      ['/sys/fs/cgroup/user.slice/user-1.slice/session-2.scope'],
    ],
    [
      'both versions',
      [v1, mount('/', '/sys/fs/cgroup/unified', 'cgroup2')].join('\n'),
      '1:cpu:/x\n0::/',
      ['/sys/fs/cgroup/unified'],
    ],
    [
      'a container that sees its own part',
      mount('/c/1', '/sys/fs/cgroup', 'cgroup2'),
      '0::/c/1/a',
      ['/sys/fs/cgroup/a'],
    ],
    ['a container that sees another part', mount('/c/2', '/sys/fs/cgroup', 'cgroup2'), '0::/c/1/a', []],
    ['a group outside of all that can be seen', mount('/', '/sys/fs/cgroup', 'cgroup2'), '0::/../a', []],
    ['version 1 alone', v1, '1:cpu:/x', []],
  ])('with %s', (_, mountinfo, membership, folders) => {
    expect(groupFolders(mountinfo, membership)).toEqual(folders);
  });
});

/** In mounts of its own, so that nothing else on this machine sees it. */
function withOnlyVersion2(script: string): string {
  const line = 'umount -l -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup && exec "$@"';
  const { stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', 'sh', '-c', line, 'sh', process.execPath, '--input-type=module', '-e', script],
    { encoding: 'utf8' },
  );
  return stdout || stderr;
}

const mayMount = process.platform === 'linux' && process.getuid?.() === 0;

describe.runIf(mayMount)('where version 2 is the only one', () => {
  it('a group is made, a program starts in it, and closing it ends the program and removes it', () => {
    const source = (file: string) => JSON.stringify(path.resolve('packages/copse/src/processes', file));
    const said = withOnlyVersion2(`
      import { existsSync, readFileSync } from 'node:fs';
      const { openGroup, closeGroup, groupMembers } = await import(${source('cgroup.ts')});
      const { startWatched } = await import(${source('start/watched.ts')});
      const group = openGroup('only-${process.pid}');
      const watched = startWatched({ argv: ['sleep', '800'], folder: '/', environment: { PATH: process.env.PATH }, stdio: ['ignore', 'ignore', 'ignore'], group });
      const pid = await watched.started;
      const isInside = groupMembers(group).includes(pid);
      await closeGroup(group);
      console.log(JSON.stringify({ group, isInside, isThere: existsSync(group), ended: (await watched.ended).kind }));
    `);
    expect(JSON.parse(said)).toEqual({
      group: expect.stringMatching(/^\/sys\/fs\/cgroup\/.*copse-only-/) as string,
      isInside: true,
      isThere: false,
      // The reaper is killed with it.
      ended: 'vanished',
    });
  });
});
