/** A lock between processes, on a file that any process can delete. */

import { existsSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { tryFileLock } from '../../../packages/copse/src/git/lock.ts';
import { newArea } from '../../support/cli.ts';

const area = newArea();

it('has one holder at a time, and is free afterwards', async () => {
  const file = path.join(area, 'one', "it's a löck");
  const outer = await tryFileLock(file, () => tryFileLock(file, async () => 'both'));
  expect(outer).toEqual({ value: undefined });
  expect(await tryFileLock(file, async () => 'free')).toEqual({ value: 'free' });
});

it('is taken on the present file when the file is deleted at that moment', async () => {
  const file = path.join(area, 'two', 'lock');
  let times = 0;
  const deleteOnce = () => {
    times += 1;
    if (times === 1) rmSync(file);
  };
  const second = await tryFileLock(file, () => tryFileLock(file, async () => 'both'), deleteOnce);
  expect([times, second]).toEqual([2, { value: undefined }]);
  expect(existsSync(file)).toBe(true);
});

it('never has two holders when the file is deleted and made again at that moment', async () => {
  const file = path.join(area, 'three', 'lock');
  let holders = 0;
  let most = 0;
  const hold = async () => {
    holders += 1;
    most = Math.max(most, holders);
    await new Promise((resolve) => setTimeout(resolve, 20));
    holders -= 1;
  };
  const others: Promise<unknown>[] = [];
  const replaceOnce = () => {
    if (others.length > 0) return;
    rmSync(file);
    others.push(tryFileLock(file, hold));
  };
  expect(await tryFileLock(file, hold, replaceOnce)).toBeUndefined();
  await Promise.all(others);
  expect(most).toBe(1);
});

it('does not wait for ever when the name is a dangling link', async () => {
  const file = path.join(area, 'four');
  symlinkSync(path.join(area, 'nowhere', 'at all'), file);
  await expect(tryFileLock(file, async () => 'held')).rejects.toThrow('unable to open database file');
});
