/** The place in memory for throwaway objects fills up while a queue runs. */

import { spawn, spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { finished, git, plainEnv } from '../../support/cli.ts';
import { newDiskArea } from '../../support/agents/sandbox-matrix.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';
import { BASE, MergeScene, text } from '../../support/queue/merging.ts';

const area = newDiskArea();
const worker = bundleWorker(new URL('../../support/git/full-memory-worker.ts', import.meta.url));

/** A place in memory of its own, in which only some files can be created. */
const MOUNTED = 'mount -t tmpfs -o size=600m,nr_inodes=60 tmpfs /dev/shm && exec "$@"';
const inside = (...argv: readonly string[]) => ['-Urm', 'sh', '-c', MOUNTED, 'sh', ...argv];
const canMount = spawnSync('unshare', [...inside('true')]).status === 0;

// promise: failed-landing-stops-no-other
test.skipIf(!canMount)('merging goes on on the disk, with everything that was built before', async () => {
  const scene = new MergeScene(area);
  scene.commit('main', BASE);
  const heads = ['one', 'two', 'three', 'four'].map((branch, at) => {
    scene.commit(branch, { 'a.txt': text({ [at * 2]: `${branch}\n` }) });
    return scene.commit(branch, { [`dir/${branch}.txt`]: 'n\n' });
  });
  // A rename is left to git, which needs what was built before: first from memory, then from the disk.
  const c = (at: number, line: string) => text({ 3: 'c\n', [at]: line });
  const moved = scene.commit('five', { 'dir/c.txt': null, 'dir/moved.txt': c(5, 'five\n') });
  const six = scene.commit('six', { 'dir/c.txt': c(1, 'six\n') });
  heads.unshift(moved, six, scene.commit('seven', { 'dir/c.txt': c(7, 'seven\n') }));
  // The mount hides what is in memory.
  const program = path.join(area, 'worker');
  cpSync(path.dirname(worker.file), program, { recursive: true });
  const file = path.join(program, path.basename(worker.file));
  const argv = inside(process.execPath, file, scene.top, scene.tip('main'), ...heads);
  const { code, stdout, stderr } = await finished(
    spawn('unshare', [...argv], { env: { ...plainEnv, ...worker.env } }),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { built, places } = JSON.parse(stdout) as { readonly built: string[]; readonly places: boolean[] };
  expect(built).toHaveLength(heads.length);
  // The first was built in memory, and the last was not.
  expect([places.at(0), places.at(-1)]).toEqual([true, false]);
  git(scene.top, 'update-ref', 'refs/heads/built', built.at(-1) ?? '');
  expect(git(scene.top, 'fsck', '--strict', '--no-dangling')).toBe('');
  expect(git(scene.top, 'show', 'built:a.txt').split('\n')).toEqual(
    expect.arrayContaining(['one', 'two', 'three', 'four']),
  );
  expect(git(scene.top, 'show', 'built:dir/moved.txt').split('\n')).toEqual(
    expect.arrayContaining(['five', 'six', 'seven']),
  );
});
