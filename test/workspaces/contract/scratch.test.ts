/** Scratch folders: commands of a project leave folders in them that cannot be deleted, and the work is done all the same. */

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { TrustedDir } from '../../../packages/copse/src/git/process.ts';
import { withScratch } from '../../../packages/copse/src/git/worktrees/place.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { openLeftovers } from '../../../packages/copse/src/workspaces/trash/leftovers.ts';
import { newArea } from '../../support/cli.ts';

const area = newArea();
const isRoot = process.getuid?.() === 0;
const OTHER_USER = 65_534;

let home: string;
let dir: TrustedDir;
const scratches = () => readdirSync(path.join(home, '.copse', 'tmp'));

/** The permissions of files do not bind root, so there the tests are another user. */
beforeEach(() => {
  home = mkdtempSync(path.join(area, 'home-'));
  dir = { home } as TrustedDir;
  mkdirSync(path.join(home, '.copse', 'tmp'), { recursive: true });
  if (!isRoot) return;
  for (const folder of [area, home, path.join(home, '.copse'), path.join(home, '.copse', 'tmp')])
    chownSync(folder, OTHER_USER, OTHER_USER);
  process.seteuid?.(OTHER_USER);
});

afterEach(() => {
  if (isRoot) process.seteuid?.(0);
});

/** Not even made writable by this user. */
function plantForeign(scratch: string): void {
  process.seteuid?.(0);
  mkdirSync(path.join(scratch, 'foreign', 'inner'), { recursive: true });
  process.seteuid?.(OTHER_USER);
}

describe('a scratch folder', () => {
  it('is deleted with read-only folders in it', async () => {
    const answer = await withScratch(dir, async (scratch) => {
      mkdirSync(path.join(scratch, 'modules'));
      writeFileSync(path.join(scratch, 'modules', 'file'), '');
      chmodSync(path.join(scratch, 'modules'), 0o555);
      return 'done';
    });
    expect(answer).toBe('done');
    expect(scratches()).toEqual([]);
  });

  it.runIf(isRoot)(
    'that cannot be deleted changes neither the result of the work nor its error',
    async () => {
      const work = async (scratch: string) => {
        plantForeign(scratch);
        return 'done';
      };
      expect(await withScratch(dir, work)).toBe('done');
      const failing = withScratch(dir, async (scratch) => {
        await work(scratch);
        throw new Error('of the work');
      });
      await expect(failing).rejects.toThrow('of the work');
      expect(scratches()).toHaveLength(2);
    },
  );

  it('is touched while the work runs, so that no other machine takes it for left behind', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      await withScratch(dir, async (scratch) => {
        utimesSync(scratch, 1, 1);
        vi.advanceTimersByTime(5 * 60_000);
        expect(statSync(scratch).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
      });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

it.runIf(isRoot)('a leftover that cannot be deleted is reported, and the others are deleted', async () => {
  const old = ['rescue-99999997-aaaaaa', 'rescue-99999998-bbbbbb', 'rescue-99999999-cccccc'].map((name) =>
    path.join(home, '.copse', 'tmp', name),
  );
  for (const folder of old) mkdirSync(folder);
  const [, bad = ''] = old;
  plantForeign(bad);
  for (const folder of old) utimesSync(folder, 1, 1);
  const problems = await openLeftovers(dir).deleteScratch(timestamp(Date.now()));
  expect(old.filter((folder) => existsSync(folder))).toEqual([bad]);
  expect(problems).toEqual([expect.stringContaining(bad)]);
});

it('a checkout that a killed teardown left outside of the repository is deleted, too', async () => {
  const teardowns = path.join(home, '.cache', 'copse-teardown');
  const [left, used] = ['rescue-99999999-aaaaaa', `rescue-${process.pid}-bbbbbb`].map((name) =>
    path.join(teardowns, name),
  );
  for (const folder of [left, used]) {
    mkdirSync(folder ?? '', { recursive: true });
    utimesSync(folder ?? '', 1, 1);
  }
  expect(await openLeftovers(dir, teardowns).deleteScratch(timestamp(Date.now()))).toEqual([]);
  expect([left, used].filter((folder) => existsSync(folder ?? ''))).toEqual([used]);
});

// promise: leftovers-bounded
it.runIf(isRoot)('logs that cannot be deleted are reported, and keep no others from it', async () => {
  const logs = ['cp-aaaa', 'cp-bbbb'].map((task) => path.join(home, '.copse', 'logs', task));
  for (const folder of logs) mkdirSync(folder, { recursive: true });
  plantForeign(logs[0] ?? '');
  const leftovers = openLeftovers(dir);
  const problems = [];
  for (const folder of logs) problems.push(...(await leftovers.deleteLogs(folder)));
  expect(problems).toEqual([expect.stringContaining(logs[0] ?? '')]);
  expect(logs.filter((folder) => existsSync(folder))).toEqual([logs[0]]);
});
