import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { privateCache } from '../../packages/copse/src/kernel/system/private-cache.ts';
import { cliFile, newArea, newRepository, plainEnv } from '../support/cli.ts';

const area = newArea();
const NAME = 'copse-compiled';
const newHome = () => mkdtempSync(path.join(area, 'home-'));

/** Without a home of its own, a test would find the cache of another one. */
function list(home: string) {
  const temporary = mkdtempSync(path.join(area, 'tmp-'));
  const { PATH } = plainEnv;
  const env = { PATH, HOME: home, TMPDIR: temporary };
  const repository = newRepository(area);
  const { status } = spawnSync(process.execPath, [cliFile, 'list'], { cwd: repository, env });
  expect(status).toBe(0);
  return { inTemporary: readdirSync(temporary) };
}

describe('the cache of compiled code', () => {
  it('is in a folder that only the user can write, and not in the one for temporary files', () => {
    const home = newHome();
    const { inTemporary } = list(home);
    const folder = path.join(home, '.cache', 'copse-compiled');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder)).not.toEqual([]);
    expect(inTemporary).toEqual([]);
  });

  it('is not used when another user could have written the folder', () => {
    const home = newHome();
    const folder = path.join(home, '.cache', 'copse-compiled');
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    expect(list(home).inTemporary).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not used when the folder is a link, or has no certain place', () => {
    const home = newHome();
    const elsewhere = newHome();
    chmodSync(elsewhere, 0o700);
    mkdirSync(path.join(home, '.cache'));
    symlinkSync(elsewhere, path.join(home, '.cache', 'copse-compiled'));
    expect(privateCache({ HOME: home }, NAME)).toBeUndefined();
    expect(privateCache({ HOME: home, XDG_CACHE_HOME: elsewhere }, NAME)).toBe(
      path.join(elsewhere, 'copse-compiled'),
    );
    expect(privateCache({ HOME: elsewhere, XDG_CACHE_HOME: 'caches' }, NAME)).toBe(
      path.join(elsewhere, '.cache', 'copse-compiled'),
    );
    expect(privateCache({ HOME: 'home' }, NAME)).toBeUndefined();
    expect(privateCache({}, NAME)).toBeUndefined();
    expect(privateCache({ HOME: '/proc' }, NAME)).toBeUndefined();
  });

  it.runIf(process.getuid?.() === 0)('is not used when the folder belongs to another user', () => {
    const home = newHome();
    const folder = privateCache({ HOME: home }, NAME);
    expect(folder).toBeDefined();
    chownSync(folder ?? '', 1, 1);
    expect(privateCache({ HOME: home }, NAME)).toBeUndefined();
  });
});
